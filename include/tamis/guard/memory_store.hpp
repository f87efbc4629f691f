#pragma once

// A store in memory, for tests, for replaying logs, and as the plainest example of what a store is. It outlives the
// guarded_store in front of it, so with a directory for snapshots a second guarded_store recovers from it as from a disk.

#include <map>
#include <shared_mutex>

#include "tamis/guard/store.hpp"

namespace tamis {

class memory_store final : public store {
 public:
  // Snapshots of the filter go into this directory; without one none are kept.
  explicit memory_store(std::string snapshot_directory = {}) : snapshot_directory_(std::move(snapshot_directory)) {}

  std::string name() const override { return "memory"; }
  std::string snapshot_directory() const override { return snapshot_directory_; }

  result<bool> contains(const located_key& at) const override;
  result<std::optional<std::string>> get(const located_key& at) const override;
  status get_many(std::span<const located_key> keys, std::span<std::optional<std::string>> out) const override;
  status scan(digest_range range, scan_size size, const std::function<bool(digest)>& visit) const override;
  status write(const write_set& changes, bool sync) override;
  status sync() override { return {}; }
  status records(std::uint32_t stripe, std::uint64_t first,
                 const std::function<bool(const oplog_record&)>& visit) const override;
  result<std::uint64_t> last_record(std::uint32_t stripe) const override;
  result<std::vector<std::pair<std::string, std::string>>> rows(std::string_view prefix) const override;

 private:
  using place = std::pair<digest, std::string>;
  using view = std::pair<digest, std::string_view>;
  // Finds entries by a view of the key, without making a string.
  struct place_order {
    using is_transparent = void;
    static view seen(const place& p) { return {p.first, p.second}; }
    static view seen(const view& v) { return v; }
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return seen(a) < seen(b);
    }
  };

  void change(const write_set::entry& entry);

  std::string snapshot_directory_;
  mutable std::shared_mutex mutex_;
  std::map<place, std::string, place_order> entries_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, oplog_record> records_;
  std::map<std::string, std::string, std::less<>> rows_;
};

}  // namespace tamis
