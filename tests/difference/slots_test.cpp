// Slots of a table that moved: found, coded and made again; and tables that lie somewhere else are refused.

#include <gtest/gtest.h>

#include "src/difference/slot_edits.hpp"
#include "tamis/any_filter.hpp"
#include "tamis/detail/base/random.hpp"
#include "tests/support/bytes.hpp"

namespace tamis::difference {
namespace {

using test::byte_vector;

// A table of 512 slots of 7 + 1 bits in two planes, with offsets between.
slot_table table_of_test() { return {512, {{5, 56, 7}, {453 + 8, 17, 1}}, {{453 + 16, 17, 8}}}; }
constexpr std::size_t payload_bytes = 453 + 8 * 17;

byte_vector random_payload(std::uint64_t seed) {
  detail::random_source draw(seed);
  byte_vector made(payload_bytes);
  for (std::byte& b : made) b = static_cast<std::byte>(draw.below(256));
  return made;
}

TEST(slots, are_read_as_they_were_written) {
  const slot_table table{128, {{3, 56, 7}, {120, 300, 33}, {800, 100, 12}}, {}};
  ASSERT_TRUE(table.lies_in(1000));
  byte_vector bytes(1000);
  detail::random_source draw(1);
  std::vector<std::uint64_t> values;
  for (int round = 0; round < 2; ++round) {  // over what was there, too
    values.clear();
    for (std::uint64_t i = 0; i < table.slots; ++i) {
      values.push_back(draw() & ((std::uint64_t{1} << 52) - 1));
      write_slot(table, bytes, i, values.back());
    }
  }
  for (std::uint64_t i = 0; i < table.slots; ++i) ASSERT_EQ(read_slot(table, bytes, i), values[i]) << i;
}

TEST(slots, edits_are_replayed) {
  const slot_table table = table_of_test();
  ASSERT_TRUE(table.lies_in(payload_bytes));
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const byte_vector old = random_payload(seed);
    byte_vector wanted = old;
    detail::random_source draw(seed);
    for (int change = 0; change < 8; ++change) {  // an insert moves slots up to some place, an erase moves them back
      const byte_vector before = wanted;
      const std::uint64_t at = draw.below(400);
      const std::uint64_t end = at + 1 + draw.below(100);
      slot_editor into(table, before, wanted);
      into.copy(at);
      if (draw.below(2) == 0) {
        into.insert(draw.below(256));
        into.copy(end - at);
        into.skip(1);
      } else {
        into.skip(1);
        into.copy(end - at);
        into.insert(0);
      }
      into.copy(into.left());
    }
    bit_encoder to;
    byte_vector made = old;
    put_slot_edits(to, table, old, wanted, made);
    const byte_vector code = std::move(to).finish();
    byte_vector again = old;
    slot_editor into(table, old, again);
    bit_decoder from(code);
    ASSERT_TRUE(slot_edit_models().replay(from, into, table)) << seed;
    ASSERT_TRUE(from.at_end());
    ASSERT_TRUE(again == made) << seed;
    std::size_t wrong = 0;
    for (std::uint64_t i = 0; i < table.slots; ++i) wrong += read_slot(table, made, i) != read_slot(table, wanted, i) ? 1 : 0;
    EXPECT_LT(wrong, 80u) << seed;  // of about 400 that moved
    EXPECT_LT(code.size(), 120u) << seed;
  }
}

TEST(slots, tables_outside_the_payload_are_refused) {
  const slot_table good = table_of_test();
  EXPECT_TRUE(good.lies_in(payload_bytes));
  EXPECT_FALSE(good.lies_in(payload_bytes - 1));
  EXPECT_FALSE(good.lies_in(0));
  const auto broken = [&](auto change) {
    slot_table bad = good;
    change(bad);
    return !bad.lies_in(payload_bytes);
  };
  EXPECT_TRUE(broken([](slot_table& t) { t.slots = 0; }));
  EXPECT_TRUE(broken([](slot_table& t) { t.slots = 100; }));
  EXPECT_TRUE(broken([](slot_table& t) { t.slots = ~std::uint64_t{63}; }));
  EXPECT_TRUE(broken([](slot_table& t) { t.slots = 576; }));
  EXPECT_TRUE(broken([](slot_table& t) { t.planes.clear(); }));
  EXPECT_TRUE(broken([](slot_table& t) { t.planes[0].width = 0; }));
  EXPECT_TRUE(broken([](slot_table& t) { t.planes[0].width = 64; }));
  EXPECT_TRUE(broken([](slot_table& t) { t.planes[0].width = ~0u; }));
  EXPECT_TRUE(broken([](slot_table& t) { t.planes[0].stride = 55; }));
  EXPECT_TRUE(broken([](slot_table& t) { t.planes[0].stride = ~std::uint64_t{0}; }));
  EXPECT_TRUE(broken([](slot_table& t) { t.planes[0].begin = ~std::uint64_t{0}; }));
  EXPECT_TRUE(broken([&](slot_table& t) { t.planes.assign(60, good.planes[1]), t.planes.push_back(good.planes[0]); }));
  EXPECT_TRUE(broken([](slot_table& t) { t.offsets[0].width = 7; }));
  EXPECT_TRUE(broken([](slot_table& t) { t.offsets[0].begin += 1; }));
  EXPECT_TRUE(broken([](slot_table& t) { t.offsets.push_back(t.offsets[0]); }));
}

TEST(slots, tables_of_quotient_filters_are_found) {
  for (const char* kind : {"rsqf", "cqf", "utaf", "exaf", "quotient"}) {
    for (const double fpr : {0.1, 0.01, 0.001, 0.00001}) {
      const byte_vector file = any_filter::create(kind, {.capacity = 5000, .fpr = fpr}).value().save_bytes();
      const auto tables = find_slot_tables(kind, test::payload_of(file));
      ASSERT_EQ(tables.size(), 1u) << kind << fpr;
      EXPECT_GE(tables[0].slots, 5000u);
      EXPECT_EQ(tables[0].slots % group_slots, 0u);
    }
  }
  EXPECT_TRUE(find_slot_tables("rsqf", byte_vector(100)).empty());
  EXPECT_TRUE(find_slot_tables("rsqf", byte_vector(5000, std::byte{0xff})).empty());
  EXPECT_TRUE(find_slot_tables("bloom", byte_vector(5000)).empty());
}

}  // namespace
}  // namespace tamis::difference
