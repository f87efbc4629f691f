#include "tamis/detail/math/abf.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "src/detail/math/word_fill.hpp"
#include "tamis/detail/math/binomial.hpp"

namespace tamis {

using namespace detail;

namespace {

// Equation 3 as it is printed, which loses all digits to cancellation unless the word is short.
double equation_3(unsigned n, unsigned w, unsigned k) {
  const auto factorial = [](unsigned x) { return std::tgamma(static_cast<long double>(x) + 1); };
  long double sum = 0;
  for (unsigned i = 1; i <= w; ++i) {
    for (unsigned j = 1; j <= i; ++j) {
      const long double sign = (i - j) % 2 == 0 ? 1 : -1;
      sum += sign * std::pow(static_cast<long double>(j), k * n) * std::pow(static_cast<long double>(i), k) /
             (factorial(w - i) * factorial(j) * factorial(i - j));
    }
  }
  return static_cast<double>(factorial(w) / std::pow(static_cast<long double>(w), k * (n + 1)) * sum);
}

TEST(abf_word_rate, is_equation_3) {
  for (const unsigned w : {4u, 8u, 12u}) {
    for (const unsigned k : {1u, 2u, 3u}) {
      for (const unsigned n : {1u, 2u, 4u}) EXPECT_NEAR(abf_word_rate(w, n, k), equation_3(n, w, k), 1e-8);
    }
  }
  EXPECT_EQ(abf_word_rate(63, 0, 4), 0.0);
}

// M = 1024, w = 64 with one selector bit, k = 4: the middle of figure 4.
abf_setting figure_4(std::uint64_t ratio) {
  return {.words = 1024, .payload_bits = 63, .k = 4, .sets = 2, .keys = 8192, .negatives = 8192 * ratio, .repeats = 10};
}

double plain_rate(const abf_setting& s) { return bloom1_rate(s.words, s.payload_bits, s.keys, s.k); }

// One word, so that nothing hides the sum over Z_1 and Z_2: equations 4 to 7 term by term.
TEST(abf_printed_rate, is_equation_7_for_one_word) {
  const abf_setting s{.words = 1, .payload_bits = 63, .k = 3, .sets = 2, .keys = 9, .negatives = 40, .repeats = 7};
  const double f = abf_word_rate(63, 9, 3);
  std::vector<double> b(41);
  for (unsigned z = 0; z <= 40; ++z) {
    b[z] = std::tgamma(41.0) / (std::tgamma(z + 1.0) * std::tgamma(41.0 - z)) * std::pow(f, z) * std::pow(1 - f, 40 - z);
  }
  double rate = (1 - b[0]) * b[0] / (40 * 7);
  for (unsigned z1 = 1; z1 <= 40; ++z1) {
    for (unsigned z2 = 1; z2 <= 40; ++z2) rate += b[z1] * b[z2] * 2 / (40.0 / z1 + 40.0 / z2);
  }
  EXPECT_NEAR(abf_printed_rate(s), rate, 1e-9);
}

TEST(abf_printed_rate, more_sets_and_fewer_negatives_are_better) {
  for (const std::uint64_t ratio : {1u, 3u, 10u}) {
    double before = plain_rate(figure_4(ratio));
    for (const unsigned sets : {2u, 4u, 8u, 16u}) {
      abf_setting s = figure_4(ratio);
      s.sets = sets;
      const double rate = abf_printed_rate(s);
      EXPECT_LT(rate, before) << ratio << ' ' << sets;
      before = rate;
    }
  }
  EXPECT_LT(abf_printed_rate(figure_4(1)), abf_printed_rate(figure_4(5)));
}

TEST(abf_rate, is_below_the_printed_one) {
  for (const std::uint64_t ratio : {1u, 2u, 5u, 10u}) EXPECT_LT(abf_rate(figure_4(ratio)), abf_printed_rate(figure_4(ratio)));
}

// One word with two sets, where the changes until time t have a closed form: with x = Z_1, y = Z_2
//   t 2xy / (x + y) + x (x - y) / (x + y)^2 (1 - exp(-(x + y) t)).
TEST(abf_rate, is_the_closed_form_for_two_sets) {
  constexpr unsigned negatives = 40;
  word_fill fill(63, 3);
  for (unsigned n = 0; n < 9; ++n) fill.add_key();
  std::vector<double> z(negatives + 1);
  for (unsigned ones = 0; ones <= 63; ++ones) {
    for (unsigned i = 0; i <= negatives; ++i) {
      z[i] += fill.chance_of(ones) * binomial_pmf(negatives, fill.rate_with(ones), i);
    }
  }
  for (const double t : {0.01, 0.3, 1.0, 10.0, 300.0}) {
    double sum = 0.0;
    for (unsigned x = 1; x <= negatives; ++x) {
      for (unsigned y = 0; y <= negatives; ++y) {
        const double both = x + y;
        const double transient = x * (static_cast<double>(x) - y) / (both * both) * (1 - std::exp(-both * t));
        sum += z[x] * z[y] * (2.0 * x * y / both * t + transient);
      }
    }
    const double rate =
        abf_rate({.words = 1, .payload_bits = 63, .k = 3, .sets = 2, .keys = 9, .negatives = negatives, .repeats = t});
    EXPECT_NEAR(rate / (sum / (negatives * t)), 1.0, 3e-5) << t;
  }
}

TEST(abf_rate, more_sets_are_better_and_repeats_help) {
  for (const unsigned sets : {2u, 4u, 8u}) {
    double before = 1.0;
    for (const double t : {0.1, 1.0, 10.0, 100.0, 1e4}) {
      abf_setting s = figure_4(2);
      s.repeats = t;
      s.sets = sets;
      const double rate = abf_rate(s);
      EXPECT_LT(rate, before) << sets << ' ' << t;
      before = rate;
      s.sets = 2 * sets;
      EXPECT_LT(abf_rate(s), rate) << sets << ' ' << t;
    }
  }
}

TEST(abf_rate, without_repeats_nothing_can_be_learnt) {
  abf_setting s = figure_4(10);
  s.repeats = 1e-3;
  EXPECT_NEAR(abf_rate(s) / plain_rate(s), 1.0, 0.01);
}

TEST(abf_rate, decimation_only_slows_down) {
  abf_setting s = figure_4(2);
  double before = abf_rate(s);
  for (const unsigned d : {2u, 5u, 20u}) {
    s.decimation = d;
    EXPECT_GT(abf_rate(s), before);
    EXPECT_LT(abf_rate(s), plain_rate(s));
    before = abf_rate(s);
  }
  // With enough repeats it does not matter.
  s.repeats = 1e6;
  s.decimation = 1;
  before = abf_rate(s);
  s.decimation = 5;
  EXPECT_NEAR(abf_rate(s) / before, 1.0, 1e-3);
}

TEST(abf_rate, empty_settings) {
  abf_setting s = figure_4(1);
  s.keys = 0;
  EXPECT_EQ(abf_rate(s), 0.0);
  s = figure_4(1);
  s.negatives = 0;
  EXPECT_EQ(abf_printed_rate(s), 0.0);
}

TEST(abf_shape, of_one_word_is_bloom1_of_the_payload) {
  const auto shape = abf_shape({.capacity = 100000, .fpr = 0.01, .bits_per_key = {}, .word_bits = 64, .sets = 4}).value();
  const auto plain = bloom1_shape_for_rate(100000, 0.01, 62, 0).value();
  EXPECT_EQ(shape.cells, plain.cells);
  EXPECT_EQ(shape.k, plain.k);
}

TEST(abf_shape, takes_the_memory_it_is_given) {
  for (const unsigned j : {1u, 2u, 3u}) {
    const auto shape =
        abf_shape({.capacity = 64000, .fpr = {}, .bits_per_key = 8, .word_bits = 64, .sets = 8, .words_per_key = j}).value();
    EXPECT_NEAR(static_cast<double>(shape.cells), 8000, 1);
  }
}

// Two words for 2^49 parts of keys are full, which is not 0.999. A word may have about 62 ln(1 / 0.0005) = 471 of them.
TEST(abf_shape, is_right_for_very_many_keys) {
  EXPECT_EQ(bloom1_rate(2, 62, std::uint64_t{1} << 49, 1), 1.0);
  const auto shape =
      abf_shape({.capacity = std::uint64_t{1} << 48, .fpr = 0.999, .bits_per_key = {}, .sets = 4, .words_per_key = 2}).value();
  EXPECT_EQ(shape.k, 1u);
  EXPECT_NEAR(static_cast<double>(std::uint64_t{1} << 49) / static_cast<double>(shape.cells), 471, 10);
}

TEST(abf_shape, says_what_cannot_be_reached) {
  const auto shape = abf_shape({.capacity = 1000, .fpr = 1e-12, .bits_per_key = {}, .word_bits = 32, .sets = 2});
  ASSERT_FALSE(shape.ok());
  EXPECT_NE(shape.message().find("words of 32 bits"), std::string::npos) << shape.message();
}

}  // namespace
}  // namespace tamis
