#pragma once

// Filters of the TAF experiments, at equal space as in section 6: the TAF has 8-bit remainders and three bits more per slot, so
// that cuckoo fingerprints have 11 bits, from which Cyclic pays for its selectors; all at load 0.95. utaf has the TAF's
// remainders and whatever more it needs; the buckets of `cuckoo` are a power of two, so that its load is anywhere from 0.48 to
// 0.95.

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "lab/experiment.hpp"
#include "tamis/filter/acf_cuckooing.hpp"
#include "tamis/filter/acf_cyclic.hpp"
#include "tamis/filter/acf_swapping.hpp"
#include "tamis/filter/cuckoo.hpp"
#include "tamis/filter/exaf.hpp"
#include "tamis/filter/rsqf.hpp"
#include "tamis/filter/taf.hpp"
#include "tamis/filter/utaf.hpp"
#include "tamis/filter/vacuum.hpp"
#include "tamis/remote/memory_remote.hpp"

namespace tamis::lab {

inline constexpr const char* taf_paper = "Telescoping filter";

// One filter with its stored set, and how often it was wrong.
template <class Filter>
class asked_filter {
 public:
  asked_filter(std::uint64_t capacity, option_list options)
      : filter_(Filter::create({.capacity = capacity, .fpr = 0.99, .options = std::move(options)}).value()) {}

  bool insert(digest d) { return filter_.insert(d) == insert_result::inserted; }
  // A query of a key that is not in; a wrong answer is reported to the filter, if it learns.
  bool ask(digest d, [[maybe_unused]] const memory_remote& stored) {
    const bool wrong = filter_.contains(d);
    if constexpr (adaptive_with_remote<Filter>) {
      if (wrong) filter_.adapt(d, stored);
    } else if constexpr (adaptive_alone<Filter>) {
      if (wrong) filter_.adapt(d);
    }
    wrong_ += wrong;
    ++asked_;
    return wrong;
  }

  double rate() const { return static_cast<double>(wrong_) / static_cast<double>(asked_); }
  void forget_counts() { wrong_ = asked_ = 0; }
  const Filter& filter() const { return filter_; }

 private:
  Filter filter_;
  std::uint64_t wrong_ = 0;
  std::uint64_t asked_ = 0;
};

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
  explicit taf_contenders(const std::vector<digest>& members)
      : all(asked_filter<taf>(members.size(), {{"remainder", "8"}}),
            asked_filter<taf>(members.size(), {{"remainder", "8"}, {"code", "quarters"}}),
            asked_filter<utaf>(members.size(), {{"remainder", "8"}}), asked_filter<exaf>(members.size(), {{"remainder", "8"}}),
            asked_filter<rsqf>(members.size(), {{"remainder", "8"}}),
            asked_filter<cuckoo>(members.size(), {{"fingerprint", "11"}}),
            asked_filter<vacuum>(members.size(), {{"fingerprint", "11"}}),
            asked_filter<acf_cuckooing>(members.size(), {{"fingerprint", "11"}, {"path", "paper"}}),
            asked_filter<acf_cyclic>(members.size(), {{"fingerprint", "10"}, {"selector", "1"}}),
            asked_filter<acf_cyclic>(members.size(), {{"fingerprint", "9"}, {"selector", "2"}}),
            asked_filter<acf_cyclic>(members.size(), {{"fingerprint", "8"}, {"selector", "3"}}),
            asked_filter<acf_swapping>(members.size(), {{"fingerprint", "11"}}),
            asked_filter<acf_cuckooing>(members.size(), {{"fingerprint", "11"}})) {
    for (const digest d : members) {
      stored.insert(d);
      each([&](auto& f) { refused += !f.insert(d); });
    }
  }

  template <class Visit>
  void each(Visit visit) {
    std::apply([&](auto&... f) { (visit(f), ...); }, all);
  }
  void ask(digest d) {
    each([&](auto& f) { f.ask(d, stored); });
  }
  std::vector<double> rates() {
    std::vector<double> measured;
    each([&](auto& f) { measured.push_back(f.rate()); });
    return measured;
  }

  memory_remote stored;
  std::uint64_t refused = 0;
  std::tuple<asked_filter<taf>, asked_filter<taf>, asked_filter<utaf>, asked_filter<exaf>, asked_filter<rsqf>,
             asked_filter<cuckoo>, asked_filter<vacuum>, asked_filter<acf_cuckooing>, asked_filter<acf_cyclic>,
             asked_filter<acf_cyclic>, asked_filter<acf_cyclic>, asked_filter<acf_swapping>, asked_filter<acf_cuckooing>>
      all;
};

inline digest random_digest(random_source& random) { return {random(), random()}; }

// A panel with all contenders.
inline panel taf_panel(std::string title, const row_list& rows, std::string_view x) {
  panel p{std::move(title), {}};
  for (const taf_line& l : taf_lines) p.lines.push_back({l.label, l.colour, mark::line, points_of(rows, x, l.column)});
  return p;
}

}  // namespace tamis::lab
