#include "tamis/detail/bits/sticky_counters.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tamis/detail/base/random.hpp"
#include "tamis/detail/io/archive.hpp"
#include "tests/support/bytes.hpp"

namespace tamis {

using namespace detail;

namespace {

constexpr std::uint64_t seed = 7;

template <class Counters>
class sticky : public ::testing::Test {};
using all_widths = ::testing::Types<sticky_counters<1>, sticky_counters<2>, sticky_counters<4>, sticky_counters<8>>;
TYPED_TEST_SUITE(sticky, all_widths);

TYPED_TEST(sticky, counters_agree_with_an_array_that_sticks) {
  SCOPED_TRACE(seed);
  random_source random(seed);
  for (const std::uint64_t size : {1u, 2u, 7u, 8u, 9u, 101u}) {
    TypeParam counters = TypeParam::make(size).value();
    std::vector<unsigned> model(size);
    for (int step = 0; step < 5000; ++step) {
      const std::uint64_t i = random.below(size);
      if (random.chance(0.55)) {
        counters.increment(i);
        model[i] += model[i] < TypeParam::top;
      } else if (model[i] != 0) {
        counters.decrement(i);
        model[i] -= model[i] < TypeParam::top;
      }
    }
    std::uint64_t nonzero = 0;
    for (std::uint64_t i = 0; i < size; ++i) {
      ASSERT_EQ(counters.get(i), model[i]) << i << " of " << size;
      ASSERT_EQ(counters.stuck(i), model[i] == TypeParam::top);
      nonzero += model[i] != 0;
    }
    EXPECT_EQ(counters.count_nonzero(), nonzero);
    EXPECT_TRUE(counters.validate().ok());
  }
}

TYPED_TEST(sticky, top_is_never_left) {
  TypeParam counters = TypeParam::make(3).value();
  for (unsigned i = 0; i < 2 * TypeParam::top + 2; ++i) counters.increment(1);
  EXPECT_EQ(counters.get(1), TypeParam::top);
  for (unsigned i = 0; i < 3 * TypeParam::top; ++i) counters.decrement(1);
  EXPECT_EQ(counters.get(1), TypeParam::top);
  EXPECT_EQ(counters.get(0), 0u);
  EXPECT_EQ(counters.get(2), 0u);
}

TYPED_TEST(sticky, sums_beyond_the_top_stick) {
  for (unsigned a = 0; a <= TypeParam::top; ++a) {
    TypeParam counters = TypeParam::make(3).value();
    counters.add(1, a);
    EXPECT_EQ(counters.get(1), a);
    counters.add(1, TypeParam::top);
    EXPECT_EQ(counters.get(1), TypeParam::top);
    EXPECT_EQ(counters.get(0) + counters.get(2), 0u);
  }
}

TEST(sticky_counters, says_which_of_32_are_more_than_zero) {
  random_source random(5);
  auto counters = sticky_counters<4>::make(320).value();
  for (int round = 0; round < 2000; ++round) {
    const std::uint64_t i = random.below(320);
    if (counters.get(i) == 0 || random.chance(0.4)) {
      for (std::uint64_t left = 1 + random.below(8); left != 0; --left) counters.increment(i);
    } else {
      counters.decrement(i);
    }
    const std::uint64_t first = i / 32 * 32;
    std::uint32_t expected = 0;
    for (unsigned j = 0; j < 32; ++j) expected |= std::uint32_t{counters.get(first + j) != 0} << j;
    ASSERT_EQ(counters.nonzero_of_32(first), expected);
  }
}

TEST(sticky_counters, bits_behind_the_last_counter_are_refused) {
  auto counters = sticky_counters<4>::make(3).value();
  counters.increment(2);
  memory_sink sink;
  writer out(sink);
  out(counters);
  ASSERT_TRUE(out.finish().ok());
  const auto load = [](const test::byte_vector& bytes) {
    memory_source source(bytes);
    reader in(source);
    sticky_counters<4> read;
    in(read);
    return in.state();
  };
  EXPECT_TRUE(load(sink.bytes()).ok());
  test::byte_vector forged = sink.bytes();
  forged.back() |= std::byte{0x10};
  EXPECT_TRUE(test::refused(load(forged), "behind the last"));
  forged = sink.bytes();
  test::put_number(forged, 0, std::uint64_t{5});
  EXPECT_TRUE(test::refused(load(forged), "does not fit"));
}

}  // namespace
}  // namespace tamis
