#include "tamis/detail/telescoping/code/arithmetic_coder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <vector>

#include "tamis/detail/base/random.hpp"
#include "tamis/detail/math/quotient.hpp"
#include "tamis/detail/telescoping/code/extension_model.hpp"
#include "tamis/detail/telescoping/code/quarter_code.hpp"
#include "tamis/detail/telescoping/code/selector_model.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;

using symbols = std::vector<std::uint32_t>;

template <class Model>
std::optional<std::uint64_t> encoded(const Model& model, const symbols& message) {
  return encode(model, std::span<const std::uint32_t>(message));
}
template <class Model>
symbols decoded(const Model& model, std::uint64_t code) {
  symbols message(coded_symbols);
  decode(model, code, std::span<std::uint32_t>(message));
  return message;
}

// Identity if it fits; the lazy decoder agrees; the zeros in front are counted.
template <class Model>
void expect_round_trip(const Model& model, const symbols& message) {
  const auto code = encoded(model, message);
  if (!code) return;
  ASSERT_LT(*code, code_range);
  ASSERT_EQ(decoded(model, *code), message);
  const auto first = std::find_if(message.begin(), message.end(), [](auto symbol) { return symbol != 0; });
  ASSERT_EQ(leading_zeros(model)(*code), first - message.begin());
  ASSERT_EQ(*code == 0, first == message.end());
  symbols prefix(23);
  decode(model, *code, std::span<std::uint32_t>(prefix));
  ASSERT_TRUE(std::equal(prefix.begin(), prefix.end(), message.begin()));
  const leading_zeros zeros(model);
  for (unsigned i = static_cast<unsigned>(first - message.begin()); i < coded_symbols; i += 7) {
    ASSERT_EQ(symbol_of(model, *code, i, zeros(*code), zeros.range_after(zeros(*code))), message[i]);
  }
}

// Whatever number is decoded, encode takes the symbols back to the same code or refuses them; it never makes another message.
template <class Model>
void expect_honest(const Model& model, std::uint64_t seed) {
  random_source random(seed);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t code = random() >> (8 + random.below(56));
    const symbols message = decoded(model, code);
    const auto again = encoded(model, message);
    if (again) {
      ASSERT_EQ(decoded(model, *again), message);
    }
  }
}

