#pragma once

// The well-known contender of the quotient family: a rank-and-select quotient filter with sorted runs, written down as the
// counting quotient filter's authors describe it (SIGMOD 2017, section 3). Blocks of 64 slots with their metadata beside them;
// a lookup tests `occupied`, finds the end of the run before by rank and select, and walks its run slot by slot; an insert hops
// from run end to run end to a free slot, and moves the slots between one by one. No counters, no deletes; only here to be
// compared with.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tamis/detail/bits/word.hpp"
#include "tamis/detail/hash/place.hpp"

namespace tamis::benchmarks {

template <class Remainder>
class textbook_quotient {
 public:
  explicit textbook_quotient(std::uint64_t quotients) : quotients_(quotients), blocks_(quotients / 64 + 20) {}

  std::uint64_t bits() const { return blocks_.size() * sizeof(block) * 8; }

  bool may_contain(digest d) const {
    const auto [quotient, remainder] = fingerprint(d);
    if (!occupied(quotient)) return false;
    for (std::uint64_t slot = run_begin(quotient);; ++slot) {
      if (value(slot) >= remainder) return value(slot) == remainder;
      if (runend(slot)) return false;
    }
  }

  // Requires: load below 0.95 or so; the table does not notice that it is full.
  void insert(digest d) {
    const auto [quotient, remainder] = fingerprint(d);
    const bool has_run = occupied(quotient);
    std::uint64_t at = run_begin(quotient);
    bool ends = !has_run;
    if (has_run) {
      for (; !ends && value(at) < remainder; ++at) ends = runend(at);
    }
    const std::uint64_t free = first_free(std::max(at, quotient));
    for (std::uint64_t slot = free; slot > at; --slot) {
      set_value(slot, value(slot - 1));
      set_runend(slot, runend(slot - 1));
    }
    if (has_run && ends) set_runend(at - 1, false);
    set_value(at, remainder);
    set_runend(at, ends);
    blocks_[quotient / 64].occupied |= bit(quotient);
    for (std::uint64_t b = quotient / 64 + 1; b <= free / 64; ++b) ++blocks_[b].offset;
  }

 private:
  struct __attribute__((packed)) block {
    std::uint16_t offset = 0;  // the authors' byte overflows
    std::uint64_t occupied = 0;
    std::uint64_t runends = 0;
    Remainder slots[64] = {};
  };
  struct parts {
    std::uint64_t quotient;
    Remainder remainder;
  };

  static std::uint64_t bit(std::uint64_t i) { return std::uint64_t{1} << (i % 64); }
  parts fingerprint(digest d) const {
    const detail::word_placed p = detail::place_of_word(d.high, quotients_);
    return {p.place, static_cast<Remainder>(p.rest >> (64 - 8 * sizeof(Remainder)))};
  }
  bool occupied(std::uint64_t quotient) const { return (blocks_[quotient / 64].occupied & bit(quotient)) != 0; }
  bool runend(std::uint64_t slot) const { return (blocks_[slot / 64].runends & bit(slot)) != 0; }
  void set_runend(std::uint64_t slot, bool to) {
    std::uint64_t word = blocks_[slot / 64].runends;
    word = to ? word | bit(slot) : word & ~bit(slot);
    blocks_[slot / 64].runends = word;
  }
  Remainder value(std::uint64_t slot) const { return blocks_[slot / 64].slots[slot % 64]; }
  void set_value(std::uint64_t slot, Remainder value) { blocks_[slot / 64].slots[slot % 64] = value; }

  // The slot behind the last run of all quotients up to this one, or the quotient's own slot if that is later.
  std::uint64_t run_end(std::uint64_t quotient) const {
    std::uint64_t b = quotient / 64;
    const block& own = blocks_[b];
    unsigned left = detail::popcount(own.occupied & detail::low_mask(static_cast<unsigned>(quotient % 64) + 1));
    std::uint64_t from = b * 64 + own.offset;
    if (left == 0) return std::max(from, quotient);
    for (b = from / 64;; ++b, from = b * 64) {
      const std::uint64_t ends = blocks_[b].runends & ~detail::low_mask(static_cast<unsigned>(from % 64));
      if (detail::popcount(ends) >= left) return std::max(b * 64 + detail::select(ends, left - 1) + 1, quotient);
      left -= detail::popcount(ends);
    }
  }
  std::uint64_t run_begin(std::uint64_t quotient) const {
    return quotient == 0 ? 0 : std::max(quotient, run_end(quotient - 1));
  }
  std::uint64_t first_free(std::uint64_t slot) const {
    while (true) {
      const std::uint64_t end = run_end(slot);
      if (end <= slot) return slot;
      slot = end;
    }
  }

  std::uint64_t quotients_;
  std::vector<block> blocks_;
};

}  // namespace tamis::benchmarks
