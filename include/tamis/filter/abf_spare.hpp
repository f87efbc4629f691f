#pragma once

// The adaptive Bloom filter for one memory (section VI of the paper): only the words that are not in use are kept beside the
// active ones. Lookups are those of `abf`. See abf_family.hpp.

#include "tamis/filter/abf_family.hpp"
#include "tamis/table/spare_words.hpp"

namespace tamis::inline TAMIS_LEVEL {

struct abf_spare_kind {
  using shadows = spare_words;
  static constexpr filter_info info{
      .id = "abf-spare",
      .summary = "adaptive one-memory-access Bloom filter that keeps only the unused words as shadows",
      .paper = abf_paper,
      .options = abf_options,
      .fixes_last = false,
  };
};
using abf_spare = basic_abf<abf_spare_kind>;

}  // namespace tamis::inline TAMIS_LEVEL
