#pragma once

// Filters of the adaptive-cuckoo experiments: the paper's shapes, f bits for every slot, a load of 0.95.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lab/experiments/asked_filter.hpp"

namespace tamis::lab {

// `slot_bits` are shared by the fingerprint and, in acf-cyclic, the selector.
inline any_filter acf_of(const std::string& id, std::uint64_t keys, unsigned slot_bits, option_list options = {},
                         unsigned selector = 0) {
  if (selector != 0) options.emplace_back("selector", std::to_string(selector));
  options.emplace_back("fingerprint", std::to_string(slot_bits - selector));
  const auto is_load = [](const auto& option) { return option.first == "load"; };
  if (std::none_of(options.begin(), options.end(), is_load)) options.emplace_back("load", "95");
  return filter_of_width(id, keys, std::move(options));
}

// All contenders on the same keys: false positives of each, in the order of acf_names.
inline const std::vector<std::string> acf_names = {"plain",    "cuckooing", "cuckooing_paper", "cyclic_1",
                                                   "cyclic_2", "cyclic_3",  "swapping"};
template <class Sample>
std::vector<double> race(const Sample& sample, unsigned slot_bits) {
  const auto run = [&](const char* id, const option_list& options = {}, unsigned selector = 0, bool learns = true) {
    return static_cast<double>(after(acf_of(id, sample.members.size(), slot_bits, options, selector), sample, learns).wrong());
  };
  return {run("acf-cuckooing", {{"path", "shortest"}}, 0, false),
          run("acf-cuckooing", {{"path", "shortest"}}),
          run("acf-cuckooing", {{"path", "paper"}}),
          run("acf-cyclic", {}, 1),
          run("acf-cyclic", {}, 2),
          run("acf-cyclic", {}, 3),
          run("acf-swapping")};
}

// How the contenders are called and coloured in charts.
struct acf_line {
  const char* column;
  const char* label;
  const char* colour;
};
inline constexpr acf_line acf_lines[] = {{"cuckooing", "Cuckooing, shortest path", "acf-cuckooing"},
                                         {"cuckooing_paper", "Cuckooing, the paper's path", "acf-cuckooing/2"},
                                         {"cyclic_1", "Cyclic, s = 1", "acf-cyclic"},
                                         {"cyclic_2", "Cyclic, s = 2", "acf-cyclic/2"},
                                         {"cyclic_3", "Cyclic, s = 3", "acf-cyclic/3"},
                                         {"swapping", "Swapping", "acf-swapping"},
                                         {"plain", "not adapting", "grey"}};

}  // namespace tamis::lab
