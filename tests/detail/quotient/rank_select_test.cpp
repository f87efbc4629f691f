#include "tamis/detail/quotient/rank_select.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <vector>

#include "tamis/detail/base/random.hpp"
#include "tamis/detail/io/archive.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;

using plain_table = rank_select<>;
using short_blocks = rank_select<rank_select_layout{.block_slots = 48}>;
using coded_table = rank_select<rank_select_layout{.coded = true}>;
using labelled_table = rank_select<rank_select_layout{.labels = true}>;
using high_bit_table = rank_select<rank_select_layout{.high_bit_in_header = true}>;

// A table beside what it must hold: every quotient's run as a list.
template <class Table>
struct pair_of_tables {
  Table real;
  std::map<std::uint64_t, std::vector<std::uint64_t>> model;

  pair_of_tables(std::uint64_t quotients, std::uint64_t spare, unsigned width)
      : real(Table::make(quotients, spare, width).value()) {}

  // Where the last run ends if the runs are laid out as the engine promises.
  std::uint64_t model_end(std::uint64_t extra_quotient) const {
    std::uint64_t end = 0;
    bool seen = false;
    const auto place = [&](std::uint64_t quotient, std::uint64_t size) { end = std::max(end, quotient) + size; };
    for (const auto& [quotient, values] : model) {
      if (!seen && extra_quotient < quotient) place(extra_quotient, 1), seen = true;
      place(quotient, values.size() + (quotient == extra_quotient));
      seen |= quotient == extra_quotient;
    }
    if (!seen) place(extra_quotient, 1);
    return end;
  }

  // Inserts at a place of the run that `random` chooses.
  void insert(std::uint64_t quotient, std::uint64_t value, random_source& random) {
    const auto gap = real.find_gap(quotient);
    ASSERT_EQ(gap.has_value(), model_end(quotient) <= real.slots()) << "quotient " << quotient;
    if (!gap) return;
    std::vector<std::uint64_t>& run = model[quotient];
    ASSERT_EQ(gap->run.size(), run.size());
    auto chosen = *gap;
    // Possible just where the quotient's own slot is the free one, and tried up to a certain load.
    const bool can_open_at_home = gap->free == quotient && real.tries_own_slots();
    const bool asks = random.chance(0.5);
    const bool is_open = asks && real.open_at_home(quotient);
    ASSERT_EQ(is_open, asks && can_open_at_home);
    if (!run.empty()) {
      const std::uint64_t where = random.below(run.size() + 1);
      chosen.at = gap->run.first + where;
      if (where == run.size()) chosen.free = std::max(gap->free, chosen.at);
    }
    run.insert(run.begin() + static_cast<std::ptrdiff_t>(chosen.at - gap->run.first), value);
    if (!is_open && !is_opened_in_block(quotient, *gap, chosen.at, value)) real.open(quotient, chosen);
    set(chosen.at, value);
  }
  // Tried in every other slot where it would open the right one: in its block just where the free slot lies in that, and with
  // other blocks' slots where the run ends in its own block or the next.
  bool is_opened_in_block(std::uint64_t quotient, const typename Table::gap& gap, std::uint64_t at, std::uint64_t value) {
    if constexpr (requires { real.open_in_block(quotient, value); }) {
      if (at != gap.at || at % 2 == 0) return false;
      bool is_open = false;
      if constexpr (Table::moves_blocks) {
        const bool possible = ends_near(quotient, gap.run.last);
        is_open = real.open_in_two(quotient, value);
        EXPECT_EQ(is_open, possible);
      } else {
        is_open = real.open_in_block(quotient, value);
        EXPECT_EQ(is_open, in_block_of(quotient, gap.free));
      }
      if (is_open) {
        EXPECT_EQ(real.value(at), value);
      }
      return is_open;
    }
    return false;
  }
  // Does the quotient's run end in its own block or the next, as far as their headers say?
  bool ends_near(std::uint64_t quotient, std::uint64_t run_end) const {
    const std::uint64_t block = quotient / Table::block_slots;
    return in_block_of(quotient, run_end) || (real.header(block).offset < Table::block_slots && block + 1 < real.blocks() &&
                                              run_end < (block + 2) * Table::block_slots);
  }
  void set(std::uint64_t slot, std::uint64_t value) {
    real.set_value(slot, value);
    if constexpr (requires { real.label(0); }) real.set_label(slot, static_cast<std::uint8_t>(value * 7));
  }
  static bool in_block_of(std::uint64_t quotient, std::uint64_t slot) {
    return slot / Table::block_slots == quotient / Table::block_slots;
  }

