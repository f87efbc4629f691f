#include "tamis/detail/telescoping/code/symbol_code.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <vector>

#include "tamis/detail/base/random.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;

// Letters found alone are those of the decoder that takes all of them off.
template <class Code>
void expect_same_symbols(const Code& how, std::uint64_t code) {
  std::array<typename Code::symbol, coded_symbols> all{};
  how.decode(code, std::span(all));
  for (unsigned i = 0; i < coded_symbols; ++i) ASSERT_EQ(how.symbol_at(code, i), all[i]) << "symbol " << i << " of " << code;
}
// The same for numbers, any at all.
template <class Code>
void expect_same_symbols_of_number(const Code& how, std::uint64_t number) {
  std::array<typename Code::symbol, coded_symbols> all{};
  how.decode_number(number, std::span(all));
  for (unsigned i = 0; i < coded_symbols; ++i) {
    ASSERT_EQ(how.symbol_of_number(number, i), all[i]) << "symbol " << i << " of " << number;
    ASSERT_EQ(how.exact_symbol_at(number, i), all[i]) << "symbol " << i << " of " << number;
  }
}

// Messages whose symbols come up as `draw` says, as far as they fit, and their codes: all that happens to a block as it fills.
template <class Code>
struct message {
  std::array<typename Code::symbol, coded_symbols> symbols{};
  std::uint64_t code = 0;
  code_interval numbers{};
};
template <class Code, class Draw>
std::vector<message<Code>> messages_of(const Code& how, int count, std::uint64_t seed, Draw draw) {
  random_source random(seed);
  std::vector<message<Code>> all;
  for (int n = 0; n < count; ++n) {
    message<Code> m;
    for (int misses = 0; misses < 3;) {
      auto next = m.symbols;
      auto& symbol = next[random.below(coded_symbols)];
      symbol = draw(random, symbol);
      const std::span<const typename Code::symbol> span(next);
      const auto code = how.encode(span);
      EXPECT_EQ(code.has_value(), how.interval(span).has_value());  // nothing fits that the paper's code has no room for
      if (code) {
        m = {next, *code, *how.interval(span)};
        all.push_back(m);
      } else {
        ++misses;
      }
    }
  }
  return all;
}
const auto one_more = [](random_source&, std::uint8_t symbol) { return static_cast<std::uint8_t>(symbol + 1); };
const auto longer = [](random_source& random, std::uint32_t symbol) {
  do symbol = (symbol == 0 ? 2 : symbol << 1) | (random.chance(0.5) ? 1 : 0);
  while (random.chance(0.5) && symbol < 1u << 12);
  return symbol;
};

