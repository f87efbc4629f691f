#pragma once

// What gqf.c, of the counting quotient filter and of AdaptiveQF, expects around the functions that excerpt.py takes from it:
// the types and constants of its headers, for slots of 8 bits at compile time, and stubs of what is never called here. Names
// are theirs. With TAMIS_AS_PUBLISHED nothing helps it: slots have a width that is known at run time, and select goes through
// a table.

#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "benchmarks/peers/huge_memory.hpp"
#include "benchmarks/peers/rival.hpp"

#ifdef TAMIS_AS_PUBLISHED
#define QF_BITS_PER_SLOT 0
#else
#define QF_BITS_PER_SLOT 8
#define __SSE4_2_ 1  // so that select is pdep: what the compiler defines has one underscore more
#endif

namespace tamis::benchmarks::gqf {

inline constexpr unsigned long long QF_SLOTS_PER_BLOCK = 64;
inline constexpr std::uint64_t MAGIC_NUMBER = 0;
enum { QF_NO_LOCK = 1, QF_TRY_ONCE_LOCK = 2, QF_WAIT_FOR_LOCK = 4, QF_KEY_IS_HASH = 8 };
enum { QF_NO_SPACE = -1, QF_COULDNT_LOCK = -2 };
enum qf_hashmode { QF_HASH_DEFAULT, QF_HASH_INVERTIBLE, QF_HASH_NONE };

struct pc_t {};

struct qfmetadata {
  std::uint64_t magic_endian_number, reserved, auto_resize, total_size_in_bytes, seed, nslots, xnslots;
  qf_hashmode hash_mode;
  std::uint64_t key_bits, value_bits, key_remainder_bits, bits_per_slot, quotient_bits, quotient_remainder_bits;
  __uint128_t range;
  std::uint64_t nblocks, nelts, ndistinct_elts, noccupied_slots;
};

template <class Block>
struct filter {
  struct runtime {
    std::uint32_t auto_resize;
    int (*container_resize)(filter*, std::uint64_t);
    pc_t pc_nelts, pc_ndistinct_elts, pc_noccupied_slots;
    std::uint64_t num_locks;
    volatile int metadata_lock;
    volatile int* locks;
  };
  runtime* runtimedata;
  qfmetadata* metadata;
  Block* blocks;
};

// Not reached: keys come hashed, one thread, a table of fixed size, select by pdep, counts of one.
template <class... Any>
int never(Any...) {
  std::abort();
}
#define MurmurHash64A gqf::never
#define hash_64 gqf::never
#ifndef TAMIS_AS_PUBLISHED
#define _select64 gqf::never
#endif
#define qf_lock gqf::never
#define qf_unlock gqf::never
#define insert_and_extend gqf::never
// Only for counters that are shared by threads.
template <class... Any>
void pc_init(Any...) {}

// A table of its own for the two filters, which differ in their calls.
template <class QF>
class table {
 public:
  // `init(qf, buffer, bytes)` is a call of qf_init; without a buffer it says how many bytes it wants. A slot of any width is
  // read as a word, so the last ones need more.
  template <class Init>
  explicit table(Init init) {
    const std::uint64_t bytes = init(nullptr, nullptr, 0) + sizeof(std::uint64_t);
    memory_.reset(static_cast<char*>(huge_calloc(bytes, 1)));
    if (memory_ == nullptr) throw std::bad_alloc();
    qf.runtimedata = &runtime_;
    init(&qf, memory_.get(), bytes);
  }
  ~table() { std::free(const_cast<int*>(runtime_.locks)); }
  table(const table&) = delete;
  table& operator=(const table&) = delete;

  std::uint64_t bits() const { return qf.metadata->total_size_in_bytes * 8; }

  QF qf{};

 private:
  typename QF::runtime runtime_{};
  struct freed {
    void operator()(char* memory) const { std::free(memory); }
  };
  std::unique_ptr<char, freed> memory_;
};

}  // namespace tamis::benchmarks::gqf
