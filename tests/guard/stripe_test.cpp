#include "src/guard/stripe.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tamis/guard/memory_store.hpp"
#include "tests/support/keys.hpp"

namespace tamis::test {
namespace {

class stripe_maps : public ::testing::TestWithParam<unsigned> {
 protected:
  const stripe_map map{GetParam()};
  std::vector<digest> samples() const {
    std::vector<digest> all = keys(2000);
    all.insert(all.end(), extreme_digests.begin(), extreme_digests.end());
    std::sort(all.begin(), all.end());
    return all;
  }
};

TEST_P(stripe_maps, every_digest_is_in_the_range_of_its_stripe) {
  for (const digest d : samples()) EXPECT_TRUE(map.range(map.index(d)).contains(d));
  EXPECT_EQ(map.range(0).first, all_digests.first);
  EXPECT_EQ(map.range(map.count() - 1).last, all_digests.last);
}

TEST_P(stripe_maps, local_digests_keep_order_and_difference_inside_a_stripe) {
  const auto all = samples();
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (map.index(all[i - 1]) != map.index(all[i])) continue;
    EXPECT_LT(map.local(all[i - 1]), map.local(all[i]));
  }
}

TEST_P(stripe_maps, global_undoes_local) {
  for (const digest d : samples()) EXPECT_EQ(map.global(map.index(d), map.local(d)), d);
}

TEST_P(stripe_maps, local_digests_fill_the_whole_range) {
  std::array<int, 4> quarters{};
  for (const digest d : keys(20000)) {
    if (map.index(d) == map.count() - 1) ++quarters[map.local(d).high >> 62];
  }
  const int all = quarters[0] + quarters[1] + quarters[2] + quarters[3];
  for (const int part : quarters) EXPECT_NEAR(part, all / 4, 6 * std::sqrt(all / 4.0) + 1);
}

INSTANTIATE_TEST_SUITE_P(bits, stripe_maps, ::testing::Values(0u, 1u, 2u, 5u, 8u));

TEST(stripe_remote, gives_the_stored_digests_of_a_range_in_local_form) {
  memory_store behind;
  const stripe_map map(2);
  std::set<digest> locals;
  write_set set;
  for (const digest d : keys(500)) {
    set.entries.push_back({{d, "k"}, "v"});
    if (map.index(d) == 1) locals.insert(map.local(d));
  }
  ASSERT_TRUE(behind.write(set, false));
  const stripe_remote remote(behind, map, 1);
  const digest middle = *std::next(locals.begin(), static_cast<long>(locals.size() / 2));
  for (const digest_range range : {all_digests, digest_range{{0, 0}, middle}, digest_range{middle, middle}}) {
    std::set<digest> seen;
    remote.for_each_in(range, [&](digest d) { seen.insert(d); });
    std::set<digest> expected;
    for (const digest d : locals) {
      if (range.contains(d)) expected.insert(d);
    }
    EXPECT_EQ(seen, expected);
    std::uint64_t visits = 0;
    remote.for_each_in(range, [&](digest) { return ++visits < 3; });  // it has seen enough
    EXPECT_EQ(visits, std::min<std::uint64_t>(3, expected.size()));
  }
}

}  // namespace
}  // namespace tamis::test
