// Bulk loads. They go past the records, so a snapshot from before must never be used with what the store holds after: the
// records get a gap, which recovery looks for. Until that is written, a marker says that there is a load under way:
//
//   marker, synced → filter inserts → entries into the store → gap and end of the marker in one write, synced → snapshot

#include "guarded_parts.hpp"

namespace tamis {

status guarded_store::parts::load(std::vector<change> changes) {
  locate(changes);
  wait_until_ready();
  const std::lock_guard lock(snapshotting_);
  TAMIS_CHECK(load_locked(changes));
  // Without one the next opening has to scan the store. A failure shows in the counts.
  if (options_.snapshots && !behind_->snapshot_directory().empty()) static_cast<void>(take_snapshot());
  return {};
}

status guarded_store::parts::load_locked(std::vector<change>& changes) {
  std::vector<std::unique_lock<std::mutex>> locks;
  for (std::uint32_t i = 0; i < map_.count(); ++i) locks.emplace_back(stripes_[i].writing);
  TAMIS_CHECK(usable());
  TAMIS_CHECK(look_up(changes));
  TAMIS_CHECK(mark_load());
  TAMIS_CHECK(cover(changes));
  std::vector<write_set::entry> entries;
  entries.reserve(changes.size());
  for (const change& c : changes) entries.push_back({{c.hash, c.key}, c.value});
  TAMIS_CHECK(change_store([&] { return behind_->ingest(entries); }));
  TAMIS_CHECK(end_load());
  count(changes);
  return {};
}

status guarded_store::parts::mark_load() {
  if (skips(protocol_step::load_marker)) return {};
  write_set set;
  set.rows.push_back({std::string(load_row), "under way"});
  return change_store([&] { return behind_->write(set, true); });
}

// One number is left out, and the next is given to a record that says nothing: only a snapshot that contains it can use what
// comes after.
status guarded_store::parts::end_load() {
  const std::uint64_t step = skips(protocol_step::load_gap) ? 1 : 2;
  write_set set;
  set.rows.push_back({std::string(load_row), std::nullopt});
  for (std::uint32_t i = 0; i < map_.count(); ++i) {
    set.records.push_back({i, stripes_[i].number + step, oplog_operation::insert, map_.range(i).first});
  }
  TAMIS_CHECK(change_store([&] { return behind_->write(set, true); }));
  for (std::uint32_t i = 0; i < map_.count(); ++i) stripes_[i].number += step;
  return {};
}

result<bool> guarded_store::parts::load_was_interrupted() const {
  TAMIS_TRY(const auto rows, behind_->rows(load_row));
  return !rows.empty();
}

}  // namespace tamis
