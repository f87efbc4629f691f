#include "tamis/filters/utaf.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tamis/detail/base/random.hpp"
#include "tamis/memory_remote.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;

digest draw(random_source& random) { return {random(), random()}; }

unsigned largest_selector(const utaf& filter) {
  unsigned largest = 0;
  filter.for_each_symbol([&](std::uint8_t selector) { largest = std::max<unsigned>(largest, selector); });
  return largest;
}

// One key, and strangers that its slot accepts, until the selector has gone through its byte several times. Half of all digests
// of the quotient agree in one bit, so each of them takes about two selectors.
TEST(utaf, selectors_beyond_a_byte_start_anew) {
  for (const unsigned remainder : {1u, 2u, 8u}) {
    SCOPED_TRACE(remainder);
    random_source random(remainder);
    utaf filter = utaf::create({.capacity = 1, .fpr = 0.5, .options = {{"remainder", std::to_string(remainder)}}}).value();
    memory_remote remote;
    const digest x = draw(random);
    remote.insert(x);
    ASSERT_EQ(filter.insert(x), insert_result::inserted);
    std::vector<digest> wrong;
    unsigned highest = 0;
    std::uint64_t asked = 0;
    for (; filter.resets() < 3; ++asked) {
      ASSERT_LT(asked, 3000000u);
      const digest y = draw(random);
      if (!filter.may_contain(y)) continue;
      ASSERT_EQ(filter.adapt(y, remote), adapt_result::fixed);
      ASSERT_FALSE(filter.may_contain(y));
      ASSERT_TRUE(filter.may_contain(x));
      highest = std::max(highest, largest_selector(filter));
    }
    EXPECT_GE(highest, 250u);
    EXPECT_LT(largest_selector(filter), 50u);  // the third time has only begun
    EXPECT_TRUE(filter.validate().ok());
  }
}

// A selector of 255 has no next one. Its slot goes back, and only its own.
TEST(utaf, one_slot_that_starts_anew_leaves_its_neighbours_alone) {
  random_source random(4);
  utaf filter = utaf::create({.capacity = 60, .fpr = 0.5, .options = {{"remainder", "1"}}}).value();
  memory_remote remote;
  std::vector<digest> members;
  for (int i = 0; i < 60; ++i) {
    members.push_back(draw(random));
    remote.insert(members.back());
    ASSERT_EQ(filter.insert(members.back()), insert_result::inserted);
  }
  const auto selectors = [&] {
    std::vector<unsigned> all;
    filter.for_each_symbol([&](std::uint8_t selector) { all.push_back(selector); });
    return all;
  };
  while (filter.resets() < 20) {
    const digest y = draw(random);
    const std::vector<unsigned> before = selectors();
    const std::uint64_t resets = filter.resets();
    if (filter.adapt(y, remote) != adapt_result::fixed) continue;
    const std::vector<unsigned> after = selectors();
    std::uint64_t back = 0;
    for (std::size_t i = 0; i < after.size(); ++i) back += after[i] < before[i];
    ASSERT_EQ(back, filter.resets() - resets);
    for (const digest d : members) ASSERT_TRUE(filter.may_contain(d));
  }
}

// The digest has 128 bits; selectors go on with what is derived from it, and do not come round to its first bits again.
TEST(utaf, selectors_continue_past_the_digest) {
  constexpr std::uint64_t keys = 15565;
  random_source random(20);
  utaf filter = utaf::create({.capacity = keys, .fpr = 1.0 / 256}).value();
  memory_remote remote;
  std::vector<digest> members;
  for (std::uint64_t i = 0; i < keys; ++i) {
    members.push_back(draw(random));
    remote.insert(members.back());
    ASSERT_EQ(filter.insert(members.back()), insert_result::inserted);
  }
  members.resize(60);
  for (const digest x : members) {
    digest y = x;
    y.low ^= 1;  // differs in the last bit only, which no remainder of the first digest has
    ASSERT_TRUE(filter.may_contain(y));
    ASSERT_EQ(filter.adapt(y, remote), adapt_result::fixed);
    ASSERT_FALSE(filter.may_contain(y));
    ASSERT_TRUE(filter.may_contain(x));
  }
  EXPECT_GE(largest_selector(filter), (128u - 14u) / 8u - 1);
}

// Labels move with their slots: neither inserts nor erases of what is alone under its selector need anybody.
TEST(utaf, inserts_need_no_remote_after_adapting) {
  random_source random(21);
  utaf filter = utaf::create({.capacity = 4000, .fpr = 1.0 / 16}).value();
  memory_remote remote;
  std::vector<digest> members;
  for (int i = 0; i < 4000; ++i) {
    members.push_back(draw(random));
    remote.insert(members.back());
    ASSERT_EQ(filter.insert(members.back()), insert_result::inserted);
    for (int j = 0; j < 20; ++j) {
      const digest y = draw(random);
      if (filter.may_contain(y)) {
        ASSERT_EQ(filter.adapt(y, remote), adapt_result::fixed);
      }
    }
  }
  EXPECT_EQ(filter.resets(), 0u);
  EXPECT_GT(largest_selector(filter), 2u);
  for (const digest d : members) ASSERT_TRUE(filter.may_contain(d));
}

TEST(utaf, space_is_a_byte_more_than_an_rsqf) {
  const utaf filter = utaf::create({.capacity = 996147, .fpr = 1.0 / 256}).value();
  EXPECT_NEAR(static_cast<double>(filter.bits().fast) / 1048576.0, 8 + 10.125, 0.01);
}

}  // namespace
