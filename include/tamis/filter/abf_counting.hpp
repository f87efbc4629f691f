#pragma once

// An adaptive Bloom filter that deletes, beyond the paper: its shadows count. Fast memory and lookups are those of `abf`; slow
// memory is four times as much. See abf_family.hpp.

#include "tamis/filter/abf_family.hpp"
#include "tamis/table/shadow_counters.hpp"

namespace tamis::inline TAMIS_LEVEL {

struct abf_counting_kind {
  using shadows = shadow_counters;
  static constexpr filter_info info{
      .id = "abf-counting",
      .summary = "adaptive one-memory-access Bloom filter that deletes: counters in slow memory",
      .paper = abf_paper,
      .options = abf_options,
      .fixes_last = false,
  };
};
using abf_counting = basic_abf<abf_counting_kind>;

}  // namespace tamis::inline TAMIS_LEVEL
