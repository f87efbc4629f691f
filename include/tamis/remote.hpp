#pragma once

// What a filter may ask of the slow side: the digests that are really stored in a range, each as often as it is stored.

#include <functional>
#include <utility>

#include "tamis/digest.hpp"

namespace tamis {

template <class R>
concept remote = requires(const R& r, digest_range range, void (*visit)(digest)) {
  r.for_each_in(range, visit);
};

// A remote with its type erased: what any_filter passes on. Refers to the remote, does not own it.
class remote_ref {
 public:
  template <remote R>
  explicit remote_ref(const R& r)
      : object_(&r), scan_([](const void* object, digest_range range, const std::function<void(digest)>& visit) {
          static_cast<const R*>(object)->for_each_in(range, visit);
        }) {}

  // By reference: a std::function of the visit itself would ask the heap for room.
  template <class Visit>
  void for_each_in(digest_range range, Visit&& visit) const {
    scan_(object_, range, std::ref(visit));
  }

 private:
  const void* object_;
  void (*scan_)(const void*, digest_range, const std::function<void(digest)>&);
};

}  // namespace tamis
