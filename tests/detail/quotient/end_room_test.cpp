#include "tamis/detail/quotient/end_room.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tamis/detail/base/random.hpp"
#include "tamis/detail/quotient/rank_select.hpp"
#include "tamis/detail/quotient/three_bit.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;

template <class Table>
class end_rooms : public testing::Test {};
using tables = testing::Types<rank_select<>, rank_select<rank_select_layout{.block_slots = 48}>,
                              rank_select<rank_select_layout{.coded = true}>, rank_select<rank_select_layout{.labels = true}>,
                              rank_select<rank_select_layout{.high_bit_in_header = true}>, three_bit>;
TYPED_TEST_SUITE(end_rooms, tables);

template <class Table>
bool insert(Table& table, std::uint64_t quotient, std::uint64_t value) {
  const auto gap = find_or_make_gap(table, quotient);
  if (!gap) return false;
  table.open(quotient, *gap);
  table.set_value(gap->at, value);
  return true;
}

// All runs, with the values of their slots.
template <class Table>
std::vector<std::vector<std::uint64_t>> content(const Table& table) {
  std::vector<std::vector<std::uint64_t>> all(table.quotients());
  table.for_each_run([&](std::uint64_t quotient, slot_range run) {
    for (std::uint64_t slot = run.first; slot < run.last; ++slot) all[quotient].push_back(table.value(slot));
  });
  return all;
}

TYPED_TEST(end_rooms, wider_table_holds_the_same) {
  for (const unsigned width : {1u, 7u, 8u, 9u, 12u, 33u, 56u}) {
    random_source random(width);
    TypeParam table = TypeParam::make(300, 40, width).value();
    for (int i = 0; i < 290; ++i)
      ASSERT_TRUE(insert(table, 299 - random.below(300) * random.below(300) / 300, random.below(2)));
    for (const std::uint64_t more : {0u, 1u, 63u, 64u, 1000u}) {
      const std::uint64_t spare = table.slots() - table.quotients() + more;
      const TypeParam wider = table.widened(spare).value();
      EXPECT_GE(wider.slots(), table.quotients() + spare);
      EXPECT_LT(wider.slots(), table.quotients() + spare + TypeParam::block_slots);
      EXPECT_TRUE(wider.validate().ok()) << wider.validate().message();
      EXPECT_EQ(wider.width(), width);
      EXPECT_EQ(wider.used(), table.used());
      EXPECT_EQ(content(wider), content(table));
    }
  }
}

// As many slots as there are quotients fit, whichever run they belong to; five times more room is enough; and a new slot at the
// end of a long run moves no other run.
TYPED_TEST(end_rooms, every_quotient_has_room_for_as_many_slots_as_there_are_quotients) {
  for (const std::uint64_t quotients : {1u, 2u, 63u, 64u, 65u, 1000u, 5000u}) {
    for (const std::uint64_t quotient : {std::uint64_t{0}, quotients / 2, quotients - 1}) {
      SCOPED_TRACE(testing::Message() << quotient << " of " << quotients);
      TypeParam table = TypeParam::make(quotients, 8, 8).value();
      const std::uint64_t at_first = table.slots();
      std::uint64_t moved = 0;
      unsigned widened = 0;
      for (std::uint64_t i = 0; i < quotients; ++i) {
        const std::uint64_t slots = table.slots();
        const auto gap = find_or_make_gap(table, quotient);
        ASSERT_TRUE(gap.has_value()) << i;
        moved += gap->free - gap->at;
        widened += table.slots() != slots;
        table.open(quotient, *gap);
        table.set_value(gap->at, i % 256);
      }
      EXPECT_LE(moved, quotients);
      EXPECT_LE(widened, 5u);
      EXPECT_LE(table.slots(), at_first + quotients + 2 * TypeParam::block_slots);
      EXPECT_EQ(table.find(quotient).size(), quotients);
      EXPECT_TRUE(table.validate().ok());
      // Now it is full, and stays as it is.
      while (insert(table, quotient, 1)) {
      }
      EXPECT_GE(table.used(), quotients);
      const TypeParam full = table;
      EXPECT_FALSE(insert(table, quotients - 1, 1));
      EXPECT_EQ(table, full);
      while (!table.find(quotient).empty()) table.close(quotient, table.find(quotient), table.find(quotient).first);
      EXPECT_EQ(table.used(), 0u);
      EXPECT_TRUE(table.validate().ok());
    }
  }
}

TYPED_TEST(end_rooms, appended_runs_find_room) {
  TypeParam table = TypeParam::make(1000, 8, 8).value();
  std::uint64_t end = 0;
  for (const std::uint64_t quotient : {3u, 990u, 998u}) {
    const auto run = append_with_room(table, quotient, 300, end);
    ASSERT_TRUE(run.has_value());
    EXPECT_EQ(run->size(), 300u);
    for (std::uint64_t slot = run->first; slot < run->last; ++slot) table.set_value(slot, quotient % 256);
  }
  EXPECT_FALSE(append_with_room(table, 999, 2000, end));
  EXPECT_TRUE(append_with_room(table, 999, 100, end));
  EXPECT_EQ(table.used(), 1000u);
  EXPECT_TRUE(table.validate().ok());
}

}  // namespace
