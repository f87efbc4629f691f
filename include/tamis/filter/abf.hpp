#pragma once

// The adaptive Bloom filter of the paper: all S shadows are kept whole in slow memory. See abf_family.hpp.

#include "tamis/filter/abf_family.hpp"
#include "tamis/table/shadow_words.hpp"

namespace tamis::inline TAMIS_LEVEL {

struct abf_kind {
  using shadows = shadow_words;
  static constexpr filter_info info{
      .id = "abf",
      .summary = "Bloom filter with one memory access per lookup that adapts to false positives",
      .paper = abf_paper,
      .options = abf_options,
      .fixes_last = false,
  };
};
using abf = basic_abf<abf_kind>;

}  // namespace tamis::inline TAMIS_LEVEL