  // In front of the last slot of the run, within its block.  Requires: no value is zero.
  void insert_in_block(std::uint64_t quotient, std::uint64_t value) {
    const auto gap = real.find_gap(quotient);
    const bool possible = gap && in_block_of(quotient, gap->free) && real.width() >= 8;
    ASSERT_EQ(real.insert_in_block(quotient, value), possible) << "quotient " << quotient;
    if (!possible) return;
    std::vector<std::uint64_t>& run = model[quotient];
    run.insert(run.begin() + static_cast<std::ptrdiff_t>(gap->at - gap->run.first), value);
  }

  void erase(std::uint64_t quotient, std::uint64_t which) {
    const slot_range run = real.find(quotient);
    ASSERT_LT(which, run.size());
    auto& values = model[quotient];
    if constexpr (requires { real.erase_in_block(quotient, 0); }) {
      // Which of several equal ones goes makes no difference but for the order.
      const auto first = static_cast<std::uint64_t>(std::find(values.begin(), values.end(), values[which]) - values.begin());
      const std::uint64_t end = real.end_of_close(run.first + first);
      if (values[which] % 2 == 0) {
        bool possible = in_block_of(quotient, end);
        if constexpr (Table::moves_blocks) {
          possible |= ends_near(quotient, run.last - 1) && offset_is_small(quotient, run.last) && offsets_known(end, quotient);
          ASSERT_EQ(real.erase_in_two(quotient, values[which]), possible ? std::optional(true) : std::nullopt);
        } else {
          ASSERT_EQ(real.erase_in_block(quotient, values[which]), possible ? std::optional(true) : std::nullopt);
        }
        if (possible) return forget(quotient, first);
      }
    }
    if constexpr (requires { real.close_alone(quotient); }) {
      // Possible just where the run is its own slot and closing it moves nothing, and tried up to a certain load.
      const bool is_alone = run.first == quotient && run.size() == 1 && real.end_of_close(quotient) == quotient + 1;
      ASSERT_EQ(real.is_alone(quotient), is_alone && real.tries_own_slots());
      real.is_alone(quotient) ? real.close_alone(quotient) : real.close(quotient, run, run.first + which);
    } else {
      real.close(quotient, run, run.first + which);
    }
    forget(quotient, which);
  }
  // The run ends in its own block, what moves ends before the table does, and all offsets on the way are known.
  bool can_close_ahead(std::uint64_t run_end, std::uint64_t end, std::uint64_t quotient) const {
    return in_block_of(quotient, run_end) && offsets_known(end, quotient);
  }
  bool offset_is_small(std::uint64_t quotient, std::uint64_t run_end) const {
    return in_block_of(quotient, run_end) || real.header(quotient / Table::block_slots).offset < Table::block_slots;
  }
  bool offsets_known(std::uint64_t end, std::uint64_t quotient) const {
    bool possible = end < real.slots();
    for (std::uint64_t block = quotient / Table::block_slots + 1; possible && block <= end / Table::block_slots; ++block) {
      possible = real.header(block).offset != saturated_offset;
    }
    return possible;
  }
  void forget(std::uint64_t quotient, std::uint64_t which) {
    auto& values = model[quotient];
    values.erase(values.begin() + static_cast<std::ptrdiff_t>(which));
    if (values.empty()) model.erase(quotient);
  }

