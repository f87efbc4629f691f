#include "src/guard/crowds.hpp"

#include <gtest/gtest.h>

#include "src/guard/stripe.hpp"
#include "support.hpp"
#include "tamis/memory_remote.hpp"
#include "tests/support/keys.hpp"

namespace tamis::test {
namespace {

TEST(crowds, remember_ranges_until_a_key_goes) {
  crowds some;
  EXPECT_FALSE(some.contains({0, 0}));
  some.remember({{5, 0}, {5, 9}});
  some.remember({{5, 7}, {6, 0}});
  EXPECT_TRUE(some.contains({5, 0}));
  EXPECT_TRUE(some.contains({5, 9}));
  EXPECT_FALSE(some.contains({6, 1}));
  some.forget({5, 8});  // in both
  EXPECT_FALSE(some.contains({5, 0}));
  EXPECT_FALSE(some.contains({6, 0}));
}

TEST(crowds, forget_the_oldest) {
  crowds some;
  for (std::uint64_t i = 0; i < 17; ++i) some.remember({{i, 0}, {i, 0}});
  EXPECT_FALSE(some.contains({0, 0}));
  for (std::uint64_t i = 1; i < 17; ++i) EXPECT_TRUE(some.contains({i, 0}));
}

TEST(crowds, hold_a_range_once) {
  crowds some;
  some.remember({{7, 0}, {7, 9}});
  for (std::uint64_t i = 0; i < 40; ++i) some.remember({{8, 3}, {8, 4}});
  EXPECT_TRUE(some.contains({7, 5}));
}

// A guard stops adaptations that look at too many keys, and goes on with the filter as it was.
class stopped_adaptation : public ::testing::TestWithParam<std::string> {};

class stopping_remote {
 public:
  stopping_remote(const memory_remote& whole, std::uint64_t most) : whole_(whole), most_(most) {}
  template <class Visit>
  void for_each_in(digest_range range, Visit visit) const {
    std::uint64_t seen = 0;
    whole_.for_each_in(range, [&](digest d) {
      if (seen++ == most_) throw too_crowded{range};
      visit(d);
    });
  }

 private:
  const memory_remote& whole_;
  std::uint64_t most_;
};

TEST_P(stopped_adaptation, changes_nothing) {
  filter_params params{.capacity = 3000, .fpr = 0.05, .options = {}};
  if (GetParam() == "evergreen") params.options = {{"segment", "64"}};  // small ones are hardly ever wrong
  any_filter filter = any_filter::create(registry_with_toys(), GetParam(), params).value();
  memory_remote whole;
  for (const digest d : keys(3000)) {
    whole.insert(d);
    ASSERT_EQ(filter.insert(d, remote_ref(whole)), insert_result::inserted);
  }
  std::uint64_t stopped = 0;
  for (const digest d : strangers(20'000)) {
    if (!filter.may_contain(d)) continue;
    for (std::uint64_t most = 0; most < 3; ++most) {
      const byte_vector before = filter.save_bytes();
      try {
        const stopping_remote remote(whole, most);
        filter.adapt(d, remote_ref(remote));
        break;
      } catch (const too_crowded&) {
        ++stopped;
        EXPECT_EQ(filter.save_bytes(), before);
      }
    }
  }
  for (const digest d : keys(3000)) ASSERT_TRUE(filter.may_contain(d));
  // Those that adapt out of memory of their own never ask.
  for (const char* asking : {"taf", "utaf", "exaf", "evergreen"}) {
    EXPECT_GE(stopped, GetParam() == asking ? 100u : 0u);
  }
}

std::vector<std::string> adaptive_filters() {
  std::vector<std::string> ids = all_filters();
  std::erase_if(ids, [](const std::string& id) { return !can(id).adapt; });
  return ids;
}
INSTANTIATE_TEST_SUITE_P(filters, stopped_adaptation, ::testing::ValuesIn(adaptive_filters()), test_name);

}  // namespace
}  // namespace tamis::test
