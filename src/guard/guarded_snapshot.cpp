// Snapshots. The order is the point (docs/guarded-store.md says why): capture, sync the store, file, manifest, trim.

#include <algorithm>
#include <cstring>

#include "guarded_parts.hpp"

namespace tamis {
namespace {

constexpr std::size_t kept_generations = 2;

result<detail::zeroed_array<std::uint8_t>> saved(const any_filter& filter) {
  const std::vector<std::byte> bytes = filter.save_bytes();
  const memory_scope apart(huge_page_memory());  // what is on its way to a file is no filter's memory
  TAMIS_TRY(auto made, detail::zeroed_array<std::uint8_t>::make(bytes.size()));
  std::memcpy(made.data(), bytes.data(), bytes.size());
  return made;
}

}  // namespace

bool guarded_store::parts::snapshot_due() const {
  const double share = options_.snapshot_share * static_cast<double>(keys_.load());  // may be more than any integer
  return records_ >= std::max(options_.snapshot_least, next_attempt_.load()) && static_cast<double>(records_.load()) >= share;
}

void guarded_store::parts::snapshot_if_due() {
  if (!options_.snapshots || state_ != filter_state::ready || !snapshot_due() || behind_->snapshot_directory().empty()) return;
  const std::unique_lock lock(snapshotting_, std::try_to_lock);
  if (!lock || !snapshot_due()) return;
  // The write that brought us here is done; a failed snapshot is no failure of it. It shows in the counts.
  static_cast<void>(take_snapshot());
}

status guarded_store::parts::snapshot() {
  wait_until_ready();
  if (behind_->snapshot_directory().empty())
    return failure{behind_->name() + ": has no place for snapshots", error_code::unsupported};
  const std::lock_guard lock(snapshotting_);
  return take_snapshot();
}

// While the copy is made there is no other snapshot, so that its manifest names the files that are copied.
status guarded_store::parts::checkpoint(const std::string& directory) {
  wait_until_ready();
  const std::lock_guard lock(snapshotting_);
  if (behind_->snapshot_directory().empty()) return behind_->checkpoint(directory, {});
  TAMIS_CHECK(take_snapshot());
  std::vector<std::string> files;
  for (const manifest_row& row : kept_) files.push_back(snapshot_path(behind_->snapshot_directory(), row.generation));
  return behind_->checkpoint(directory, files);
}

status guarded_store::parts::take_snapshot() {
  const auto attempt = [this]() -> status {
    TAMIS_CHECK(usable());
    const std::uint64_t records = records_;
    TAMIS_TRY(const snapshot_content content, capture());
    TAMIS_CHECK(usable());  // a write may have failed meanwhile, with its entry already captured
    // What the snapshot contains must not be lost by the store: a lost erase would be a key without a "maybe".
    // A failed sync is not tried again: what it should have made durable may be gone, and a second one would not say so.
    TAMIS_CHECK(change_store([&] { return behind_->sync(); }));
    if (skips(protocol_step::file_first)) {
      manifest_row early{content.generation, 0, 0, {}};
      for (const segment& part : content.segments) early.numbers.push_back(part.number);
      TAMIS_CHECK(publish(early));
    }
    TAMIS_TRY(const manifest_row row,
              write_snapshot(behind_->snapshot_directory(), content, settings_.hash, options_.skipped_steps));
    TAMIS_CHECK(publish(row));
    records_ -= records;
    next_attempt_ = 0;
    return {};
  };
  status taken = or_no_memory(attempt);
  ++(taken ? snapshots_ : failed_snapshots_);
  if (!taken) next_attempt_ = records_ + options_.snapshot_least;  // not again at every write that follows
  return taken;
}

// Each stripe by itself, under its lock, with the number of its last record.
result<snapshot_content> guarded_store::parts::capture() {
  snapshot_content content{settings_.config.identity, generation_ + 1, describe_filter(options_), {}, nullptr};
  for (std::uint32_t i = 0; i < map_.count(); ++i) {
    const std::lock_guard lock(stripes_[i].writing);
    if (!stripes_[i].filter) return failure{behind_->name() + ": a stripe has no filter yet", error_code::in_use};
    TAMIS_TRY(auto bytes, saved(*stripes_[i].filter));
    content.segments.push_back({stripes_[i].number, std::move(bytes)});
  }
  return content;
}

// From the moment the row is written the snapshot counts. Two are kept; what is trimmed is only what the older one contains.
status guarded_store::parts::publish(const manifest_row& row) {
  write_set set;
  set.rows.push_back({row_name(row.generation), row_text(row)});
  std::vector<manifest_row> kept = kept_;
  std::erase_if(kept, [&](const manifest_row& other) { return other.generation == row.generation; });
  kept.push_back(row);
  for (; kept.size() > kept_generations; kept.erase(kept.begin())) set.rows.push_back({row_name(kept.front().generation), {}});
  TAMIS_CHECK(change_store([&] { return behind_->write(set, true); }));
  kept_ = std::move(kept);
  generation_ = row.generation;
  trim(skips(protocol_step::older_trim) ? kept_.back() : kept_.front());
  remove_other_files(behind_->snapshot_directory(), kept_);
  return {};
}

// Forgets the records before the one that the snapshot ends with; that one stays, as an anchor. If this fails, the records stay
// for the next time.
void guarded_store::parts::trim(const manifest_row& oldest) {
  write_set set;
  for (std::uint32_t i = 0; i < map_.count(); ++i) {
    set.trims.push_back({i, stripes_[i].trimmed, oldest.numbers[i]});
  }
  if (!behind_->write(set, false)) return;
  for (std::uint32_t i = 0; i < map_.count(); ++i) stripes_[i].trimmed = oldest.numbers[i];
}

status guarded_store::parts::close() {
  rebuilder_.request_stop();
  if (rebuilder_.joinable()) rebuilder_.join();
  if (!options_.snapshots || state_ != filter_state::ready || broken_ || behind_->snapshot_directory().empty()) return {};
  if (records_ == 0 && !kept_.empty()) return {};
  return snapshot();
}

}  // namespace tamis
