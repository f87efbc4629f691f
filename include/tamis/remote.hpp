#pragma once

// What a filter may ask of the slow side: the digests that are really stored in a range, each as often as it is stored.
//
// A visit that answers false has seen enough: a remote then stops, so that nobody has to read more than a filter can use. A
// remote that does not look at the answer is right, too, but slow where very many digests share their first bits.

#include <functional>
#include <type_traits>
#include <utility>

#include "tamis/digest.hpp"
#include "tamis/memory.hpp"

namespace tamis {

template <class R>
concept remote = requires(const R& r, digest_range range, bool (*visit)(digest)) {
  r.for_each_in(range, visit);
};

// For remotes: calls a visit, and says whether it wants more. One that answers nothing does.
template <class Visit>
bool wants_more_after(Visit& visit, digest d) {
  if constexpr (std::is_void_v<std::invoke_result_t<Visit&, digest>>) {
    visit(d);
    return true;
  } else {
    return visit(d);
  }
}

// Is this very digest stored?
bool holds(const remote auto& stored, digest d) {
  bool found = false;
  stored.for_each_in(digest_range{d, d}, [&found](digest) {
    found = true;
    return false;
  });
  return found;
}

// A remote with its type erased: what any_filter passes on. Refers to the remote, does not own it. What the remote makes when
// it is asked comes from the memory that was in force when this was made, not from that of the filter that asks.
class remote_ref {
 public:
  // Requires: `r` outlives it.
  template <remote R>
  explicit remote_ref(const R& r)
      : object_(&r), scan_([](const void* object, digest_range range, const std::function<bool(digest)>& visit) {
          static_cast<const R*>(object)->for_each_in(range, visit);
        }) {}

  // By reference: a std::function of the visit itself would ask the heap for room.
  template <class Visit>
  void for_each_in(digest_range range, Visit&& visit) const {
    const auto asks = [&visit](digest d) { return wants_more_after(visit, d); };
    const memory_scope outside(outside_);
    scan_(object_, range, std::ref(asks));
  }

 private:
  const void* object_;
  void (*scan_)(const void*, digest_range, const std::function<bool(digest)>&);
  memory_resource* outside_ = memory_scope::in_force();
};

}  // namespace tamis
