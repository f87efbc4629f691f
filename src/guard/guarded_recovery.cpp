// Opening: the newest snapshot that can be trusted, and the records since; otherwise a scan of the store.

#include <algorithm>
#include <bit>
#include <filesystem>

#include "guarded_parts.hpp"
#include "tamis/registry.hpp"

namespace tamis {
std::string_view to_string(recovery_way way) {
  switch (way) {
    case recovery_way::created: return "created";
    case recovery_way::snapshot: return "snapshot";
    case recovery_way::older_snapshot: return "older snapshot";
    case recovery_way::rebuilt: return "rebuilt";
  }
  return "unknown";
}

status guarded_store::parts::recover() {
  if (behind_->is_read_only()) broken_ = true;  // no change is ever tried
  TAMIS_CHECK(try_filter());
  TAMIS_CHECK(keep_settings());
  if (const std::string directory = behind_->snapshot_directory(); !directory.empty() && !behind_->is_read_only()) {
    std::error_code ignored;  // a snapshot will say what is wrong
    std::filesystem::create_directories(directory, ignored);
  }
  TAMIS_CHECK(take_numbers());
  TAMIS_CHECK(read_manifest());
  TAMIS_TRY(const bool untouched, is_untouched());
  if (untouched) return make_empty();
  TAMIS_TRY(const bool half_loaded, load_was_interrupted());
  if (half_loaded) recovered_.reason = "a bulk load was interrupted";
  const bool doubtful = !recovered_.reason.empty();
  if (!doubtful && restore_any()) return {};
  begin_anew();
  recovered_.way = recovery_way::rebuilt;
  state_ = filter_state::rebuilding;
  if (options_.background_rebuild) {
    rebuilder_ = std::jthread([this](const std::stop_token& stop) { rebuild_all(stop); });
  } else {
    rebuild_all({});
  }
  return {};
}

// Bad parameters are the caller's. What a filter can depends on them: a list of known mistakes lets it adapt.
status guarded_store::parts::try_filter() {
  TAMIS_TRY(const any_filter example, maker_.make(maker_.capacity()));
  TAMIS_TRY(const registry_entry* entry, maker_.known().find(example.info().id));
  adapts_itself_ = entry->can.adapt;
  can_adapt_ = example.can().adapt;
  can_erase_ = entry->can.erase;
  // What would give up a bit of every entry for it is better made anew, with one scan.
  can_expand_ = entry->can.expand && entry->info->id != "evergreen";
  can_rejuvenate_ = entry->can.rejuvenate && options_.rejuvenate;
  return {};
}

// Durable before anything that depends on it: without its secret a store would be lost.
status guarded_store::parts::keep_settings() {
  if (!settings_.is_new) return {};
  if (behind_->is_read_only()) return failure{behind_->name() + ": there is no store to read", error_code::not_found};
  write_set set;
  set.rows.push_back({std::string(config_row), row_text(settings_.config)});
  return behind_->write(set, true);
}

status guarded_store::parts::take_numbers() {
  for (std::uint32_t i = 0; i < map_.count(); ++i) {
    TAMIS_TRY(stripes_[i].number, behind_->last_record(i));
  }
  return {};
}

// A store that nobody has used since it was made. Any trace of a past counts, since others may be lost.
result<bool> guarded_store::parts::is_untouched() const {
  if (!manifest_.empty()) return false;
  for (std::uint32_t i = 0; i < map_.count(); ++i) {
    if (stripes_[i].number != 0) return false;
  }
  TAMIS_TRY(const bool half_loaded, load_was_interrupted());
  if (half_loaded) return false;
  bool empty = true;
  TAMIS_CHECK(behind_->scan(all_digests, scan_size::few, [&](digest) { return empty = false; }));
  return empty;
}

status guarded_store::parts::make_empty() {
  recovered_.way = recovery_way::created;
  for (std::uint32_t i = 0; i < map_.count(); ++i) {
    TAMIS_TRY(any_filter made, maker_.make(maker_.capacity()));
    stripes_[i].filter.emplace(std::move(made));
  }
  return {};
}

// A row that cannot be read is no reason to refuse the store: the filter can be made anew. It is a reason to believe no
// snapshot, since the row may have named records that must be there.
status guarded_store::parts::read_manifest() {
  TAMIS_TRY(const auto rows, behind_->rows(snapshot_rows));
  for (const auto& [name, text] : rows) {
    manifest_.push_back(name);
    result<manifest_row> row = parse_row<manifest_row>(text);
    if (row && row->numbers.size() == map_.count() && row_name(row->generation) == name) {
      kept_.push_back(*std::move(row));
    } else {
      recovered_.reason = "a row of the manifest is damaged";
    }
  }
  if (!kept_.empty()) generation_ = kept_.back().generation;
  if (!behind_->is_read_only()) remove_other_files(behind_->snapshot_directory(), kept_);
  return {};
}

// The last record of a stripe that any snapshot contains. One that is missing took others with it.
std::uint64_t guarded_store::parts::named_record(std::uint32_t index) const {
  std::uint64_t last = 0;
  for (const manifest_row& row : kept_) last = std::max(last, row.numbers[index]);
  return last;
}

// After doubt, nothing from before is ever used again: the manifest is emptied, and the records go on behind every number that
// was given, with one left out. Without this, new records could take the numbers of lost ones and fit a snapshot from before.
void guarded_store::parts::begin_anew() {
  if (behind_->is_read_only()) return;
  write_set set;
  set.rows.push_back({std::string(load_row), std::nullopt});
  for (const std::string& name : manifest_) set.rows.push_back({name, std::nullopt});
  for (std::uint32_t i = 0; i < map_.count(); ++i) {
    std::uint64_t& number = stripes_[i].number;
    number = std::max(number, named_record(i)) + 2;
    set.records.push_back({i, number, oplog_operation::insert, map_.range(i).first});
    set.trims.push_back({i, 0, number});
    stripes_[i].trimmed = number;
  }
  kept_.clear();
  // A store that cannot be written can still be read. The next opening will have the same doubt.
  if (!behind_->write(set, true)) broken_ = true;
  remove_other_files(behind_->snapshot_directory(), kept_);
}

// Tries the snapshots, the newest first.
bool guarded_store::parts::restore_any() {
  if (kept_.empty() && recovered_.reason.empty()) recovered_.reason = "there is no snapshot yet";
  for (auto row = kept_.rbegin(); row != kept_.rend(); ++row) {
    const status restored = restore(*row);
    if (restored) {
      recovered_.way = row == kept_.rbegin() ? recovery_way::snapshot : recovery_way::older_snapshot;
      recovered_.generation = row->generation;
      if (kept_.size() > 1 && !behind_->is_read_only())
        trim(kept_.front());  // a crash may have come between a manifest row and its trim
      return true;
    }
    recovered_.reason += (recovered_.reason.empty() ? "" : "; ") + restored.message();
  }
  return false;
}

// Nothing of this store changes unless all of it succeeds.
status guarded_store::parts::restore(const manifest_row& row) {
  TAMIS_TRY(snapshot_content content, read_snapshot(behind_->snapshot_directory(), row, settings_.config.identity,
                                                    settings_.hash, options_.skipped_steps));
  if (content.description != describe_filter(options_)) {
    return failure{"the snapshot holds another filter: " + content.description, error_code::mismatch};
  }
  recovered_.replayed = 0;
  TAMIS_TRY(std::vector<any_filter> filters, load_segments(content));
  for (std::uint32_t i = 0; i < map_.count(); ++i) {
    TAMIS_CHECK(replay(i, content.segments[i].number, filters[i]));
  }
  std::uint64_t keys = 0;
  for (std::uint32_t i = 0; i < map_.count(); ++i) {
    keys += filters[i].keys();
    stripes_[i].filter.emplace(std::move(filters[i]));
  }
  keys_ = keys;
  records_ = recovered_.replayed;
  return {};
}

result<std::vector<any_filter>> guarded_store::parts::load_segments(snapshot_content& content) const {
  std::vector<any_filter> filters;
  if (content.segments.size() != map_.count())
    return failure{"the snapshot has another number of stripes", error_code::damaged};
  for (segment& part : content.segments) {
    const load_options how{.hash = settings_.hash, .known = &maker_.known(), .memory = &maker_.memory()};
    TAMIS_TRY(any_filter filter, load_segment(content, part, how));
    filters.push_back(std::move(filter));
  }
  return filters;
}

// The records must be there from the one that the segment ends with, which proves that store and snapshot belong to one
// history, without a gap, up to the last that any snapshot contains. Records up to the segment's own are contained already: an
// erase that is done twice would take another key with it.
status guarded_store::parts::replay(std::uint32_t index, std::uint64_t number, any_filter& filter) {
  std::uint64_t next = std::max<std::uint64_t>(number, 1);
  bool complete = true;
  bool fits = true;
  const std::uint64_t contained = skips(protocol_step::own_numbers) ? 0 : number;
  TAMIS_CHECK(behind_->records(index, skips(protocol_step::own_numbers) ? 0 : next, [&](const oplog_record& record) {
    complete = complete && (record.number == next || skips(protocol_step::gap_check) || skips(protocol_step::own_numbers));
    complete = complete && map_.index(record.hash) == index;
    next = record.number + 1;
    if (record.number <= contained) return complete;
    const digest local = map_.local(record.hash);
    if (record.what == oplog_operation::insert) {
      fits = filter.insert(local) == insert_result::inserted;
    } else if (can_erase_) {
      fits = filter.erase(local) == erase_result::erased;
    }
    ++recovered_.replayed;
    return complete && fits;
  }));
  const bool reached = next > std::max(number, named_record(index)) || skips(protocol_step::gap_check);
  if (!complete || !reached) return failure{"records are missing in stripe " + std::to_string(index), error_code::damaged};
  if (fits) return {};
  // The stripe was given a larger filter after the snapshot, or the filter does not know what it should: make it new.
  TAMIS_TRY(filter, maker_.rebuild(*behind_, map_, index, {.old_capacity = filter.capacity()}, [] { return true; }));
  stripes_[index].counts.rebuilds.fetch_add(1);
  return {};
}

void guarded_store::parts::rebuild_all(const std::stop_token& stop) {
  bool whole = true;
  for (std::uint32_t i = 0; i < map_.count() && !stop.stop_requested(); ++i) {
    const std::lock_guard lock(stripes_[i].writing);
    whole &= rebuild(i, {}, [&] { return !stop.stop_requested(); }).ok();
    if (stripes_[i].filter) keys_ += stripes_[i].filter->keys();
  }
  // A stripe that could not be made goes on answering "maybe"; then there is no snapshot either.
  whole &= !stop.stop_requested();
  state_ = whole ? filter_state::ready : filter_state::incomplete;
  state_.notify_all();
  if (!whole) return;
  if (!options_.snapshots || behind_->is_read_only() || behind_->snapshot_directory().empty()) return;
  const std::lock_guard lock(snapshotting_);
  static_cast<void>(take_snapshot());  // the next opening then need not scan; a failure shows in the counts
}

void guarded_store::parts::wait_until_ready() { state_.wait(filter_state::rebuilding); }

}  // namespace tamis
