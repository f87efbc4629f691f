#pragma once

// Filters of the TAF experiments, at equal space as in section 6: the TAF has 8-bit remainders and three bits more per slot, so
// that cuckoo fingerprints have 11 bits, from which Cyclic pays for its selectors; all at load 0.95. utaf has the TAF's
// remainders and whatever more it needs; the buckets of `cuckoo` are a power of two, so that its load is anywhere from 0.48 to
// 0.95.

#include <cstdint>
#include <string>
#include <vector>

#include "lab/experiment.hpp"
#include "lab/experiments/asked_filter.hpp"

namespace tamis::lab {

inline constexpr const char* taf_paper = "Telescoping filter";

// How a contender is called in tables and in charts.
struct taf_line {
  const char* column;
  const char* label;
  const char* colour;
};
inline constexpr taf_line taf_lines[] = {{"taf", "taf", "taf"},
                                         {"taf_quarters", "taf, quarter blocks", "taf/2"},
                                         {"utaf", "utaf (larger)", "utaf"},
                                         {"exaf", "exaf", "exaf"},
                                         {"rsqf", "rsqf", "rsqf"},
                                         {"cuckoo", "cuckoo", "cuckoo"},
                                         {"vacuum", "vacuum", "vacuum"},
                                         {"acf_cuckooing", "Cuckooing ACF", "acf-cuckooing"},
                                         {"acf_cyclic_1", "Cyclic ACF, s = 1", "acf-cyclic"},
                                         {"acf_cyclic_2", "Cyclic ACF, s = 2", "acf-cyclic/2"},
                                         {"acf_cyclic_3", "Cyclic ACF, s = 3", "acf-cyclic/3"},
                                         {"acf_swapping", "Swapping ACF", "acf-swapping"},
                                         {"acf_shortest", "Cuckooing ACF, our path", "acf-cuckooing/2"}};
inline std::vector<std::string> taf_columns() {
  std::vector<std::string> names;
  for (const taf_line& l : taf_lines) names.emplace_back(l.column);
  return names;
}

// All contenders over one stored set, in the order of taf_lines.
struct taf_contenders {
  explicit taf_contenders(const std::vector<digest>& members) {
    const auto add = [&](const char* id, option_list options) {
      all.emplace_back(filter_of_width(id, members.size(), std::move(options)));
    };
    add("taf", {{"remainder", "8"}});
    add("taf", {{"remainder", "8"}, {"code", "quarters"}});
    add("utaf", {{"remainder", "8"}});
    add("exaf", {{"remainder", "8"}});
    add("rsqf", {{"remainder", "8"}});
    add("cuckoo", {{"fingerprint", "11"}});
    add("vacuum", {{"fingerprint", "11"}});
    add("acf-cuckooing", {{"fingerprint", "11"}, {"load", "95"}, {"path", "paper"}});
    add("acf-cyclic", {{"fingerprint", "10"}, {"selector", "1"}});
    add("acf-cyclic", {{"fingerprint", "9"}, {"selector", "2"}});
    add("acf-cyclic", {{"fingerprint", "8"}, {"selector", "3"}});
    add("acf-swapping", {{"fingerprint", "11"}});
    add("acf-cuckooing", {{"fingerprint", "11"}, {"load", "95"}, {"path", "shortest"}});
    for (const digest d : members) {
      stored.insert(d);
      for (asked_filter& f : all) refused += f.filter().insert(d) != insert_result::inserted;
    }
  }

  void ask(digest d) {
    for (asked_filter& f : all) f.ask(d, stored);
  }
  std::vector<double> rates() const {
    std::vector<double> measured;
    for (const asked_filter& f : all) measured.push_back(f.rate());
    return measured;
  }

  memory_remote stored;
  std::uint64_t refused = 0;
  std::vector<asked_filter> all;
};

inline digest random_digest(detail::random_source& random) { return {random(), random()}; }

// A panel with all contenders.
inline panel taf_panel(std::string title, const row_list& rows, std::string_view x) {
  panel p{std::move(title), {}};
  for (const taf_line& l : taf_lines) p.lines.push_back({l.label, l.colour, mark::line, points_of(rows, x, l.column)});
  return p;
}

}  // namespace tamis::lab
