#pragma once

// A log in which keys come and go, and every state that its store goes through. No state is made twice: filters are played one
// after the other, each with the store as it was at the time.

#include <cstdint>
#include <functional>
#include <vector>

#include "digest_store.hpp"
#include "tamis/digest.hpp"

namespace tamis::cli {

enum class log_op : std::uint8_t { query, insert, erase };

// What happens to a store, without what changes nothing.
struct change_log {
  std::vector<digest> members;  // at the beginning, all different
  std::vector<digest> keys;     // of the events, in order
  std::vector<log_op> ops;

  std::uint64_t most_keys = 0;  // at a time
  std::uint64_t queries = 0;
  std::uint64_t inserts = 0;  // of these, unseen or on first sight included
  std::uint64_t erases = 0;
  std::uint64_t without_effect = 0;  // inserts of keys that were in, deletes of others
  std::uint64_t unseen = 0;          // changes that only hits and misses tell of

  std::uint64_t size() const { return keys.size(); }
  bool is_query(std::uint64_t at) const { return ops[at] == log_op::query; }
  // The same under another hash.
  template <class Hash>
  change_log rehashed(const Hash& hash) const {
    change_log other = *this;
    other.members = hash(members);
    other.keys = hash(keys);
    return other;
  }
};

// Every state that the store goes through: moment t is before event t.
class store_history {
 public:
  explicit store_history(const change_log& log);

  bool contains(digest d, std::uint64_t moment) const;
  std::uint64_t keys_at(std::uint64_t moment) const;

  // As a store that filters read. `forgets`: what was deleted is gone; otherwise it stays, as in a filter that cannot delete.
  class view final : public slow_side {
   public:
    view(const store_history& all, std::uint64_t moment, bool forgets) : all_(all), moment_(moment), forgets_(forgets) {}
    bool contains(digest d) const override { return forgets_ ? all_.contains(d, moment_) : all_.ever_contained(d, moment_); }
    void for_each_in(digest_range range, const std::function<bool(digest)>& visit) const override {
      all_.ever_.for_each_in(range, [&](digest d) { return !contains(d) || visit(d); });
    }

   private:
    const store_history& all_;
    std::uint64_t moment_;
    bool forgets_;
  };
  view at(std::uint64_t moment, bool forgets = true) const { return {*this, moment, forgets}; }

 private:
  bool ever_contained(digest d, std::uint64_t moment) const { return changes_before(d, moment) != 0; }
  std::uint64_t changes_before(digest d, std::uint64_t moment) const;

  digest_store ever_;                  // all keys that were in at some time
  std::vector<std::uint64_t> start_;   // of a key's changes, by its place in ever_
  std::vector<std::uint64_t> change_;  // the moments from which they hold, inserts and deletes by turns
  std::vector<std::uint64_t> grown_;   // moments of all inserts, and ...
  std::vector<std::uint64_t> shrunk_;  // ... of all deletes, ascending
};

}  // namespace tamis::cli
