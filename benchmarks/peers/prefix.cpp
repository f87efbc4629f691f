// github.com/TomerEven/Prefix-Filter: the prefix filter of its authors, 8-bit remainders, with the spare of their example (a
// two-choice filter of theirs) and their own hash. Made for the keys, at their load of 0.95.

#include <immintrin.h>
#include <stdlib.h>

#include <sstream>

#include "benchmarks/peers/huge_memory.hpp"
#include "benchmarks/peers/rival.hpp"

#define posix_memalign tamis::benchmarks::huge_posix_memalign
#include "Tests/wrappers.hpp"
#undef posix_memalign

namespace tamis::benchmarks {
namespace {

class prefix_filter {
 public:
  prefix_filter(std::uint64_t, std::uint64_t keys) : filter_(api::ConstructFromAddCount(keys)) {}

  // Throws if the spare is full.
  bool insert(std::uint64_t key) {
    api::Add(key, &filter_);
    return true;
  }
  bool contains(std::uint64_t key) const { return api::Contain(key, &filter_); }
  std::uint64_t bits() const { return api::get_byte_size(&filter_) * 8; }

 private:
  using filter = Prefix_Filter<TC_shortcut>;
  using api = FilterAPI<filter>;

  filter filter_;
};

}  // namespace

TAMIS_RIVAL(make_prefix) { return std::make_unique<single_rival<prefix_filter>>(slots, keys); }

}  // namespace tamis::benchmarks
