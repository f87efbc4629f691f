#include "tamis/detail/math/bloom.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tamis/detail/base/random.hpp"
#include "tests/support/bounds.hpp"
#include "tests/support/bytes.hpp"

namespace tamis {

using namespace detail;

namespace {

constexpr std::uint64_t seed = 6;

// False positives of `filters` filters with truly random places; one lookup each, so that all trials are independent.
template <class Draw>
std::uint64_t simulate(std::uint64_t cells, std::uint64_t keys, unsigned k, int filters, Draw draw) {
  std::uint64_t positives = 0;
  for (int i = 0; i < filters; ++i) {
    std::vector<bool> table(cells);
    for (std::uint64_t key = 0; key < keys; ++key) draw(k, [&](std::uint64_t cell) { table[cell] = true; });
    bool all = true;
    draw(k, [&](std::uint64_t cell) { all = all && table[cell]; });
    positives += all;
  }
  return positives;
}

TEST(bloom1_rate, is_that_of_a_simulation) {
  SCOPED_TRACE(seed);
  random_source random(seed);
  constexpr int filters = 60000;
  struct shape {
    std::uint64_t words;
    unsigned bits;
    std::uint64_t keys;
    unsigned k;
  };
  for (const shape s :
       {shape{1, 32, 5, 3}, shape{3, 32, 20, 2}, shape{2, 64, 15, 4}, shape{1, 512, 60, 6}, shape{4, 32, 10, 1}}) {
    const auto draw = [&](unsigned k, auto visit) {
      const std::uint64_t word = random.below(s.words);
      for (unsigned i = 0; i < k; ++i) visit(word * s.bits + random.below(s.bits));
    };
    const std::uint64_t positives = simulate(s.words * s.bits, s.keys, s.k, filters, draw);
    EXPECT_TRUE(test::equal_by_chance(positives, filters, bloom1_rate(s.words, s.bits, s.keys, s.k)))
        << s.words << " words of " << s.bits << " bits, " << s.keys << " keys, k = " << s.k;
  }
}

TEST(split_bloom1_rate, is_that_of_a_simulation) {
  SCOPED_TRACE(seed);
  random_source random(seed);
  constexpr int filters = 60000;
  struct shape {
    std::uint64_t words;
    unsigned bits;
    std::uint64_t keys;
  };
  for (const shape s : {shape{1, 256, 30}, shape{3, 256, 90}, shape{2, 512, 100}}) {
    const unsigned part = s.bits / 8;
    const auto draw = [&](unsigned k, auto visit) {
      const std::uint64_t word = random.below(s.words);
      for (unsigned i = 0; i < k; ++i) visit(word * s.bits + i * part + random.below(part));
    };
    const std::uint64_t positives = simulate(s.words * s.bits, s.keys, split_bloom1_places, filters, draw);
    EXPECT_TRUE(test::equal_by_chance(positives, filters, split_bloom1_rate(s.words, s.bits, s.keys)))
        << s.words << " words of " << s.bits << " bits, " << s.keys << " keys";
  }
}

TEST(bloom_rate, is_that_of_a_simulation) {
  SCOPED_TRACE(seed);
  random_source random(seed);
  constexpr int filters = 20000;
  for (const unsigned k : {1u, 3u, 6u}) {
    constexpr std::uint64_t bits = 1000;
    const auto draw = [&](unsigned count, auto visit) {
      for (unsigned i = 0; i < count; ++i) visit(random.below(bits));
    };
    // The formula swaps expectation and power; at 1,000 bits that is off by less than the bound sees.
    EXPECT_TRUE(test::equal_by_chance(simulate(bits, 150, k, filters, draw), filters, bloom_rate(bits, 150, k))) << k;
  }
}

TEST(bloom_rate, at_the_ends) {
  EXPECT_EQ(bloom_rate(100, 0, 3), 0.0);
  EXPECT_EQ(bloom_rate(1, 5, 3), 1.0);
  EXPECT_EQ(bloom1_rate(10, 64, 0, 3), 0.0);
  EXPECT_NEAR(bloom1_rate(1, 32, 10000, 3), 1.0, 1e-9);
  EXPECT_NEAR(bloom_rate(1e12, 1e11, 7), std::pow(1 - std::exp(-0.7), 7), 1e-9);
}

constexpr std::uint64_t capacities[] = {1, 2, 63, 1000, 100000, 10000000};
constexpr double rates[] = {0.9, 0.3, 0.01, 1e-4};

TEST(bloom_shape, smallest_that_keeps_the_rate) {
  for (const std::uint64_t capacity : capacities) {
    for (const double fpr : rates) {
      const bloom_shape shape = bloom_shape_for_rate(capacity, fpr, 1, 0).value();
      const auto rate = [&](double cells) { return bloom_rate(cells, static_cast<double>(capacity), shape.k); };
      EXPECT_LE(rate(static_cast<double>(shape.cells)), fpr * (1 + 1e-9)) << capacity << " " << fpr;
      if (shape.cells > 2) {
        EXPECT_GT(rate(static_cast<double>(shape.cells - 1)), fpr) << capacity << " " << fpr;
      }
    }
  }
}

TEST(bloom_shape, of_the_usual_size) {
  // ln(1/fpr) / ln(2)^2 bits per key.
  const bloom_shape shape = bloom_shape_for_rate(1000000, 0.01, 1, 0).value();
  EXPECT_EQ(shape.k, 7u);
  EXPECT_NEAR(static_cast<double>(shape.cells) / 1e6, std::log(100.0) / std::pow(std::log(2.0), 2), 0.05);
}

TEST(bloom1_shape, smallest_that_keeps_the_rate) {
  for (const std::uint64_t capacity : {1u, 63u, 1000u, 100000u}) {
    for (const double fpr : {0.3, 0.01}) {
      for (const unsigned width : {32u, 64u, 512u}) {
        const auto shape = bloom1_shape_for_rate(capacity, fpr, width, 0);
        ASSERT_TRUE(shape.ok()) << shape.message();
        EXPECT_LE(bloom1_rate(shape->cells, width, capacity, shape->k), fpr * (1 + 1e-9));
        if (shape->cells > 1) {
          EXPECT_GT(bloom1_rate(shape->cells - 1, width, capacity, shape->k), fpr);
        }
      }
    }
  }
}

TEST(split_bloom1_shape, smallest_that_keeps_the_rate) {
  for (const std::uint64_t capacity : {1u, 1000u, 1000000u}) {
    for (const double fpr : {0.1, 0.01, 0.0001}) {
      for (const unsigned width : {256u, 512u}) {
        const bloom_shape shape = split_bloom1_shape_for_rate(capacity, fpr, width).value();
        EXPECT_EQ(shape.k, split_bloom1_places);
        EXPECT_LE(split_bloom1_rate(shape.cells, width, capacity), fpr);
        if (shape.cells > 1) {
          EXPECT_GT(split_bloom1_rate(shape.cells - 1, width, capacity), fpr);
        }
      }
    }
  }
  EXPECT_TRUE(test::refused(split_bloom1_shape_for_rate(1000, 1e-18, 256), "cannot be reached"));
  EXPECT_EQ(split_bloom1_shape_for_bits(1000, 10, 512).value().cells, 20u);
}

// Small rates are summed, others have a closed form: nothing shows where one takes over.
TEST(bloom1_rate, falls_evenly_with_the_words) {
  for (const unsigned k : {8u, 16u}) {
    double before = bloom1_rate(60, 512, 1000, k);
    ASSERT_GT(before, 1e-7);
    double step_before = 0.0;
    for (std::uint64_t words = 61; words < 1000; ++words) {
      const double rate = bloom1_rate(words, 512, 1000, k);
      const double step = before / rate - 1.0;
      EXPECT_GT(step, 0.0) << words << " words, k = " << k;
      if (words > 61) {
        EXPECT_NEAR(step / step_before, 1.0, 0.05) << words << " words, k = " << k;
      }
      before = rate;
      step_before = step;
    }
    EXPECT_LT(before, 1e-9);
  }
}

TEST(bloom1_shape, rate_out_of_reach_is_an_error) {
  EXPECT_TRUE(test::refused(bloom1_shape_for_rate(1000, 1e-12, 32, 0), "cannot be reached"));
}

TEST(shapes, given_k_is_taken) {
  for (const unsigned k : {1u, 5u, 16u}) {
    EXPECT_EQ(bloom_shape_for_rate(1000, 0.01, 1, k).value().k, k);
    EXPECT_EQ(bloom_shape_for_bits(1000, 10, 1, k).value().k, k);
    EXPECT_EQ(bloom1_shape_for_rate(1000, 0.1, 512, k).value().k, k);
    EXPECT_EQ(bloom1_shape_for_bits(1000, 10, 512, k).value().k, k);
  }
}

TEST(shapes, of_given_bits_use_them_with_the_best_k) {
  const bloom_shape shape = bloom_shape_for_bits(100000, 10, 1, 0).value();
  EXPECT_EQ(shape.cells, 1000000u);
  for (unsigned k = 1; k <= most_bloom_places; ++k) EXPECT_LE(bloom_rate(1e6, 1e5, shape.k), bloom_rate(1e6, 1e5, k)) << k;
  const bloom_shape words = bloom1_shape_for_bits(10000, 12.8, 64, 0).value();
  EXPECT_EQ(words.cells, 2000u);
  for (unsigned k = 1; k <= most_bloom1_places; ++k) {
    EXPECT_LE(bloom1_rate(2000, 64, 10000, words.k), bloom1_rate(2000, 64, 10000, k)) << k;
  }
  EXPECT_EQ(bloom_shape_for_bits(1000, 8, 4, 0).value().cells, 2000u);
  EXPECT_EQ(bloom_shape_for_bits(1, 1e-9, 1, 0).value().cells, 1u);
}

}  // namespace
}  // namespace tamis
