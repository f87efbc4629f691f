#pragma once

// Filters of the TAF experiments, at equal space as in section 6: the TAF has 8-bit remainders and three bits more per slot, so
// that cuckoo fingerprints have 11 bits, of which Cyclic's selectors take theirs; all at load 0.95. utaf has the TAF's remainders
// and whatever more it needs.

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "lab/experiment.hpp"
#include "tamis/base/random.hpp"
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

// One filter with its stored set, and how often it was wrong.
template <class Filter>
class asked_filter {
 public:
  asked_filter(std::uint64_t capacity, option_list options)
      : filter_(Filter::create({.capacity = capacity, .fpr = 0.4, .options = std::move(options)}).value()) {}

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

// All contenders over one stored set.
struct taf_contenders {
  static constexpr const char* names =
      "taf,taf_quarters,utaf,exaf,rsqf,cuckoo,vacuum,acf_cuckooing,acf_cyclic_1,acf_cyclic_2,acf_cyclic_3,acf_swapping";
  static constexpr std::size_t count = 12;

  explicit taf_contenders(const std::vector<digest>& members)
      : all(asked_filter<taf>(members.size(), {{"remainder", "8"}}),
            asked_filter<taf>(members.size(), {{"remainder", "8"}, {"code", "quarters"}}),
            asked_filter<utaf>(members.size(), {{"remainder", "8"}}), asked_filter<exaf>(members.size(), {{"remainder", "8"}}),
            asked_filter<rsqf>(members.size(), {{"remainder", "8"}}),
            asked_filter<cuckoo>(members.size(), {{"fingerprint", "11"}}),
            asked_filter<vacuum>(members.size(), {{"fingerprint", "11"}}),
            asked_filter<acf_cuckooing>(members.size(), {{"fingerprint", "11"}}), cyclic(members, "10", "1"),
            cyclic(members, "9", "2"), cyclic(members, "8", "3"),
            asked_filter<acf_swapping>(members.size(), {{"fingerprint", "11"}})) {
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

  memory_remote stored;
  std::uint64_t refused = 0;
  std::tuple<asked_filter<taf>, asked_filter<taf>, asked_filter<utaf>, asked_filter<exaf>, asked_filter<rsqf>,
             asked_filter<cuckoo>, asked_filter<vacuum>, asked_filter<acf_cuckooing>, asked_filter<acf_cyclic>,
             asked_filter<acf_cyclic>, asked_filter<acf_cyclic>, asked_filter<acf_swapping>>
      all;

 private:
  static asked_filter<acf_cyclic> cyclic(const std::vector<digest>& members, const char* fingerprint, const char* selector) {
    return {members.size(), {{"fingerprint", fingerprint}, {"selector", selector}}};
  }
};

// Means over runs, one per contender.
struct taf_rates {
  std::vector<double> sums = std::vector<double>(taf_contenders::count);

  void add(taf_contenders& from) {
    std::size_t i = 0;
    from.each([&](auto& f) { sums[i++] += f.rate(); });
  }
  void write(std::ostream& csv, unsigned runs) const {
    for (const double sum : sums) csv << ',' << sum / runs;
    csv << std::endl;
  }
};

inline digest random_digest(random_source& random) { return {random(), random()}; }

}  // namespace tamis::lab
