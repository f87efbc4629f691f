#pragma once

// Makes the filters of stripes: empty ones of any capacity, and filled ones from the store.

#include <functional>

#include "stripe.hpp"
#include "tamis/guard/options.hpp"

namespace tamis {

class filter_maker {
 public:
  filter_maker(const guard_options& options, const hasher& hash, std::uint32_t stripes);

  std::uint64_t capacity() const { return capacity_; }
  result<any_filter> make(std::uint64_t capacity) const;
  struct size_wish {
    std::uint64_t old_capacity =
        0;                   // of the filter before: kept if there were many leftovers in it, doubled if it was really full
    std::uint64_t room = 0;  // for new keys
    bool larger = false;     // than before, in any case
  };
  // A filter of what the store holds in this stripe. `go_on` is asked now and then; an error if it says no.
  result<any_filter> rebuild(const store& behind, const stripe_map& map, std::uint32_t index, size_wish wish,
                             const std::function<bool()>& go_on) const;

  const registry& known() const { return known_; }
  // Of all filters, whichever thread makes them.
  memory_resource& memory() const { return *params_.memory; }

 private:
  const registry& known_;
  std::string id_;
  filter_params params_;
  hasher hash_;
  std::uint64_t capacity_;
};

// With so many keys under way. A filter that is at most half full with all of them and refuses one does so because of its
// digest, not for want of room. (Without them would not do: a batch comes in digest order, so it fills one end first.)
inline bool is_roomy(const any_filter& filter, std::uint64_t coming) { return filter.keys() + coming <= filter.capacity() / 2; }

// The options with the kind of filter that a store gets: one that does not adapt by itself has a list of known mistakes, unless
// the options say how long it is.
guard_options with_list(guard_options options);

using detail::default_stripes;  // of a new store

}  // namespace tamis
