// A guard that is used wrongly answers; it does not crash.

#include <cmath>
#include <limits>

#include "support.hpp"

namespace tamis::test {
namespace {

// Every member of a guard that has no store any more.
void expect_closed(guarded_store& tested) {
  constexpr std::string_view words = "closed";
  write_batch batch;
  batch.put("a", "1");
  EXPECT_TRUE(refused(tested.put("a", "1"), words));
  EXPECT_TRUE(refused(tested.erase("a"), words));
  EXPECT_TRUE(refused(tested.write(batch), words));
  EXPECT_TRUE(refused(tested.write({}), words));
  EXPECT_TRUE(refused(tested.load(batch), words));
  EXPECT_TRUE(refused(tested.get("a"), words));
  EXPECT_TRUE(refused(tested.contains("a"), words));
  const std::vector<byte_view> keys = {"a", "b"};
  const auto answers = tested.multi_get(keys);
  ASSERT_EQ(answers.size(), 2u);
  for (const auto& answer : answers) EXPECT_TRUE(refused(answer, words));
  EXPECT_TRUE(refused(tested.scan_keys("", [](auto, auto) { return true; }), words));
  EXPECT_TRUE(refused(tested.snapshot(), words));
  EXPECT_TRUE(refused(tested.close(), words));
  tested.wait_until_ready();
  // Whoever knows nothing answers "maybe".
  EXPECT_TRUE(tested.may_contain("a"));
  EXPECT_EQ(tested.expected_fpr(), 1.0);
  EXPECT_EQ(tested.stats().queries, 0u);
  EXPECT_EQ(tested.hash().identity(), hasher().identity());
  EXPECT_NE(tested.recovered().reason.find(words), std::string::npos);
  EXPECT_EQ(tested.bits().fast, 0u);
  EXPECT_EQ(tested.stripes(), 0u);
}

guarded_store opened() { return guarded_store::open(std::make_shared<memory_store>(), options_of("bloom1")).value(); }

TEST(misuse, after_close) {
  guarded_store tested = opened();
  ASSERT_TRUE(tested.put("a", "1"));
  ASSERT_TRUE(tested.close());
  expect_closed(tested);
}

TEST(misuse, after_a_move) {
  guarded_store tested = opened();
  guarded_store other = std::move(tested);
  expect_closed(tested);  // NOLINT(bugprone-use-after-move)
  guarded_store third = opened();
  third = std::move(other);
  expect_closed(other);  // NOLINT(bugprone-use-after-move)
  EXPECT_TRUE(third.put("a", "1"));
}

TEST(misuse, a_closed_guard_can_be_replaced) {
  guarded_store tested = opened();
  ASSERT_TRUE(tested.close());
  tested = opened();
  EXPECT_TRUE(tested.put("a", "1"));
}

TEST(misuse, a_guard_moved_over_itself_stays) {
  guarded_store tested = opened();
  guarded_store& same = tested;
  tested = std::move(same);
  EXPECT_TRUE(tested.put("a", "1"));
}

TEST(misuse, without_a_store) { EXPECT_TRUE(refused(guarded_store::open(nullptr, options_of("bloom1")), "no store")); }

TEST(misuse, a_scan_without_a_visitor) { EXPECT_TRUE(refused(opened().scan_keys("", nullptr), "no function")); }

TEST(misuse, a_share_of_records_that_is_no_share) {
  guard_options options = options_of("bloom1");
  for (const double share : {-0.5, std::nan(""), std::numeric_limits<double>::infinity()}) {
    options.snapshot_share = share;
    EXPECT_TRUE(refused(guarded_store::open(std::make_shared<memory_store>(), options), "snapshot_share")) << share;
  }
  options.snapshot_share = 1e300;
  options.snapshots = true;
  guarded_store tested = guarded_store::open(std::make_shared<memory_store>(), options).value();
  EXPECT_TRUE(tested.put("a", "1"));
}

// Eight bytes each, for statistics: no store is worth 32 GiB of them.
TEST(misuse, more_slots_for_statistics_than_there_can_be) {
  guard_options options = options_of("bloom1");
  for (const std::uint32_t slots : {(1u << 26) + 1, ~std::uint32_t{0}}) {
    options.repeat_detection_slots = slots;
    const auto tested = guarded_store::open(std::make_shared<memory_store>(), options);
    EXPECT_TRUE(refused(tested, "repeat_detection_slots: must be at most 67108864"));
    EXPECT_EQ(tested.code(), error_code::out_of_range);
  }
  options.repeat_detection_slots = 0;
  EXPECT_TRUE(guarded_store::open(std::make_shared<memory_store>(), options));
}

TEST(misuse, an_empty_batch) {
  guarded_store tested = opened();
  EXPECT_TRUE(tested.write({}));
  EXPECT_TRUE(tested.load({}));
  EXPECT_TRUE(tested.multi_get({}).empty());
}

}  // namespace
}  // namespace tamis::test
