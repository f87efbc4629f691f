#pragma once

// Filters of the adaptive-cuckoo experiments: the paper's shapes, f bits for every slot, a load of 0.95.

#include <cstdint>
#include <string>
#include <vector>

#include "tamis/filter/acf_cuckooing.hpp"
#include "tamis/filter/acf_cyclic.hpp"
#include "tamis/filter/acf_swapping.hpp"

namespace tamis::lab {

// `slot_bits` are shared by the fingerprint and, in acf-cyclic, the selector.
template <class Filter>
Filter acf_of(std::uint64_t keys, unsigned slot_bits, option_list options = {}, unsigned selector = 0) {
  if (selector != 0) options.emplace_back("selector", std::to_string(selector));
  options.emplace_back("fingerprint", std::to_string(slot_bits - selector));
  constexpr double any_rate = 0.99;
  return Filter::create({.capacity = keys, .fpr = any_rate, .options = std::move(options)}).value();
}

// Stores the members and asks the questions in order; every false positive is reported, if the filter is to learn.
template <class Filter, class Questions>
std::uint64_t false_positives(Filter f, const std::vector<digest>& members, const Questions& questions, bool learns = true) {
  for (const digest d : members) f.insert(d);
  std::uint64_t wrong = 0;
  for (const digest d : questions) {
    if (!f.contains(d)) continue;
    ++wrong;
    if (learns) f.adapt(d);
  }
  return wrong;
}

// All contenders on the same keys: false positives of each, in the order of acf_names.
inline const std::vector<std::string> acf_names = {"plain",    "cuckooing", "cuckooing_paper", "cyclic_1",
                                                   "cyclic_2", "cyclic_3",  "swapping"};
template <class Questions>
std::vector<double> race(const std::vector<digest>& members, const Questions& questions, unsigned slot_bits) {
  const std::uint64_t n = members.size();
  const auto run = [&](auto f, bool learns = true) {
    return static_cast<double>(false_positives(std::move(f), members, questions, learns));
  };
  return {run(acf_of<acf_cuckooing>(n, slot_bits), false),
          run(acf_of<acf_cuckooing>(n, slot_bits)),
          run(acf_of<acf_cuckooing>(n, slot_bits, {{"path", "paper"}})),
          run(acf_of<acf_cyclic>(n, slot_bits, {}, 1)),
          run(acf_of<acf_cyclic>(n, slot_bits, {}, 2)),
          run(acf_of<acf_cyclic>(n, slot_bits, {}, 3)),
          run(acf_of<acf_swapping>(n, slot_bits))};
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