// Every code comes back, symbol by symbol; and so do all numbers of its interval, at whose ends the decoder
// changes its mind.
template <class Code>
void expect_all_come_back(const Code& how, std::span<const message<Code>> messages, std::uint64_t seed) {
  random_source random(seed);
  std::uint64_t lists = 0;
  for (const message<Code>& m : messages) {
    lists += is_list(m.code);
    std::array<typename Code::symbol, coded_symbols> all{};
    how.decode(m.code, std::span(all));
    ASSERT_EQ(all, m.symbols);
    expect_same_symbols(how, m.code);
    ASSERT_EQ(symbols_if_made(how, m.code), nonzero_symbols(m.symbols));
    for (const std::uint64_t end : {m.numbers.low, m.numbers.low + m.numbers.size}) {
      for (const std::uint64_t step : {0u, 1u, 2u, 3u, 17u, 1000u, 100000u}) {
        expect_same_symbols_of_number(how, (end + step) % code_range);
        expect_same_symbols_of_number(how, (end - step) % code_range);
      }
    }
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(lists, messages.size() / 2);
  for (int i = 0; i < 20000; ++i) expect_same_symbols_of_number(how, random() >> (8 + random.below(56)));
  for (const std::uint64_t code : {std::uint64_t{0}, std::uint64_t{1}, code_range - 1, code_range - 2, code_range / 2}) {
    expect_same_symbols_of_number(how, code);
  }
}

// Whatever stands in a file: a code is taken only if encoding what it says makes it again. A list is not asked whether the
// paper's code has room for it.
template <class Code>
void expect_no_others(const Code& how, std::span<const message<Code>> messages, std::uint64_t seed) {
  random_source random(seed);
  std::uint64_t taken = 0;
  std::uint64_t refused = 0;
  const auto see = [&](std::uint64_t code) {
    if (code == 0) return;
    std::array<typename Code::symbol, coded_symbols> all{};
    const std::uint64_t found = symbols_if_made(how, code);
    ++(found != 0 ? taken : refused);
    // Lists that are none are not decoded: they may not have as many groups and items as that takes.
    if (found == 0 && is_list(code)) {
      const auto same = [code](const message<Code>& m) { return m.code == code; };
      ASSERT_TRUE(std::none_of(messages.begin(), messages.end(), same)) << code;
      return;
    }
    how.decode(code, std::span(all));
    const std::span<const typename Code::symbol> symbols(all);
    const auto made = how.encode(symbols);
    ASSERT_EQ(found != 0, is_list(code) ? how.encode_in({0, 2}, symbols) == code : made == std::optional(code)) << code;
    if (found != 0) ASSERT_EQ(found, nonzero_symbols(all));
    if (found != 0) ASSERT_TRUE(how.has_symbols(symbols));
  };
  for (const message<Code>& m : messages) {
    for (int i = 0; i < 30; ++i) {
      std::uint64_t forged = m.code;
      for (std::uint64_t flips = 1 + random.below(3); flips != 0; --flips) forged ^= std::uint64_t{1} << random.below(56);
      see(forged);
    }
    see(m.numbers.low);
    see(m.numbers.low + m.numbers.size - 1);
    if (testing::Test::HasFatalFailure()) return;
  }
  for (int i = 0; i < 20'000; ++i) see(random() >> (8 + random.below(56)));
  EXPECT_GT(taken, 100u);
  EXPECT_GT(refused, 1000u);
}

TEST(symbol_code, selectors_come_back) {
  for (const unsigned remainder : {1u, 2u, 3u, 4u, 7u, 8u, 9u, 12u, 16u, 56u}) {
    SCOPED_TRACE(remainder);
    const selector_code how(selector_coding::paper, remainder);
    const auto messages = messages_of(how, 30, remainder, one_more);
    expect_all_come_back<selector_code>(how, messages, remainder);
    expect_no_others<selector_code>(how, messages, remainder);
    if (HasFatalFailure()) return;
  }
}
TEST(symbol_code, extensions_come_back) {
  const extension_code how;
  const auto messages = messages_of(how, 300, 1, longer);
  expect_all_come_back<extension_code>(how, messages, 2);
  expect_no_others<extension_code>(how, messages, 3);
}
TEST(symbol_code, quarters_come_back) {
  const selector_code how(selector_coding::quarters, 8);
  random_source random(3);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t code = random() >> 8;
    expect_same_symbols(how, code);
    std::array<std::uint8_t, coded_symbols> all{};
    how.decode(code, std::span(all));
    for (unsigned first = 0; first <= 56; ++first) {
      for (unsigned j = 0; j < 8; ++j) ASSERT_EQ(how.eight(code, first) >> (2 * j) & 3, all[first + j]);
    }
  }
}

// The bounds of every interval of messages with one or two symbols that are not 0, where a rounded decoder would be wrong.
TEST(symbol_code, the_ends_of_intervals_are_exact) {
  const auto expect = [](const auto& how, const auto& model, std::span<const std::uint32_t> alphabet) {
    for (unsigned i = 0; i < coded_symbols; i += 3) {
      for (unsigned j = i + 1; j < coded_symbols; j += 5) {
        for (const std::uint32_t a : alphabet) {
          std::vector<std::uint32_t> message(j + 1);
          message[i] = a;
          message[j] = alphabet[(i + j) % alphabet.size()];
          const auto interval = interval_of(model, std::span<const std::uint32_t>(message));
          if (!interval) continue;
          for (const std::uint64_t code : {interval->low, interval->low + interval->size - 1, interval->low + interval->size}) {
            expect_same_symbols_of_number(how, code % code_range);
            expect_same_symbols_of_number(how, (code - 1) % code_range);
            if (testing::Test::HasFatalFailure()) return;
          }
        }
      }
    }
  };
  const std::vector<std::uint32_t> selectors{1, 2, 3, 6};
  expect(selector_code(selector_coding::paper, 8), tuned_selector_model(), selectors);
  for (const unsigned r : {2u, 3u, 12u}) {
    expect(selector_code(selector_coding::paper, r), general_selector_model::for_remainder(r), selectors);
  }
  const std::vector<std::uint32_t> extensions{2, 3, 4, 7, 9, 31, 255, 511, 1000};
  expect(extension_code(), extension_model(), extensions);
}

// As blocks fill up, few symbols need the exact decoder: otherwise the quick one is good for nothing.
template <class Code, class Quick>
double unsure_share(const Quick& quick, std::span<const message<Code>> messages) {
  std::uint64_t unsure = 0;
  std::uint64_t asked = 0;
  for (const message<Code>& m : messages) {
    if (is_list(m.code)) continue;
    for (unsigned i = 0; i < coded_symbols; ++i, ++asked) {
      const std::uint32_t symbol = quick(m.code, i);
      unsure += symbol == unsure_symbol;
      EXPECT_TRUE(symbol == unsure_symbol || symbol == m.symbols[i]);
    }
  }
  return static_cast<double>(unsure) / static_cast<double>(asked);
}
TEST(symbol_code, most_symbols_are_found_at_once) {
  const auto selectors = messages_of(selector_code(selector_coding::paper, 8), 1000, 4, one_more);
  const auto general = messages_of(selector_code(selector_coding::paper, 12), 1000, 5, one_more);
  const auto extensions = messages_of(extension_code(), 1000, 6, longer);
  const double shares[] = {unsure_share<selector_code>(tuned_selector_decoder, selectors),
                           unsure_share<selector_code>(general_selector_decoder<3>, general),
                           unsure_share<extension_code>(extension_code::decoder, extensions)};
  std::printf("not sure: %.4f of the selectors (C.2), %.4f (C.3), %.4f of the extensions\n", shares[0], shares[1], shares[2]);
  for (const double share : shares) EXPECT_LT(share, 0.5);
}

}  // namespace
