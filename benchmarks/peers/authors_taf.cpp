// TAF of its authors, 8-bit remainders and their MurmurHash3.

#include "benchmarks/peers/telescoping.hpp"
#include "taf.c"

namespace tamis::benchmarks {
namespace {

class authors_taf {
 public:
  authors_taf(std::uint64_t slots, std::uint64_t) { taf_init(&filter_, slots, 1); }
  ~authors_taf() {
    std::free(filter_.blocks);
    std::free(filter_.remote);
  }
  authors_taf(const authors_taf&) = delete;
  authors_taf& operator=(const authors_taf&) = delete;

  bool insert(std::uint64_t key) { return taf_insert(&filter_, key), true; }
  bool contains(std::uint64_t key) { return taf_lookup(&filter_, key) != 0; }
  std::uint64_t bits() const { return filter_.nblocks * sizeof(TAFBlock) * 8; }

 private:
  TAF filter_;
};

}  // namespace

#ifdef TAMIS_AS_PUBLISHED
#define make_authors_taf make_published_taf
#endif
TAMIS_RIVAL(make_authors_taf) { return std::make_unique<single_rival<authors_taf>>(slots, keys); }

}  // namespace tamis::benchmarks