  void expect_equal() const {
    const status valid = real.validate();
    ASSERT_TRUE(valid.ok()) << valid.message();
    auto expected = model.begin();
    std::uint64_t end = 0;
    real.for_each_run([&](std::uint64_t quotient, slot_range run) {
      ASSERT_NE(expected, model.end());
      ASSERT_EQ(quotient, expected->first);
      ASSERT_EQ(run.size(), expected->second.size());
      ASSERT_EQ(run.first, std::max(end, quotient));
      end = run.last;
      ASSERT_EQ(real.find(quotient), run);
      for (std::uint64_t i = 0; i < run.size(); ++i) {
        ASSERT_EQ(real.value(run.first + i), expected->second[i]) << "slot " << run.first + i;
        if constexpr (requires { real.label(0); }) {
          ASSERT_EQ(real.label(run.first + i), static_cast<std::uint8_t>(expected->second[i] * 7));
        }
      }
      ++expected;
    });
    ASSERT_EQ(expected, model.end());
    for (std::uint64_t block = 0; block < real.blocks(); ++block) expect_runs_of_block(block);
  }

  void expect_runs_of_block(std::uint64_t block) const {
    std::vector<std::uint64_t> expected;
    std::vector<std::uint64_t> found;
    real.for_each_run([&](std::uint64_t quotient, slot_range run) {
      if (run.first < (block + 1) * Table::block_slots && run.last > block * Table::block_slots) expected.push_back(quotient);
    });
    real.for_each_run_in(block, [&](std::uint64_t quotient, slot_range) { found.push_back(quotient); });
    ASSERT_EQ(found, expected) << "block " << block;
  }

  void expect_lookups(random_source& random) const {
    const std::uint64_t most = ~std::uint64_t{0} >> (64 - real.width());
    for (std::uint64_t quotient = 0; quotient < real.quotients(); ++quotient) {
      const auto at = model.find(quotient);
      const std::vector<std::uint64_t> none;
      const auto& run = at == model.end() ? none : at->second;
      for (const std::uint64_t value : run) ASSERT_TRUE(real.contains(quotient, value));
      for (int i = 0; i < 3; ++i) {
        const std::uint64_t value = random() & most;
        ASSERT_EQ(real.contains(quotient, value), std::find(run.begin(), run.end(), value) != run.end())
            << "quotient " << quotient << " value " << value;
      }
    }
  }
};

// How quotients are drawn: evenly, or so that clusters are long, cross many blocks and saturate offsets.
struct crowd {
  const char* name;
  std::uint64_t (*draw)(random_source&, std::uint64_t quotients);
};
constexpr crowd crowds[] = {
    {"even", [](random_source& random, std::uint64_t n) { return random.below(n); }},
    {"one quotient", [](random_source&, std::uint64_t n) { return n / 3; }},
    {"first quotient", [](random_source&, std::uint64_t) { return std::uint64_t{0}; }},
    {"last quotient", [](random_source&, std::uint64_t n) { return n - 1; }},
    {"block borders",
     [](random_source& random, std::uint64_t n) { return std::min(n - 1, random.below(n / 64 + 1) * 64 + random.below(3)); }},
    {"ends of blocks", [](random_source& random,
                          std::uint64_t n) { return std::min(n - 1, random.below(n / 64 + 1) * 64 + 61 + random.below(3)); }},
    {"a corner", [](random_source& random, std::uint64_t n) { return random.below(n / 8 + 1); }},
};

template <class Table>
void churn(std::uint64_t quotients, std::uint64_t spare, unsigned width, const crowd& drawn, std::uint64_t seed) {
  SCOPED_TRACE(testing::Message() << quotients << " quotients, width " << width << ", " << drawn.name << ", seed " << seed);
  random_source random(seed);
  pair_of_tables<Table> tables(quotients, spare, width);
  const std::uint64_t most = ~std::uint64_t{0} >> (64 - width);
  const std::uint64_t rounds = 3 * tables.real.slots();
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const bool filling = round % (2 * tables.real.slots()) < tables.real.slots() + tables.real.slots() / 4;
    if (random.chance(filling ? 0.9 : 0.25) || tables.model.empty()) {
      tables.insert(drawn.draw(random, quotients), random() & most, random);
    } else {
      auto at = tables.model.lower_bound(drawn.draw(random, quotients));
      if (at == tables.model.end()) at = tables.model.begin();
      tables.erase(at->first, random.below(at->second.size()));
    }
    if (testing::Test::HasFatalFailure()) return;
    if (round % 97 == 0 || round + 1 == rounds) tables.expect_equal();
    if (testing::Test::HasFatalFailure()) return;
    if constexpr (requires { tables.real.contains(0, 0); }) {
      if (round % 331 == 0) tables.expect_lookups(random);
    }
    if (testing::Test::HasFatalFailure()) return;
  }
}

