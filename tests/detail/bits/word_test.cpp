#include "tamis/detail/bits/word.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "tamis/detail/base/random.hpp"

// Every trick is compared with a loop over the bits: `plain::`, the CPU level's own (`bmi2::`) and the unqualified one.

namespace {

using namespace tamis;
using namespace tamis::detail;

constexpr std::uint64_t seed = 20240611;
constexpr std::uint64_t one = 1;
constexpr std::uint64_t all = ~std::uint64_t{0};

unsigned naive_rank(std::uint64_t word, unsigned i) {
  unsigned ones = 0;
  for (unsigned b = 0; b < i; ++b) ones += static_cast<unsigned>(word >> b & 1);
  return ones;
}

unsigned naive_select(std::uint64_t word, unsigned k) {
  for (unsigned b = 0; b < 64; ++b) {
    if ((word >> b & 1) != 0 && k-- == 0) return b;
  }
  return 64;
}

std::uint64_t naive_pdep(std::uint64_t source, std::uint64_t mask) {
  std::uint64_t answer = 0;
  unsigned next = 0;
  for (unsigned b = 0; b < 64; ++b) {
    if ((mask >> b & 1) != 0) answer |= (source >> next++ & 1) << b;
  }
  return answer;
}

std::uint64_t naive_pext(std::uint64_t source, std::uint64_t mask) {
  std::uint64_t answer = 0;
  unsigned next = 0;
  for (unsigned b = 0; b < 64; ++b) {
    if ((mask >> b & 1) != 0) answer |= (source >> b & 1) << next++;
  }
  return answer;
}

std::uint64_t naive_select_pair(std::uint64_t word, unsigned k) { return k < 64 ? naive_pdep(std::uint64_t{3} << k, word) : 0; }

void expect_select(std::uint64_t word, unsigned k) {
  const unsigned expected = naive_select(word, k);
  ASSERT_EQ(plain::select(word, k), expected) << std::hex << word << " k " << std::dec << k;
  ASSERT_EQ(select(word, k), expected) << std::hex << word << " k " << std::dec << k;
  const std::uint64_t pair = naive_select_pair(word, k);
  ASSERT_EQ(plain::select_pair(word, k), pair) << std::hex << word << " k " << std::dec << k;
  ASSERT_EQ(select_pair(word, k), pair) << std::hex << word << " k " << std::dec << k;
#if TAMIS_HAS_AVX2
  ASSERT_EQ(bmi2::select(word, k), expected) << std::hex << word << " k " << std::dec << k;
  ASSERT_EQ(bmi2::select_pair(word, k), pair) << std::hex << word << " k " << std::dec << k;
#endif
}

void expect_rank(std::uint64_t word, unsigned i) {
  const unsigned expected = naive_rank(word, i);
  ASSERT_EQ(plain::rank(word, i), expected) << std::hex << word << " i " << std::dec << i;
  ASSERT_EQ(rank(word, i), expected) << std::hex << word << " i " << std::dec << i;
}

void expect_deposit_and_extract(std::uint64_t source, std::uint64_t mask) {
  const std::uint64_t deposited = naive_pdep(source, mask);
  const std::uint64_t extracted = naive_pext(source, mask);
  ASSERT_EQ(plain::pdep(source, mask), deposited) << std::hex << source << " mask " << mask;
  ASSERT_EQ(pdep(source, mask), deposited) << std::hex << source << " mask " << mask;
  ASSERT_EQ(plain::pext(source, mask), extracted) << std::hex << source << " mask " << mask;
  ASSERT_EQ(pext(source, mask), extracted) << std::hex << source << " mask " << mask;
#if TAMIS_HAS_AVX2
  ASSERT_EQ(bmi2::pdep(source, mask), deposited) << std::hex << source << " mask " << mask;
  ASSERT_EQ(bmi2::pext(source, mask), extracted) << std::hex << source << " mask " << mask;
#endif
}

// Words of every density: half of the bits, few, nearly all, a run, or none.
std::uint64_t random_word(random_source& random) {
  switch (random.below(5)) {
    case 0: return random();
    case 1: return random() & random() & random();
    case 2: return random() | random() | random();
    case 3: return (all >> random.below(64)) & (all << random.below(64));
    default: return random() & random() & random() & random() & random() & random();
  }
}

TEST(word, low_mask_has_exactly_n_ones_and_at_most_64) {
  for (unsigned n = 0; n <= 255; ++n) {
    std::uint64_t expected = 0;
    for (unsigned b = 0; b < std::min(n, 64u); ++b) expected |= one << b;
    EXPECT_EQ(plain::low_mask(n), expected) << n;
    EXPECT_EQ(low_mask(n), expected) << n;
#if TAMIS_HAS_AVX2
    EXPECT_EQ(bmi2::low_mask(n), expected) << n;
#endif
  }
}

TEST(word, low_and_high_bits_make_the_word) {
  random_source random(seed);
  for (unsigned n = 0; n <= 255; ++n) {
    for (const std::uint64_t word : {std::uint64_t{0}, all, random(), random()}) {
      std::uint64_t below = 0;
      for (unsigned b = 0; b < std::min(n, 64u); ++b) below |= word & one << b;
      EXPECT_EQ(plain::low_bits(word, n), below) << n;
      EXPECT_EQ(low_bits(word, n), below) << n;
      EXPECT_EQ(high_bits(word, n), word - below) << n;
    }
  }
}

TEST(word, select_finds_every_position) {
  for (unsigned p = 0; p < 64; ++p) {
    for (unsigned k = 0; k <= 66; ++k) {
      expect_select(one << p, k);
      expect_select(~(one << p), k);
      expect_select(all << p, k);
      expect_select(all >> p, k);
    }
    for (unsigned q = 0; q < 64; ++q) {
      for (unsigned k = 0; k < 3; ++k) expect_select((one << p) | (one << q), k);
    }
  }
  for (unsigned k = 0; k <= 66; ++k) expect_select(0, k);
}

TEST(word, select_of_every_byte_pair_at_every_byte) {
  for (unsigned place = 0; place <= 48; place += 16) {
    for (std::uint64_t pair = 0; pair < 65536; ++pair) {
      const std::uint64_t word = pair << place;
      for (unsigned k = 0; k <= naive_rank(word, 64); k += 3) expect_select(word, k);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(word, select_beyond_the_ones_is_64_for_any_k) {
  for (const unsigned k : {64u, 65u, 127u, 128u, 191u, 255u, 256u, 257u, 1u << 31, ~0u}) {
    for (const std::uint64_t word : {std::uint64_t{0}, one, one << 63, all}) expect_select(word, k);
  }
}

TEST(word, select_of_random_words) {
  SCOPED_TRACE(seed);
  random_source random(seed);
  for (int round = 0; round < 3'000'000; ++round) {
    expect_select(random_word(random), static_cast<unsigned>(random.below(65)));
    expect_select(random(), static_cast<unsigned>(random.below(34)));
    if (HasFatalFailure()) return;
  }
}

TEST(word, rank_counts_the_ones_below) {
  SCOPED_TRACE(seed + 1);
  random_source random(seed + 1);
  for (int round = 0; round < 20'000; ++round) {
    const std::uint64_t word = random_word(random);
    for (unsigned i = 0; i <= 64; ++i) expect_rank(word, i);
    ASSERT_EQ(popcount(word), naive_rank(word, 64));
    ASSERT_EQ(plain::popcount(word), naive_rank(word, 64));
  }
  for (unsigned i = 0; i <= 64; ++i) expect_rank(all, i);
}

TEST(word, rank_and_select_are_inverse) {
  SCOPED_TRACE(seed + 2);
  random_source random(seed + 2);
  for (int round = 0; round < 20'000; ++round) {
    const std::uint64_t word = random_word(random);
    for (unsigned k = 0; k < popcount(word); ++k) ASSERT_EQ(rank(word, select(word, k)), k);
  }
}

TEST(word, deposit_and_extract) {
  SCOPED_TRACE(seed + 3);
  random_source random(seed + 3);
  for (unsigned p = 0; p < 64; ++p) {
    for (const std::uint64_t mask : {one << p, ~(one << p), all << p, all >> p}) {
      expect_deposit_and_extract(all, mask);
      expect_deposit_and_extract(one << p, mask);
      expect_deposit_and_extract(random(), mask);
    }
  }
  expect_deposit_and_extract(all, 0);
  expect_deposit_and_extract(0, all);
  for (int round = 0; round < 1'000'000; ++round) {
    const std::uint64_t mask = random_word(random);
    expect_deposit_and_extract(random(), mask);
    if (HasFatalFailure()) return;
  }
}

TEST(word, everything_works_at_compile_time) {
  static_assert(low_mask(0) == 0 && low_mask(64) == all);
  static_assert(rank(0xf0, 6) == 2);
  static_assert(select(0xf0, 3) == 7 && select(0xf0, 4) == 64);
  static_assert(select_pair(0xf0, 1) == 0x60 && select_pair(0xf0, 3) == 0x80);
  static_assert(pdep(0b101, 0xf0) == 0x50 && pext(0x50, 0xf0) == 0b101);
}

// One move of a bit range against a vector<bool>; the array has exactly the words that the range needs, so that a sanitizer
// sees a read beyond them.
void expect_move(random_source& random, std::uint64_t first, std::uint64_t last, unsigned distance, bool up) {
  const std::uint64_t bits = up ? last + distance : last;
  std::vector<std::uint64_t> words((bits + 63) / 64);
  for (std::uint64_t& word : words) word = random();
  const auto bit = [](const std::vector<std::uint64_t>& array, std::uint64_t i) {
    return (array[i / 64] >> (i % 64) & 1) != 0;
  };
  std::vector<bool> expected(words.size() * 64);
  for (std::uint64_t i = 0; i < expected.size(); ++i) expected[i] = bit(words, i);
  for (std::uint64_t i = first; i < last; ++i) expected[up ? i + distance : i - distance] = bit(words, i);

  if (up) {
    move_bits_up(words.data(), first, last, distance);
  } else {
    move_bits_down(words.data(), first, last, distance);
  }
  for (std::uint64_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(bit(words, i), expected[i]) << (up ? "up " : "down ") << first << ' ' << last << " by " << distance << " bit "
                                          << i;
  }
}

TEST(word, moves_of_bit_ranges_keep_all_other_bits) {
  SCOPED_TRACE(seed + 4);
  random_source random(seed + 4);
  for (unsigned distance = 1; distance <= 64; ++distance) {
    for (int round = 0; round < 1500; ++round) {
      const std::uint64_t first = random.below(200);
      const std::uint64_t length = random.below(round % 2 == 0 ? 70 : 400);
      expect_move(random, first, first + length, distance, true);
      expect_move(random, first + distance, first + distance + length, distance, false);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(word, bits_come_and_go_inside_a_word) {
  SCOPED_TRACE(seed + 6);
  random_source random(seed + 6);
  for (unsigned at = 0; at < 64; ++at) {
    for (unsigned last = at; last < 64; ++last) {
      const std::uint64_t word = random();
      const std::uint64_t bit = random.below(2);
      const std::uint64_t more = with_bit_inserted(word, at, last, bit);
      const std::uint64_t less = with_bit_removed(word, at, last);
      for (unsigned i = 0; i < 64; ++i) {
        const bool moves = at <= i && i <= last;
        ASSERT_EQ(more >> i & 1, moves ? (i == at ? bit : word >> (i - 1) & 1) : word >> i & 1)
            << at << ' ' << last << ' ' << i;
        ASSERT_EQ(less >> i & 1, moves ? (i == last ? 0 : word >> (i + 1) & 1) : word >> i & 1)
            << at << ' ' << last << ' ' << i;
      }
    }
  }
}

TEST(word, moves_at_word_borders) {
  SCOPED_TRACE(seed + 5);
  random_source random(seed + 5);
  const std::array<std::uint64_t, 9> borders = {0, 1, 63, 64, 65, 127, 128, 129, 192};
  for (const unsigned distance : {1u, 2u, 31u, 63u, 64u}) {
    for (const std::uint64_t first : borders) {
      for (const std::uint64_t last : borders) {
        if (last < first) continue;
        expect_move(random, first, last, distance, true);
        if (first >= distance) expect_move(random, first, last, distance, false);
      }
    }
  }
}

TEST(word, lowest_bit_is_the_first_one_alone) {
  EXPECT_EQ(lowest_bit(std::uint64_t{0}), 0u);
  for (unsigned i = 0; i < word_bits; ++i) {
    const std::uint64_t only = std::uint64_t{1} << i;
    for (const std::uint64_t above : {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{0x5555'5555'5555'5555u}})
      EXPECT_EQ(lowest_bit((above & ~(only | (only - 1))) | only), only);
    EXPECT_TRUE(lowest_bit(uint128{only} << 64) == uint128{only} << 64);
  }
}

}  // namespace
