#include "tamis/memory_remote.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tamis/detail/base/random.hpp"

namespace {

using namespace tamis;

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
  }
}

}  // namespace
