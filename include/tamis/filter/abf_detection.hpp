#pragma once

// An adaptive Bloom filter without a full table behind it (section III.B of the ABF paper): whether a "maybe" was wrong is
// found out from the shadows. If another set rejects the key it is not in, the answer is "no" after all, and the filter adapts.
// To limit the accesses to slow memory only every n-th "maybe" is checked.

#include <cassert>
#include <cstdint>

#include "tamis/filter/concepts.hpp"

namespace tamis::inline TAMIS_LEVEL {

// Refers to the filter, does not own it. Asking changes the filter, so it is not for several threads.
template <class Abf>
class abf_detection {
 public:
  // Requires: every != 0.
  abf_detection(Abf& f, std::uint64_t every) : filter_(f), every_(every) { assert(every != 0); }

  // False only for keys that are not in.
  bool contains(digest d) {
    if (!filter_.contains(d)) return false;
    if (++positives_ % every_ != 0) return true;
    ++checked_;
    if (!filter_.certainly_absent(d)) return true;
    ++detected_;
    filter_.adapt(d);
    return false;
  }

  std::uint64_t positives() const { return positives_; }  // of the filter
  std::uint64_t checked() const { return checked_; }      // of them: accesses to slow memory
  std::uint64_t detected() const { return detected_; }    // of those: certainly wrong

 private:
  Abf& filter_;
  std::uint64_t every_;
  std::uint64_t positives_ = 0;
  std::uint64_t checked_ = 0;
  std::uint64_t detected_ = 0;
};

}  // namespace tamis::inline TAMIS_LEVEL