// Calls body(crowd, width, random) for all crowds and these widths, until something is fatally wrong.
template <class Body>
void with_crowds(std::initializer_list<unsigned> widths, std::uint64_t seed, Body body) {
  for (const crowd& drawn : crowds) {
    for (const unsigned width : widths) {
      SCOPED_TRACE(testing::Message() << "width " << width << ", " << drawn.name << ", seed " << ++seed);
      random_source random(seed);
      body(drawn, width, random);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

// Values that are never zero, though their low bytes often are.
TEST(rank_select, inserts_in_a_block_as_elsewhere) {
  with_crowds({7u, 8u, 9u, 13u, 40u, 64u}, 4711, [](const crowd& drawn, unsigned width, random_source& random) {
    pair_of_tables<plain_table> tables(300, 70, width);
    const std::uint64_t most = ~std::uint64_t{0} >> (64 - width);
    std::uint64_t in_block = 0;
    for (std::uint64_t round = 0; round < 1000; ++round) {
      if (random.chance(round % 400 < 250 ? 0.9 : 0.25) || tables.model.empty()) {
        const std::uint64_t quotient = drawn.draw(random, 300);
        std::uint64_t value = random() & most;
        if (random.chance(0.3)) value = value >> 8 << 8;
        const std::uint64_t before = tables.real.used();
        tables.insert_in_block(quotient, std::max<std::uint64_t>(value, 1));
        in_block += tables.real.used() - before;
        if (tables.real.used() == before) tables.insert(quotient, std::max<std::uint64_t>(value, 1), random);
      } else {
        auto at = tables.model.lower_bound(drawn.draw(random, 300));
        if (at == tables.model.end()) at = tables.model.begin();
        tables.erase(at->first, random.below(at->second.size()));
      }
      if (testing::Test::HasFatalFailure()) return;
      if (round % 37 == 0 || round == 999) tables.expect_equal();
      if (testing::Test::HasFatalFailure()) return;
    }
    EXPECT_EQ(in_block != 0, width >= 8);
  });
}

// Changes of runs that lie in one block, tried before those that work anywhere.
TEST(rank_select, changes_runs_in_a_block_as_elsewhere) {
  with_crowds({2u, 8u, 9u, 13u, 40u, 57u}, 815, [](const crowd& drawn, unsigned width, random_source& random) {
    pair_of_tables<high_bit_table> tables(300, 70, width);
    std::uint64_t quick = 0;
    for (std::uint64_t round = 0; round < 1500; ++round) {
      std::uint64_t quotient = drawn.draw(random, 300);
      if (random.chance(round % 400 < 250 ? 0.9 : 0.25) || tables.model.empty()) {
        const std::uint64_t value = random() >> (64 - width);
        const auto gap = tables.real.find_gap(quotient);
        const bool is_quick = gap && gap->run.last / 64 == quotient / 64 && gap->run.size() < 5;
        ASSERT_EQ(tables.real.insert_first(quotient, value, 5), is_quick);
        if (is_quick) {
          tables.model[quotient].insert(tables.model[quotient].begin(), value);
        } else {
          tables.insert(quotient, value, random);
        }
        quick += is_quick;
      } else {
        auto at = tables.model.lower_bound(quotient);
        if (at == tables.model.end()) at = tables.model.begin();
        quotient = at->first;
        const std::uint64_t which = random.below(at->second.size());
        const block_header header = tables.real.header(quotient / 64);
        const auto run = high_bit_table::find_in_block(header, quotient % 64);
        const auto slot = static_cast<unsigned>(tables.real.find(quotient).first + which - quotient / 64 * 64);
        const bool ahead = tables.can_close_ahead(tables.real.find(quotient).last,
                                                  tables.real.end_of_close(quotient / 64 * 64 + slot), quotient);
        const bool is_quick = run.end != 0 && tables.real.close_in_block(quotient, header, run.slots, slot);
        if (!is_quick && ahead) {
          ASSERT_TRUE(tables.real.close_ahead(quotient, header, run.slots, slot));
        }
        if (is_quick || ahead) {
          at->second.erase(at->second.begin() + static_cast<std::ptrdiff_t>(which));
          if (at->second.empty()) tables.model.erase(at);
          ++quick;
        } else {
          tables.erase(quotient, which);
        }
      }
      if (testing::Test::HasFatalFailure()) return;
      if (round % 37 == 0 || round == 1499) tables.expect_equal();
      if (testing::Test::HasFatalFailure()) return;
    }
    EXPECT_NE(quick, 0u);
  });
}

TEST(rank_select, agrees_with_lists_under_churn) {
  std::uint64_t seed = 20261115;
  for (const crowd& drawn : crowds) {
    for (const std::uint64_t quotients : {1, 63, 64, 65, 200, 1000}) {
      churn<plain_table>(quotients, 40, 8, drawn, ++seed);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(rank_select, agrees_for_every_layout_and_width) {
  std::uint64_t seed = 77;
  for (const crowd& drawn : crowds) {
    for (const unsigned width : {1u, 5u, 7u, 9u, 12u, 16u, 33u, 64u}) churn<plain_table>(170, 70, width, drawn, ++seed);
    churn<short_blocks>(170, 70, 8, drawn, ++seed);
    churn<short_blocks>(500, 400, 11, drawn, ++seed);
    churn<coded_table>(170, 70, 8, drawn, ++seed);
    churn<labelled_table>(170, 70, 8, drawn, ++seed);
    for (const unsigned width : {1u, 8u, 9u, 10u, 17u, 33u, 64u}) churn<high_bit_table>(170, 70, width, drawn, ++seed);
    if (HasFatalFailure()) return;
  }
}

TEST(rank_select, offsets_beyond_a_byte_are_found_by_walking) {
  for (const std::uint64_t quotient : {0, 63, 64, 127, 500}) {
    random_source random(quotient);
    pair_of_tables<plain_table> tables(501, 1500, 8);
    for (std::uint64_t i = 0; i < 700; ++i) tables.insert(quotient, i & 255, random);
    for (std::uint64_t i = 0; i < 60; ++i) tables.insert(random.below(501), i, random);
    tables.expect_equal();
    tables.expect_lookups(random);
    while (!tables.model.empty() && !HasFatalFailure()) {
      const auto at = random.chance(0.9) ? tables.model.lower_bound(quotient) : tables.model.begin();
      const auto chosen = at == tables.model.end() ? tables.model.begin() : at;
      tables.erase(chosen->first, random.below(chosen->second.size()));
      if (tables.real.used() % 37 == 0) tables.expect_equal();
    }
    EXPECT_EQ(tables.real, plain_table::make(501, 1500, 8).value()) << "an emptied table is not like a new one";
  }
}

TEST(rank_select, codes_stay_with_their_block) {
  random_source random(5);
  coded_table table = coded_table::make(300, 100, 8).value();
  std::vector<std::uint64_t> codes;
  for (std::uint64_t block = 0; block < table.blocks(); ++block) {
    codes.push_back(random() >> 8);
    table.set_code(block, codes.back());
  }
  for (int i = 0; i < 350; ++i) {
    const std::uint64_t quotient = random.below(300);
    if (const auto gap = table.find_gap(quotient)) table.open(quotient, *gap);
  }
  for (std::uint64_t block = 0; block < table.blocks(); ++block) EXPECT_EQ(table.code(block), codes[block]);
}

// Where a table keeps its values' highest bits is not seen in files.
TEST(rank_select, is_saved_the_same_with_bits_in_the_headers) {
  for (const unsigned width : {7u, 9u, 13u, 57u}) {
    random_source random(width);
    pair_of_tables<high_bit_table> high_bit_in_header(300, 100, width);
    pair_of_tables<plain_table> plain(300, 100, width);
    for (int i = 0; i < 250; ++i) {
      const std::uint64_t quotient = random.below(300);
      const std::uint64_t value = random() >> (64 - width);
      random_source same(static_cast<std::uint64_t>(i));
      random_source again(static_cast<std::uint64_t>(i));
      high_bit_in_header.insert(quotient, value, same);
      plain.insert(quotient, value, again);
    }
    if (width < 9) {  // there is no bit for the headers
      EXPECT_EQ(high_bit_in_header.real.bits(), plain.real.bits());
    }
    const auto saved = [](const auto& table) {
      memory_sink sink;
      writer out(sink);
      out(table);
      EXPECT_TRUE(out.finish().ok());
      return sink.bytes();
    };
    const auto bytes = saved(high_bit_in_header.real);
    EXPECT_EQ(bytes, saved(plain.real));
    memory_source source(bytes);
    reader in(source);
    high_bit_table loaded;
    in(loaded);
    ASSERT_TRUE(in.ok());
    EXPECT_EQ(loaded, high_bit_in_header.real);
  }
}

TEST(rank_select, spends_what_the_paper_says) {
  const std::uint64_t slots = 1 << 20;
  const auto per_slot = [&](std::uint64_t bits) { return static_cast<double>(bits) / static_cast<double>(slots); };
  EXPECT_NEAR(per_slot(plain_table::make(slots, 0, 8).value().bits()), 8 + 2.125, 0.001);
  EXPECT_NEAR(per_slot(plain_table::make(slots, 0, 13).value().bits()), 13 + 2.125, 0.001);
  EXPECT_NEAR(per_slot(coded_table::make(slots, 0, 8).value().bits()), 8 + 3, 0.001);
  EXPECT_NEAR(per_slot(high_bit_table::make(slots, 0, 9).value().bits()), 9 + 2.125, 0.001);
  EXPECT_NEAR(per_slot(high_bit_table::make(slots, 0, 13).value().bits()), 13 + 2.125, 0.001);
  EXPECT_NEAR(per_slot(high_bit_table::make(slots, 0, 7).value().bits()), 7 + 2.125, 0.001);
  EXPECT_NEAR(per_slot(high_bit_table::make(slots, 0, 13, false).value().bits()), 13 + 2.125, 0.001);
}

TEST(rank_select, append_builds_what_inserts_build) {
  random_source random(9);
  for (int round = 0; round < 20; ++round) {
    pair_of_tables<plain_table> tables(700, 300, 12);
    for (int i = 0; i < 600; ++i) {
      tables.insert(round % 2 == 0 ? random.below(700) : random.below(20) * 35, random() & 4095, random);
    }
    plain_table built = plain_table::make(700, 300, 12).value();
    std::uint64_t end = 0;
    for (const auto& [quotient, values] : tables.model) {
      const auto run = built.append(quotient, values.size(), end);
      ASSERT_TRUE(run.has_value());
      for (std::uint64_t i = 0; i < run->size(); ++i) built.set_value(run->first + i, values[i]);
    }
    EXPECT_EQ(built, tables.real);
  }
  plain_table full = plain_table::make(64, 0, 8).value();
  std::uint64_t end = 0;
  EXPECT_TRUE(full.append(3, 61, end).has_value());
  EXPECT_FALSE(full.append(4, 1, end).has_value());
}

// Every single flipped bit of the metadata is either noticed or leaves a table that works.
TEST(rank_select, damaged_tables_are_noticed_or_harmless) {
  random_source random(11);
  pair_of_tables<plain_table> tables(150, 400, 8);
  for (int i = 0; i < 120; ++i) tables.insert(random.below(150), random() & 255, random);
  for (int i = 0; i < 300; ++i) tables.insert(70, random() & 255, random);
  memory_sink sink;
  writer out(sink);
  out(tables.real);
  ASSERT_TRUE(out.finish().ok());
  std::uint64_t noticed = 0;
  for (std::size_t byte = 0; byte < sink.bytes().size(); ++byte) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::vector<std::byte> damaged = sink.bytes();
      damaged[byte] ^= std::byte{1} << bit;
      memory_source source(damaged);
      reader in(source);
      plain_table loaded;
      in(loaded);
      if (!in.ok()) {
        ++noticed;
        continue;
      }
      for (std::uint64_t quotient = 0; quotient < loaded.quotients(); quotient += 7) {
        loaded.contains(quotient, 0);
        if (const auto gap = loaded.find_gap(quotient)) loaded.open(quotient, *gap);
        const slot_range run = loaded.find(quotient);
        if (!run.empty()) loaded.close(quotient, run, run.first);
      }
      ASSERT_TRUE(loaded.validate().ok());
    }
  }
  EXPECT_GT(noticed, 17u * 8u * tables.real.blocks() / 2);
}

}  // namespace
