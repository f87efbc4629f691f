// github.com/splatlab/vqf: the vector quotient filter of its authors, 8-bit tags, no locks, AVX-512 where the machine has it.
// Made for the keys: they fill 0.93 of its slots.

#include <immintrin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>

#include "benchmarks/peers/huge_memory.hpp"
#include "benchmarks/peers/rival.hpp"

// What its header says, for 8-bit tags; there the width is a line to be edited.
#define _VQF_FILTER_H_
#define TAG_BITS 8
#define restrict __restrict__
struct [[gnu::packed]] vqf_block {
  std::uint64_t md[2];
  std::uint8_t tags[48];
};
struct vqf_metadata {
  std::uint64_t total_size_in_bytes, key_remainder_bits, range, nblocks, nelts, nslots;
};
struct vqf_filter {
  vqf_metadata metadata;
  vqf_block blocks[];
};

#define malloc tamis::benchmarks::huge_malloc
#define printf(...)
#define fprintf(...)
#include "vqf_filter.c"
#undef fprintf
#undef printf
#undef malloc

#ifdef __AVX512BW__
// Its tables of permutations are files of their own: an insert moves the last byte to `index`, an erase closes the gap there.
__m512i SHUFFLE[64], SHUFFLE_REMOVE[64];
#endif

namespace tamis::benchmarks {
namespace {

void fill_permutations() {
#ifdef __AVX512BW__
  for (int index = 0; index < 64; ++index) {
    std::uint8_t in[64], out[64];
    for (int i = 0; i < 64; ++i) {
      in[i] = static_cast<std::uint8_t>(i < index ? i : i == index ? 63 : i - 1);
      out[i] = static_cast<std::uint8_t>(i < index ? i : std::min(i + 1, 63));
    }
    memcpy(&SHUFFLE[index], in, 64);
    memcpy(&SHUFFLE_REMOVE[index], out, 64);
  }
#endif
}

class vector_quotient_filter {
 public:
  // Two keys with the same tag and different second blocks can take each other's entry; and both blocks of a key can be full.
  static constexpr bool may_fail = true;

  vector_quotient_filter(std::uint64_t, std::uint64_t keys) : filter_((fill_permutations(), vqf_init(keys * 100 / 93))) {}
  ~vector_quotient_filter() { free(filter_); }
  vector_quotient_filter(const vector_quotient_filter&) = delete;
  vector_quotient_filter& operator=(const vector_quotient_filter&) = delete;

  bool insert(std::uint64_t key) { return vqf_insert(filter_, fingerprint(key)); }
  bool contains(std::uint64_t key) const { return vqf_is_present(filter_, fingerprint(key)); }
  bool erase(std::uint64_t key) { return vqf_remove(filter_, fingerprint(key)); }
  std::uint64_t bits() const { return filter_->metadata.total_size_in_bytes * 8; }

 private:
  std::uint64_t fingerprint(std::uint64_t key) const {
    return static_cast<std::uint64_t>((static_cast<uint128>(hash_(key).high) * filter_->metadata.range) >> 64);
  }

  hasher hash_;
  vqf_filter* filter_;
};

}  // namespace

TAMIS_RIVAL(make_vqf) { return std::make_unique<single_rival<vector_quotient_filter>>(slots, keys); }

}  // namespace tamis::benchmarks
