#include "tamis/guard/memory_store.hpp"

#include <mutex>

namespace tamis {

result<bool> memory_store::contains(const located_key& at) const {
  const std::shared_lock lock(mutex_);
  return entries_.contains(view(at.hash, at.key));
}

result<std::optional<std::string>> memory_store::get(const located_key& at) const {
  const std::shared_lock lock(mutex_);
  const auto found = entries_.find(view(at.hash, at.key));
  if (found == entries_.end()) return std::optional<std::string>();
  return std::optional(found->second);
}

status memory_store::get_many(std::span<const located_key> keys, std::span<std::optional<std::string>> out) const {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    TAMIS_TRY(out[i], get(keys[i]));
  }
  return {};
}

status memory_store::scan(digest_range range, scan_size /*size*/, const std::function<bool(digest)>& visit) const {
  // The digests are copied, so that `visit` may come back to the store.
  std::vector<digest> found;
  {
    const std::shared_lock lock(mutex_);
    for (auto it = entries_.lower_bound(view(range.first, {})); it != entries_.end() && it->first.first <= range.last; ++it) {
      found.push_back(it->first.first);
    }
  }
  for (const digest d : found) {
    if (!visit(d)) break;
  }
  return {};
}

void memory_store::change(const write_set::entry& entry) {
  if (entry.value) {
    entries_.insert_or_assign(place(entry.at.hash, entry.at.key), std::string(*entry.value));
  } else if (const auto found = entries_.find(view(entry.at.hash, entry.at.key)); found != entries_.end()) {
    entries_.erase(found);
  }
}

status memory_store::write(const write_set& changes, bool /*sync*/) {
  const std::lock_guard lock(mutex_);
  for (const auto& entry : changes.entries) change(entry);
  for (const auto& record : changes.records) records_.insert_or_assign({record.stripe, record.number}, record);
  for (const auto& row : changes.rows) {
    if (row.text) {
      rows_.insert_or_assign(row.name, *row.text);
    } else {
      rows_.erase(row.name);
    }
  }
  for (const auto& trim : changes.trims) {
    if (trim.first >= trim.end) continue;
    records_.erase(records_.lower_bound({trim.stripe, trim.first}), records_.lower_bound({trim.stripe, trim.end}));
  }
  return {};
}

status memory_store::records(std::uint32_t stripe, std::uint64_t first,
                             const std::function<bool(const oplog_record&)>& visit) const {
  const std::shared_lock lock(mutex_);
  for (auto it = records_.lower_bound({stripe, first}); it != records_.end() && it->first.first == stripe; ++it) {
    if (!visit(it->second)) break;
  }
  return {};
}

result<std::uint64_t> memory_store::last_record(std::uint32_t stripe) const {
  const std::shared_lock lock(mutex_);
  const auto next = records_.upper_bound({stripe, ~std::uint64_t{0}});
  if (next == records_.begin() || std::prev(next)->first.first != stripe) return std::uint64_t{0};
  return std::prev(next)->first.second;
}

result<std::vector<std::pair<std::string, std::string>>> memory_store::rows(std::string_view prefix) const {
  const std::shared_lock lock(mutex_);
  std::vector<std::pair<std::string, std::string>> found;
  for (auto it = rows_.lower_bound(prefix); it != rows_.end() && it->first.starts_with(prefix); ++it) found.emplace_back(*it);
  return found;
}

}  // namespace tamis