template <class Model>
void expect_all_small_messages(const Model& model, const symbols& alphabet) {
  for (unsigned i = 0; i < coded_symbols; ++i) {
    for (unsigned j = i; j < coded_symbols; ++j) {
      for (const std::uint32_t a : alphabet) {
        for (const std::uint32_t b : alphabet) {
          symbols message(coded_symbols);
          message[i] = a;
          message[j] = b;
          expect_round_trip(model, message);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

template <class Model>
void expect_random_messages(const Model& model, std::uint32_t most, std::uint64_t seed) {
  random_source random(seed);
  std::uint64_t fitted = 0;
  for (int i = 0; i < 20000; ++i) {
    symbols message(coded_symbols);
    const double density = random.unit();
    for (std::uint32_t& symbol : message) {
      while (symbol < most && random.chance(density * 0.4)) ++symbol;
    }
    fitted += encoded(model, message).has_value();
    expect_round_trip(model, message);
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(fitted, 1000u);
  EXPECT_LT(fitted, 19000u);
}

TEST(coder, tuned_selectors_come_back) {
  const tuned_selector_model model;
  expect_all_small_messages(model, {0, 1, 2, 3, 4, 5, 6});
  expect_random_messages(model, 6, 1);
  expect_honest(model, 2);
}

TEST(coder, general_selectors_come_back) {
  for (const unsigned x : {2u, 3u, 5u}) {
    for (const unsigned y : {1u, 2u, 3u, 6u}) {
      const general_selector_model model(x, y);
      expect_random_messages(model, 15, x * 10 + y);
      expect_honest(model, x * 10 + y);
      if (HasFatalFailure()) return;
    }
  }
  expect_all_small_messages(general_selector_model(2, 3), {0, 1, 2, 5, 9});
}

TEST(coder, extensions_come_back) {
  const extension_model model;
  expect_all_small_messages(model, {0, 2, 3, 4, 7, 37, 255, 256});
  expect_honest(model, 4);
  random_source random(5);
  for (int i = 0; i < 20000; ++i) {
    symbols message(coded_symbols);
    const double density = random.unit() * 0.2;
    for (std::uint32_t& symbol : message) {
      if (!random.chance(density)) continue;
      symbol = 1;
      do symbol = symbol << 1 | (random.chance(0.5) ? 1 : 0);
      while (random.chance(0.5) && symbol < 1u << 20);
    }
    expect_round_trip(model, message);
    if (HasFatalFailure()) return;
  }
}

// How many symbols of this kind fit, at the front, at the back and spread.
template <class Model>
std::pair<unsigned, unsigned> most_that_fit(const Model& model, std::uint32_t symbol) {
  unsigned least = coded_symbols;
  unsigned most = 0;
  random_source random(symbol);
  for (int arrangement = 0; arrangement < 200; ++arrangement) {
    std::vector<unsigned> order(coded_symbols);
    std::iota(order.begin(), order.end(), 0u);
    if (arrangement == 1) std::reverse(order.begin(), order.end());
    for (unsigned i = coded_symbols; arrangement > 1 && i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    symbols message(coded_symbols);
    unsigned fit = 0;
    for (; fit < coded_symbols; ++fit) {
      message[order[fit]] = symbol;
      if (!encoded(model, message)) break;
    }
    least = std::min(least, fit);
    most = std::max(most, fit);
  }
  return {least, most};
}

TEST(coder, capacities_are_those_of_the_paper) {
  const tuned_selector_model tuned;
  EXPECT_EQ(most_that_fit(tuned, 1).first, 15u);  // fifteen 1s, whatever their places
  symbols message(coded_symbols);
  std::fill_n(message.begin(), 5, 2u);
  message[5] = 1;
  EXPECT_TRUE(encoded(tuned, message));  // five 2s and one 1
  EXPECT_GE(most_that_fit(extension_model(), 2).first, 8u);
  EXPECT_GE(most_that_fit(extension_model(), 3).first, 8u);
  EXPECT_FALSE(encoded(tuned, symbols(coded_symbols, 1)));
  EXPECT_FALSE(encoded(tuned, symbols(coded_symbols, 7)));
}

// Bits per symbol that messages of the distribution of Corollary 3 take, coded without a limit of length: the mean of
// log2(2^56 / interval) over messages that fit.
template <class Model>
double bits_per_symbol(const Model& model, double c, double rate) {
  random_source random(6);
  const std::vector<double> chances = selector_distribution(c, rate);
  double bits = 0.0;
  constexpr int messages = 4000;
  constexpr unsigned short_message = 16;  // so short that all of them fit: otherwise only cheap ones would be counted
  for (int i = 0; i < messages; ++i) {
    symbols message(short_message);
    for (std::uint32_t& symbol : message) {
      double left = random.unit();
      while (symbol < 6 && (left -= chances[symbol]) > 0) ++symbol;
    }
    const auto interval = interval_of(model, std::span<const std::uint32_t>(message));
    bits += 56 - std::log2(interval ? static_cast<double>(interval->size) : 1.0);
  }
  return bits / messages / short_message;
}

TEST(coder, space_is_near_the_entropy_of_corollary_3) {
  for (const unsigned r : {4u, 8u, 12u}) {
    const double rate = std::ldexp(1.0, -static_cast<int>(r));
    const general_selector_model general = general_selector_model::for_remainder(r);
    for (const double share : {0.1, 0.25, 0.4}) {  // c·rate: expected increments per key
      const double c = share / rate;
      const double entropy = selector_entropy(c, rate);
      const double tuned_bits = bits_per_symbol(tuned_selector_model(), c, rate);
      const double general_bits = bits_per_symbol(general, c, rate);
      std::printf("r %2u, c %7.1f: entropy %.3f, tuned %.3f, general %.3f bits a symbol\n", r, c, entropy, tuned_bits,
                  general_bits);
      if (share != 0.25) continue;
      EXPECT_LT(general_bits, entropy * 1.06);
      if (r == 8) {
        EXPECT_LT(tuned_bits, entropy * 1.03);
      }
    }
  }
}

TEST(coder, quarters_come_back) {
  const auto all = quarter_codes();
  const auto codes = all.first(static_cast<std::size_t>(std::max_element(all.begin(), all.end()) - all.begin()) + 1);
  EXPECT_TRUE(std::is_sorted(codes.begin(), codes.end()));
  EXPECT_TRUE(std::all_of(all.begin() + static_cast<std::ptrdiff_t>(codes.size()), all.end(), [](auto c) { return c == 0; }));
  for (std::uint64_t code = 0; code < codes.size(); ++code) {
    std::array<std::uint8_t, quarter_symbols> message{};
    for (unsigned i = 0; i < quarter_symbols; ++i) message[i] = static_cast<std::uint8_t>(codes[code] >> (2 * i) & 3);
    ASSERT_EQ(encode_quarter(message), code);
  }
  // Every three increments fit.
  for (unsigned i = 0; i < quarter_symbols; ++i) {
    for (unsigned j = 0; j < quarter_symbols; ++j) {
      for (unsigned k = 0; k < quarter_symbols; ++k) {
        std::array<std::uint8_t, quarter_symbols> message{};
        ++message[i], ++message[j], ++message[k];
        ASSERT_TRUE(encode_quarter(message));
      }
    }
  }
  std::array<std::uint8_t, quarter_symbols> message{};
  message[3] = 4;
  EXPECT_FALSE(encode_quarter(message));
  std::fill_n(message.begin(), 6, std::uint8_t{1});
  EXPECT_FALSE(encode_quarter(message));
}

}  // namespace
