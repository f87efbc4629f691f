// The quick lookups of the adaptive quotient filters against plain ones: all symbols decoded, all slots of the run asked one by
// one. Tables are random, with symbols and values that no history would make: codes up to where they overflow, runs of any
// length and at any place of a block, and slots that hold what a query has under its slot's symbol or under another one.

#include <gtest/gtest.h>

#include <cstdio>

#include "tamis/detail/base/random.hpp"
#include "tests/filters/adaptive_kinds.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;
using namespace tamis::test;

template <class Scheme>
class random_slots : public coded_slots<Scheme> {
  using base = coded_slots<Scheme>;
  using base::block_slots;
  using base::scheme;
  using base::table;
  using typename base::symbol;

 public:
  random_slots(const filter_params& params, std::uint64_t quotients, unsigned remainder, std::uint64_t seed) : random_(seed) {
    scheme = Scheme::create(params, remainder).value();
    table = base::table_type::make(quotients, 200, remainder).value();
  }

  // Runs of lengths as at this load; with `crowded`, now and then one that is much longer than a block.
  void fill(double load, bool crowded) {
    for (double keys = load * static_cast<double>(table.quotients()); keys > 0; --keys) {
      const std::uint64_t quotient = random_.below(table.quotients());
      for (std::uint64_t copies = crowded && random_.chance(0.02) ? random_.below(100) : 1; copies != 0; --copies) {
        const auto gap = table.find_gap(quotient);
        if (!gap) return;
        table.open(quotient, *gap);
        table.set_value(gap->at, random_() & low_mask(table.width()));
      }
    }
  }

  // Letters that come up one by one, as many as `fullness` of what fits.
  void symbol_all(double fullness) {
    for (std::uint64_t block = 0; block < table.blocks(); ++block) {
      typename base::block_symbols symbols{};
      for (int misses = 0; misses < 2 && random_.chance(fullness);) {
        auto next = symbols;
        symbol& one = next[random_.below(block_slots)];
        if constexpr (Scheme::value_depends_on_symbol) {
          one = static_cast<symbol>(one + 1);
        } else {
          do one = (one == 0 ? 2 : one << 1) | (random_.chance(0.5) ? 1 : 0);
          while (random_.chance(0.3));
        }
        if constexpr (base::coded) {
          const auto code = code_of(next);
          misses += !code;
          if (!code) continue;
          table.set_code(block, *code);
        } else {
          misses += random_.chance(0.1);
        }
        symbols = next;
      }
      if constexpr (!base::coded) {
        if (random_.chance(0.1)) symbols[random_.below(block_slots)] = static_cast<symbol>(random_.below(256));
        for (unsigned i = 0; i < block_slots; ++i) table.set_label(block * block_slots + i, symbols[i]);
      }
    }
  }

  // Asks for digests, of which half were put into a slot of their run: under its symbol or, now and then, under another.
  void expect_plain_answers(int queries) {
    std::uint64_t yes = 0;
    for (int n = 0; n < queries; ++n) {
      const digest d{random_(), random_()};
      const hash_suffix bits(d, table.quotients());
      const slot_range run = table.find(bits.quotient());
      if (!run.empty() && random_.chance(0.5)) {
        const std::uint64_t slot = run.first + random_.below(run.size());
        symbol l = this->symbols_of(run)[slot - run.first];
        if (random_.chance(0.2)) l = static_cast<symbol>(random_.below(8));
        table.set_value(slot, Scheme::value(bits, table.width(), l));
      }
      const bool expected = plain_contains(bits);
      yes += expected;
      ASSERT_EQ(base::may_contain(bits.source()), expected)
          << "quotient " << bits.quotient() << ", run " << run.first << " to " << run.last;
      ASSERT_EQ(this->may_contain_far(bits), expected);
    }
    asked_ += static_cast<std::uint64_t>(queries);
    positive_ += yes;
  }
  std::uint64_t asked() const { return asked_; }
  std::uint64_t positive() const { return positive_; }

 private:
  bool plain_contains(const hash_suffix& bits) const {
    const slot_range run = table.find(bits.quotient());
    const auto symbols = this->symbols_of(run);
    for (std::uint64_t slot = run.first; slot < run.last; ++slot) {
      if (Scheme::accepts(table.value(slot), symbols[slot - run.first], bits, table.width())) return true;
    }
    return false;
  }
  std::optional<std::uint64_t> code_of(const typename base::block_symbols& symbols) const {
    std::uint64_t code = 0;
    for (unsigned group = 0; group < this->groups(); ++group) {
      const unsigned size = this->group_slots();
      const auto part = scheme.code().encode(std::span<const symbol>(symbols).subspan(group * size, size));
      if (!part) return std::nullopt;
      code = with_group_code(code, this->groups(), group, *part);
    }
    return code;
  }

  random_source random_;
  std::uint64_t asked_ = 0;
  std::uint64_t positive_ = 0;
};

template <class Scheme>
void expect_plain_answers(const char* code) {
  std::uint64_t asked = 0;
  std::uint64_t positive = 0;
  std::uint64_t seed = 1;
  for (const unsigned remainder : {1u, 5u, 7u, 8u, 9u, 11u, 12u, 13u, 16u, 17u, 24u, 25u, 33u, 56u}) {
    for (const double load : {0.5, 0.95, 1.1}) {
      for (const double fullness : {0.0, 0.5, 0.9, 1.0}) {
        SCOPED_TRACE(testing::Message() << "remainder " << remainder << ", load " << load << ", fullness " << fullness);
        filter_params params{.capacity = 1000};
        if (code != nullptr) params.options.emplace_back("code", code);
        random_slots<Scheme> slots(params, 100 + seed * 13, remainder, seed);
        slots.fill(load, seed % 2 == 0);
        slots.symbol_all(fullness);
        slots.expect_plain_answers(4000);
        if (testing::Test::HasFatalFailure()) return;
        asked += slots.asked();
        positive += slots.positive();
        ++seed;
      }
    }
  }
  std::printf("%llu of %llu queries are positive\n", static_cast<unsigned long long>(positive),
              static_cast<unsigned long long>(asked));
  EXPECT_GT(positive, asked / 5);
  EXPECT_LT(positive, asked * 4 / 5);
}

TEST(adaptive_lookup, taf_answers_as_if_all_symbols_were_decoded) { expect_plain_answers<taf_scheme>("paper"); }
TEST(adaptive_lookup, taf_in_quarters_answers_as_if_all_symbols_were_decoded) { expect_plain_answers<taf_scheme>("quarters"); }
TEST(adaptive_lookup, utaf_answers_as_if_all_symbols_were_decoded) { expect_plain_answers<utaf_scheme>(nullptr); }
TEST(adaptive_lookup, exaf_answers_as_if_all_symbols_were_decoded) { expect_plain_answers<exaf_scheme>(nullptr); }

}  // namespace
