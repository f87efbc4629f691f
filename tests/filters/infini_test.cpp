#include "tamis/filters/infini.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <tuple>
#include <vector>

#include "tamis/batch.hpp"
#include "tamis/detail/base/random.hpp"
#include "tamis/detail/io/archive.hpp"
#include "tests/support/bounds.hpp"
#include "tests/support/keys.hpp"

namespace tamis::test {

using namespace detail;

namespace {

constexpr std::uint64_t seed = 20230620;
constexpr const char* all_modes[] = {"basic", "chained", "growing"};
constexpr const char* endless_modes[] = {"chained", "growing"};

// A filter of so many places.
infini make(std::uint64_t places, unsigned fingerprint, const std::string& mode = "chained", unsigned threshold = 80) {
  const option_list options = {
      {"fingerprint", std::to_string(fingerprint)}, {"mode", mode}, {"threshold", std::to_string(threshold)}};
  infini f = infini::create({.capacity = places * threshold / 100, .fpr = 0.5, .options = options}).value();
  EXPECT_LE(f.places(), places);
  EXPECT_GE(f.places() + 1, places);
  return f;
}

std::uint64_t positives(const infini& f, std::span<const digest> asked) {
  return static_cast<std::uint64_t>(std::count_if(asked.begin(), asked.end(), [&](digest d) { return f.may_contain(d); }));
}
bool has_all(const infini& f, std::span<const digest> digests) { return positives(f, digests) == digests.size(); }

// Inserts keys until the filter has doubled so many times and is about to double again.
std::vector<digest> grow(infini& f, unsigned expansions) {
  std::vector<digest> in;
  while (f.expansions() < expansions || f.keys() < f.capacity()) {
    in.push_back(keys(1, in.size())[0]);
    EXPECT_EQ(f.insert(in.back()), insert_result::inserted);
    if (f.expansions() > expansions) ADD_FAILURE() << "the filter has expanded too early";
  }
  return in;
}

// All entries as prefixes of digests' streams behind the places of the first size.
using entry_key = std::tuple<unsigned, std::uint64_t, std::uint64_t, unsigned>;
std::multimap<entry_key, int> entries_of(const infini& f) {
  std::multimap<entry_key, int> all;
  f.for_each([&](unsigned table, std::uint64_t quotient, const prefix_entry& e) {
    all.emplace(entry_key(table, quotient, e.bits, e.length), 0);
  });
  return all;
}

infini loaded(std::span<const std::byte> bytes) {
  memory_source source(bytes);
  reader in(source);
  infini f = make(1000, 1);
  in(f);
  EXPECT_TRUE(in.ok()) << in.state().message();
  return f;
}

TEST(infini, expanding_changes_no_answer) {
  for (const char* mode : all_modes) {
    for (const std::uint64_t places : {1000u, 1024u}) {
      SCOPED_TRACE(std::string(mode) + ", " + std::to_string(places));
      infini f = make(places, 3, mode);
      const std::vector<digest> in = keys(780);
      for (const digest d : in) ASSERT_EQ(f.insert(d), insert_result::inserted);
      const std::vector<digest> asked = strangers(20000);
      for (int round = 0; round < 8; ++round) {  // entries run out of bits after three
        const infini before = f;
        const status grown = f.expand();
        if (!grown.ok()) {
          EXPECT_STREQ(mode, "basic");
          EXPECT_EQ(round, 3);
          EXPECT_TRUE(f == before);
          break;
        }
        ASSERT_EQ(f.places(), 2 * before.places());
        ASSERT_EQ(f.keys(), in.size());
        for (const digest d : asked) ASSERT_EQ(f.may_contain(d), before.may_contain(d)) << round;
        EXPECT_NEAR(f.expected_fpr(), before.expected_fpr(), before.expected_fpr() / 10);
        ASSERT_TRUE(has_all(f, in));
        ASSERT_TRUE(f.validate().ok()) << f.validate().message();
      }
      if (std::string_view(mode) == "basic") continue;
      // Keys of one age only: the secondary took them all, and was sealed when they had run out of bits again.
      EXPECT_EQ(f.tables(), 2u);
      for (const digest d : in) ASSERT_EQ(f.erase(d), erase_result::erased);
      EXPECT_EQ(f.tables(), 1u);
      EXPECT_EQ(f.keys(), 0u);
      EXPECT_EQ(f.expected_fpr(), 0.0);
      EXPECT_EQ(f.expansions(), 0u);
    }
  }
}

// Runs that need more slots behind the last quotient's own get them, also where a file left none.
TEST(infini, tables_without_room_at_their_end_are_widened) {
  for (const std::uint64_t spare : {0u, 64u}) {
    memory_sink sink;
    writer out(sink);
    out(std::uint64_t{64}, std::uint32_t{8}, std::uint32_t{80}, infini::kind::chained, std::uint32_t{0},
        variable_length_table::make(64, spare, 8).value(), std::uint64_t{0});
    ASSERT_TRUE(out.finish().ok());
    infini f = loaded(sink.bytes());
    const digest last{~std::uint64_t{0}, 0};
    for (int i = 0; i < 50; ++i) ASSERT_EQ(f.insert(last), insert_result::inserted);
    EXPECT_EQ(f.count(last), 50u);
    EXPECT_TRUE(f.validate().ok());
  }
}

// may_contain() asks older tables only where a hint says so, count() always: slots of eight bits and more have hints.
TEST(infini, hints_hide_no_entry_of_an_older_table) {
  for (const unsigned fingerprint : {6u, 7u, 9u}) {
    for (const char* mode : endless_modes) {
      infini f = make(5, fingerprint, mode);
      std::vector<digest> in;
      const auto ask = [&] {
        for (const digest d : in) ASSERT_TRUE(f.may_contain(d));
        for (const digest d : strangers(3000)) ASSERT_EQ(f.may_contain(d), f.count(d) != 0);
      };
      while (f.expansions() < 17) {
        for (const digest d : keys(3, 3 * f.expansions())) {
          in.insert(in.end(), f.expansions() % 4 == 1 ? 5 : 1, d);
          while (f.count(d) == 0 || in.size() != f.keys()) ASSERT_EQ(f.insert(d), insert_result::inserted);
        }
        ask();
        ASSERT_TRUE(f.expand().ok());
        ask();
      }
      EXPECT_GE(f.tables(), 2u);
      infini rejuvenated = f;
      for (std::size_t i = 0; i < in.size(); i += 2) ASSERT_TRUE(rejuvenated.rejuvenate(in[i]));
      for (const digest d : in) ASSERT_TRUE(rejuvenated.may_contain(d));
      while (f.expansions() != 0 && f.contract().ok()) ask();
      EXPECT_EQ(f.expansions(), 0u);
      EXPECT_EQ(f.keys(), in.size());
    }
  }
}

TEST(infini, batches_and_single_keys_give_the_same_filter) {
  infini single = make(100, 7);
  infini batched = make(100, 7);
  const std::vector<digest> in = keys(5000);
  for (const digest d : in) ASSERT_EQ(single.insert(d), insert_result::inserted);
  ASSERT_EQ(insert_many(batched, in), in.size());
  EXPECT_TRUE(single == batched);
  EXPECT_GT(single.expansions(), 4u);
}

TEST(infini, contracting_undoes_expanding) {
  for (const char* mode : endless_modes) {
    infini f = make(100, 4, mode);
    for (const digest d : keys(75)) f.insert(d);
    const auto before = entries_of(f);
    for (int i = 0; i < 13; ++i) ASSERT_TRUE(f.expand().ok());
    EXPECT_GT(f.tables(), 1u);
    for (int i = 0; i < 13; ++i) {
      ASSERT_TRUE(f.contract().ok());
      ASSERT_TRUE(f.validate().ok()) << f.validate().message();
    }
    EXPECT_EQ(f.tables(), 1u);
    EXPECT_EQ(entries_of(f), before) << mode;
    const infini first = f;
    EXPECT_FALSE(f.contract().ok());
    EXPECT_TRUE(f == first);
  }
}

// What is as long as a new entry loses its last bit, and nothing else changes.
TEST(infini, contracting_cuts_one_bit_of_young_entries_only) {
  infini f = make(1000, 6);
  const std::vector<digest> old = keys(700);
  for (const digest d : old) f.insert(d);
  ASSERT_TRUE(f.expand().ok());
  const std::vector<digest> young = keys(500, 1000);
  for (const digest d : young) f.insert(d);
  ASSERT_TRUE(f.contract().ok());
  std::map<unsigned, int> lengths;
  f.for_each([&](unsigned, std::uint64_t, const prefix_entry& e) { ++lengths[e.length]; });
  EXPECT_EQ(lengths, (std::map<unsigned, int>{{6, 1200}}));
  EXPECT_TRUE(has_all(f, old) && has_all(f, young));
  EXPECT_EQ(f.keys(), 1200u);
}

TEST(infini, contracts_by_itself_down_to_the_first_size) {
  for (const char* mode : all_modes) {
    infini f = make(77, 5, mode);
    std::vector<digest> in = grow(f, 5);
    EXPECT_EQ(f.expansions(), 5u);
    while (!in.empty()) {
      const std::uint64_t used = f.keys();
      const unsigned level = f.expansions();
      ASSERT_EQ(f.erase(in.back()), erase_result::erased);
      in.pop_back();
      ASSERT_EQ(f.keys(), used - 1);
      if (f.expansions() != level) {
        EXPECT_TRUE(has_all(f, in));
        EXPECT_LE(f.keys(), f.capacity() / 2 + 1);
      } else if (level != 0) {
        ASSERT_GT(f.keys(), f.capacity() / 4);
      }
    }
    EXPECT_EQ(f.expansions(), 0u);
    EXPECT_EQ(f.places(), 77u);
    EXPECT_EQ(f.tables(), 1u);
  }
}

TEST(infini, basic_mode_fills_up_when_it_cannot_expand) {
  infini f = make(64, 3, "basic");
  std::vector<digest> in;
  while (true) {
    const infini before = f;
    const digest d = keys(1, in.size())[0];
    if (f.insert(d) == insert_result::full) {
      EXPECT_TRUE(f == before);
      break;
    }
    in.push_back(d);
  }
  EXPECT_EQ(f.expansions(), 3u);
  EXPECT_EQ(in.size(), 64u * 8 * 95 / 100);
  EXPECT_TRUE(has_all(f, in));
}

TEST(infini, basic_mode_goes_on_when_its_oldest_entries_have_bits_again) {
  infini f = make(64, 6, "basic");
  const std::vector<digest> in = keys(10);  // so few that no two of them agree in their fingerprints
  for (const digest d : in) f.insert(d);
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(f.expand().ok());
  EXPECT_FALSE(f.expand().ok());
  EXPECT_EQ(f.rejuvenate_all(in), in.size());
  EXPECT_TRUE(f.expand().ok());
  EXPECT_TRUE(has_all(f, in));
}

TEST(infini, longest_match_is_erased_and_renewed) {
  // Two keys that agree in their place and in two bits behind it: one entry of two bits, one of three.
  infini f = make(64, 3);
  const digest covering{0xb000000000000000u, 0};
  const digest younger{0xb008000000000000u, 0};
  f.insert(covering);
  ASSERT_TRUE(f.expand().ok());
  f.insert(younger);
  ASSERT_EQ(f.count(younger), 2u);
  infini renewed = f;
  EXPECT_EQ(f.erase(younger), erase_result::erased);
  EXPECT_TRUE(f.may_contain(covering));
  EXPECT_EQ(f.erase(covering), erase_result::erased);
  EXPECT_FALSE(f.may_contain(covering));
  EXPECT_EQ(f.erase(covering), erase_result::absent);
  EXPECT_TRUE(renewed.rejuvenate(younger));  // its own entry, which has all bits
  EXPECT_EQ(renewed.count(younger), 2u);
  EXPECT_TRUE(renewed.rejuvenate(covering));
  EXPECT_EQ(renewed.count(covering), renewed.count(younger));
}

TEST(infini, rejuvenating_brings_entries_back_from_the_chain) {
  for (const char* mode : endless_modes) {
    infini f = make(64, 3, mode);
    const std::vector<digest> in = grow(f, 9);
    const auto in_older = [&] {
      std::uint64_t entries = 0;
      f.for_each([&](unsigned table, std::uint64_t, const prefix_entry&) { entries += table != 0; });
      return entries;
    };
    ASSERT_GE(f.tables(), 2u);
    const std::uint64_t older = in_older();
    const double rate = f.expected_fpr();
    const std::uint64_t count = f.keys();
    // The first pass expands the filter, so that more entries become voids. An entry stays behind if its key agrees with
    // another one in all bits of that one's entry: of two matches only the longest may be renewed.
    for (int pass = 0; pass < 2; ++pass) EXPECT_EQ(f.rejuvenate_all(in), in.size());
    EXPECT_EQ(f.keys(), count);
    EXPECT_TRUE(has_all(f, in));
    EXPECT_LT(in_older(), older / 3) << mode;
    EXPECT_LT(f.expected_fpr(), rate / 1.5);
    EXPECT_EQ(f.rejuvenate_all(std::vector<digest>()), 0u);
  }
}

TEST(infini, tables_that_rejuvenating_empties_are_freed) {
  infini f = make(64, 4);
  const std::vector<digest> in = keys(8);
  for (const digest d : in) f.insert(d);
  for (int i = 0; i < 12; ++i) ASSERT_TRUE(f.expand().ok());
  ASSERT_EQ(f.tables(), 2u);
  EXPECT_EQ(f.rejuvenate_all(in), in.size());
  EXPECT_EQ(f.tables(), 1u);
  EXPECT_TRUE(has_all(f, in));
}

TEST(infini, many_copies_of_a_key_at_the_very_end) {
  infini f = make(64, 4);
  for (const digest often : extreme_digests) {
    for (int i = 0; i < 3000; ++i) ASSERT_EQ(f.insert(often), insert_result::inserted);
    EXPECT_GE(f.count(often), 3000u);
  }
  EXPECT_TRUE(f.validate().ok()) << f.validate().message();
  for (const digest often : extreme_digests) {
    for (int i = 0; i < 3000; ++i) ASSERT_EQ(f.erase(often), erase_result::erased);
  }
  EXPECT_EQ(f.keys(), 0u);
  EXPECT_EQ(f.expansions(), 0u);
}

// Equation 2: half of the entries are new, a quarter is one expansion old, and so on.
TEST(infini, ages_are_geometric) {
  infini f = make(64, 12);
  grow(f, 8);
  std::map<unsigned, std::uint64_t> ages;
  f.for_each([&](unsigned, std::uint64_t, const prefix_entry& e) { ++ages[12 - e.length]; });
  ASSERT_EQ(ages.size(), 9u);
  for (unsigned age = 0; age <= 8; ++age) {
    const double share = static_cast<double>(ages[age]) / static_cast<double>(f.keys());
    EXPECT_NEAR(share, age_share(age, 8), 0.01 * age_share(age, 8) + 1.0 / static_cast<double>(f.keys())) << age;
  }
}

// Equations 5 and 10 at the end of every doubling: the measured rate is the stated one, and that is below the model and near.
TEST(infini, rates_are_those_of_the_models) {
  const std::vector<digest> asked = strangers(100000);
  for (const char* mode : endless_modes) {
    for (const unsigned fingerprint : {5u, 8u}) {
      infini f = make(64, fingerprint, mode);
      std::uint64_t next = 0;
      for (unsigned x = 0; x <= 11; ++x) {
        SCOPED_TRACE(std::string(mode) + ", F = " + std::to_string(fingerprint) + ", X = " + std::to_string(x));
        while (f.expansions() < x || f.keys() < f.capacity()) {
          if (f.expansions() == x && f.keys() >= f.capacity()) break;
          ASSERT_EQ(f.insert(keys(1, next++)[0]), insert_result::inserted);
        }
        const double model = mode == std::string_view("growing") ? growing_rate(fingerprint, 0.8, x)  //
                                                                 : infini_rate(fingerprint, 0.8, x);
        const double stated = f.expected_fpr();
        const double by_chance = 5.0 * std::sqrt(1.0 / static_cast<double>(f.places()));  // unions are smaller than sums
        EXPECT_LE(stated, model * 1.02);
        EXPECT_GE(stated, -std::expm1(-model) * (1.0 - by_chance) * 0.95);
        EXPECT_TRUE(equal_by_chance(positives(f, asked), asked.size(), stated));
      }
    }
  }
}

// A rate that is asked for is kept by default, and by growing fingerprints when they are asked for; who names the fingerprint
// or the memory gets the paper's chain.
TEST(infini, an_asked_rate_makes_fingerprints_grow) {
  const auto mode_of = [](const filter_params& params) { return infini::create(params).value().settings()[2].second; };
  EXPECT_EQ(mode_of({.capacity = 100, .fpr = 0.01}), "growing");
  EXPECT_EQ(mode_of({.capacity = 100, .bits_per_key = 12}), "chained");
  EXPECT_EQ(mode_of({.capacity = 100, .fpr = 0.01, .options = {{"fingerprint", "7"}}}), "chained");
  EXPECT_EQ(mode_of({.capacity = 100, .fpr = 0.01, .options = {{"mode", "basic"}}}), "basic");
  for (const double target : {0.3, 0.1, 0.02, 0.003, 1e-5}) {
    const infini f = infini::create({.capacity = 800, .fpr = target}).value();
    EXPECT_LE(growing_rate(f.fingerprint(), 0.8, 62), target);
  }
}

// Section 4.2: ceil((X + 1) / (F + 1)) tables; fewer where fingerprints grow.
TEST(infini, chain_is_as_long_as_the_paper_says) {
  for (const char* mode : endless_modes) {
    for (const unsigned fingerprint : {1u, 2u, 3u}) {
      infini f = make(64, fingerprint, mode);
      std::uint64_t next = 0;
      for (unsigned x = 0; x <= 10; ++x) {
        while (f.expansions() < x) ASSERT_EQ(f.insert(keys(1, next++)[0]), insert_result::inserted);
        const bool growing = mode == std::string_view("growing");
        EXPECT_EQ(f.tables(), growing ? growing_filters(fingerprint, x) : infini_filters(fingerprint, x))
            << mode << ", F = " << fingerprint << ", X = " << x;
        ASSERT_TRUE(f.validate().ok()) << f.validate().message();
      }
      EXPECT_TRUE(has_all(f, keys(next)));
    }
  }
}

}  // namespace
}  // namespace tamis::test
