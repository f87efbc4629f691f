// github.com/efficient/cuckoofilter: the cuckoo filter of its authors, with fingerprints of 12 bits and its own hash.

#include "benchmarks/peers/rival.hpp"

// What its headers use and do not include; and its packed table, which nobody measures here, is left out.
#include <climits>
#include <cstring>
#define CUCKOO_FILTER_PACKED_TABLE_H_

#include "cuckoofilter.h"

namespace tamis::benchmarks {
namespace {

class cf12 {
 public:
  cf12(std::uint64_t, std::uint64_t keys) : filter_(keys) {}

  bool insert(std::uint64_t key) { return filter_.Add(key) == cuckoofilter::Ok; }
  bool contains(std::uint64_t key) const { return filter_.Contain(key) == cuckoofilter::Ok; }
  bool erase(std::uint64_t key) { return filter_.Delete(key) == cuckoofilter::Ok; }
  std::uint64_t bits() const { return filter_.SizeInBytes() * 8; }

 private:
  cuckoofilter::CuckooFilter<std::uint64_t, 12> filter_;
};

}  // namespace

TAMIS_RIVAL(make_cf12) { return std::make_unique<single_rival<cf12>>(slots, keys); }

}  // namespace tamis::benchmarks
