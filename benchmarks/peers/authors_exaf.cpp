// exAF of its authors, 8-bit remainders and their MurmurHash3.

#include "benchmarks/peers/telescoping.hpp"
#include "exaf.c"

namespace tamis::benchmarks {
namespace {

class authors_exaf {
 public:
  authors_exaf(std::uint64_t slots, std::uint64_t) { exaf_init(&filter_, slots, 1); }
  ~authors_exaf() {
    std::free(filter_.blocks);
    std::free(filter_.remote);
  }
  authors_exaf(const authors_exaf&) = delete;
  authors_exaf& operator=(const authors_exaf&) = delete;

  bool insert(std::uint64_t key) { return exaf_insert(&filter_, key), true; }
  bool contains(std::uint64_t key) { return exaf_lookup(&filter_, key) != 0; }
  std::uint64_t bits() const { return filter_.nblocks * sizeof(ExAFBlock) * 8; }

 private:
  ExAF filter_;
};

}  // namespace

#ifdef TAMIS_AS_PUBLISHED
#define make_authors_exaf make_published_exaf
#endif
TAMIS_RIVAL(make_authors_exaf) { return std::make_unique<single_rival<authors_exaf>>(slots, keys); }

}  // namespace tamis::benchmarks
