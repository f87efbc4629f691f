#include "tamis/memory_remote.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <vector>

#include "tamis/detail/base/random.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;

TEST(memory_remote, agrees_with_a_multiset) {
  random_source random(1);
  memory_remote remote;
  std::multiset<digest> model;
  std::vector<digest> known;
  for (int step = 0; step < 20000; ++step) {
    if (known.empty() || random.chance(0.6)) {
      const digest d = known.empty() || random.chance(0.8) ? digest{random() >> random.below(64), random()}
                                                           : known[random.below(known.size())];
      known.push_back(d);
      remote.insert(d);
      model.insert(d);
    } else {
      const digest d = known[random.below(known.size())];
      const auto at = model.find(d);
      ASSERT_EQ(remote.erase(d), at != model.end());
      if (at != model.end()) model.erase(at);
    }
    ASSERT_EQ(remote.size(), model.size());
    if (step % 50 != 0) continue;
    digest_range range{{random(), random()}, {random(), random()}};
    if (random.chance(0.1)) range = all_digests;
    if (random.chance(0.5)) range.first = known[random.below(known.size())];
    if (random.chance(0.5)) range.last = known[random.below(known.size())];
    std::vector<digest> found;
    remote.for_each_in(range, [&](digest d) { found.push_back(d); });
    std::vector<digest> expected;
    for (const digest d : model) {
      if (range.contains(d)) expected.push_back(d);
    }
    ASSERT_EQ(found, expected);
    ASSERT_EQ(remote.contains(range.first), model.contains(range.first));
    // A visit that has seen enough is not called again, behind a remote_ref neither.
    std::uint64_t seen = 0;
    const std::uint64_t enough = 1 + random.below(20);
    const auto see = [&](digest) { return ++seen < enough; };
    remote.for_each_in(range, see);
    ASSERT_EQ(seen, std::min<std::uint64_t>(enough, expected.size()));
    seen = 0;
    remote_ref(remote).for_each_in(range, see);
    ASSERT_EQ(seen, std::min<std::uint64_t>(enough, expected.size()));
    ASSERT_EQ(holds(remote, range.first), model.contains(range.first));
  }
}

// One that does not look at the answer, as a remote of somebody's own may do.
struct careless_remote {
  void for_each_in(digest_range range, const std::function<void(digest)>& visit) const {
    visit(range.first);
    visit(range.last);
  }
};

TEST(remote_ref, takes_remotes_that_do_not_stop) {
  std::vector<digest> seen;
  remote_ref(careless_remote()).for_each_in(all_digests, [&](digest d) {
    seen.push_back(d);
    return false;
  });
  EXPECT_EQ(seen, (std::vector<digest>{all_digests.first, all_digests.last}));
}

}  // namespace
