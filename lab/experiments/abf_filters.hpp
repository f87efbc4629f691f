#pragma once

// Filters of the ABF experiments: the paper's shape, M words of 64 bits of fast memory for every contender.

#include <cstdint>
#include <string>

#include "lab/experiments/asked_filter.hpp"

namespace tamis::lab {

inline constexpr std::uint64_t abf_words = 1024;  // M
inline constexpr unsigned abf_word_bits = 64;     // w, selector included

// `keys_per_word` = N / M.
inline filter_params abf_params(std::uint64_t keys_per_word, unsigned k, option_list more = {}) {
  filter_params params;
  params.capacity = abf_words * keys_per_word;
  // A little less, so that rounding up gives M words and not M + 1.
  params.bits_per_key = static_cast<double>(abf_word_bits) / static_cast<double>(keys_per_word) * (1 - 1e-9);
  params.options = std::move(more);
  params.options.emplace_back("word", std::to_string(abf_word_bits));
  params.options.emplace_back("k", std::to_string(k));
  return params;
}

inline any_filter plain_filter(std::uint64_t keys_per_word, unsigned k) {
  return any_filter::create("bloom1", abf_params(keys_per_word, k)).value();
}

enum class abf_switch { checked, blind };  // Algorithm 3, and the paper's evaluation

inline any_filter adaptive_filter(std::uint64_t keys_per_word, unsigned k, unsigned sets, abf_switch how,
                                  unsigned decimate = 1) {
  return any_filter::create("abf", abf_params(keys_per_word, k,
                                              {{"sets", std::to_string(sets)},
                                               {"switch", how == abf_switch::blind ? "blind" : "checked"},
                                               {"decimate", std::to_string(decimate)}}))
      .value();
}

}  // namespace tamis::lab
