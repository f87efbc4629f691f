#include "tamis/detail/growing/prefix_segment.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <vector>

#include "tamis/detail/base/random.hpp"
#include "tamis/detail/io/archive.hpp"
#include "tamis/stream.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;

std::vector<std::byte> saved(const prefix_segment& s) {
  memory_sink sink;
  writer out(sink);
  out(s);
  EXPECT_TRUE(out.finish().ok());
  const auto bytes = sink.bytes();
  return {bytes.begin(), bytes.end()};
}
prefix_segment loaded(const std::vector<std::byte>& bytes) {
  memory_source source(bytes);
  reader in(source);
  prefix_segment s = stored_access::blank<prefix_segment>();
  in(s);
  EXPECT_TRUE(in.ok());
  return s;
}

// One that is plain as long as it can be, and one that never is: only their memory differs.
struct twins {
  prefix_segment plain;
  prefix_segment whole;

  explicit twins(segment_shape shape, std::uint64_t spare)
      : plain(prefix_segment::make(shape, spare).value()), whole(prefix_segment::make(shape, spare, false).value()) {}

  // The same operation of both.
  template <class Operation>
  bool both(Operation operation) {
    const bool answer = operation(plain);
    EXPECT_EQ(operation(whole), answer);
    return answer;
  }
  void expect_same(random_source& random) const {
    ASSERT_TRUE(plain.validate().ok()) << plain.validate().message();
    ASSERT_TRUE(plain.table().validate().ok());
    ASSERT_EQ(plain, whole);
    ASSERT_EQ(whole, plain);
    ASSERT_EQ(plain.entries(), whole.entries());
    for (int i = 0; i < 200; ++i) {
      const std::uint64_t cell = random.below(plain.cells());
      const std::uint64_t following = near_entry(random, cell);
      ASSERT_EQ(plain.contains(cell, following), whole.contains(cell, following));
      ASSERT_EQ(plain.count(cell, following), whole.count(cell, following));
      ASSERT_EQ(plain.contains(cell, following), plain.count(cell, following) != 0);
    }
    const std::vector<std::byte> bytes = saved(plain);
    ASSERT_EQ(bytes, saved(whole));
    ASSERT_EQ(loaded(bytes), plain);
  }
  // Bits that agree with an entry of the cell for a while, if it has one.
  std::uint64_t near_entry(random_source& random, std::uint64_t cell) const {
    const entry_list entries = whole.entries_of(cell);
    if (entries.empty() || random.chance(0.1)) return random();
    return entries[random.below(entries.size())].bits ^ random() >> random.below(64);
  }
};

TEST(prefix_segment, what_plain_segments_do_not_store_makes_no_difference) {
  std::printf("seeds 700 to 704\n");
  std::uint64_t seed = 700;
  for (const unsigned fingerprint : {8u, 9u, 12u, 16u, 56u}) {
    random_source random(seed++);
    twins t({3, 8, fingerprint}, 64);
    ASSERT_TRUE(t.plain.is_plain());
    ASSERT_FALSE(t.whole.is_plain());
    EXPECT_EQ(t.whole.bits() - t.plain.bits(), t.plain.table().slots());
    EXPECT_EQ(t.plain.fingerprint(), fingerprint);
    for (int round = 0; round < 6000; ++round) {
      const std::uint64_t cell = random.chance(0.2) ? random.below(8) : random.below(256);
      const double full = static_cast<double>(t.plain.used()) / 256;
      if (random.chance(0.7 - full / 4)) {
        const std::uint64_t following = random();
        t.both([&](prefix_segment& s) { return s.insert(cell, following); });
      } else if (random.chance(0.9)) {
        const std::uint64_t following = t.near_entry(random, cell);
        t.both([&](prefix_segment& s) { return s.erase(cell, following); });
      } else {
        const std::uint64_t following = t.near_entry(random, cell);
        t.both([&](prefix_segment& s) { return s.rejuvenate(cell, following); });
      }
      if (round == 4000) {  // from here on there is something to store
        ASSERT_TRUE(t.plain.is_plain());
        ASSERT_TRUE(loaded(saved(t.whole)).is_plain());
      }
      if (round > 4000 && random.chance(0.02)) {
        const auto e = prefix_entry::of(random(), static_cast<unsigned>(random.below(64)), 1 + random.below(3));
        t.both([&](prefix_segment& s) { return s.add(cell, e); });
      }
      if (round % 200 == 0) t.expect_same(random);
      if (testing::Test::HasFailure()) FAIL() << "F = " << fingerprint << ", round " << round;
    }
    EXPECT_FALSE(t.plain.is_plain());
    EXPECT_EQ(t.plain.bits(), t.whole.bits());
  }
}

// Nothing changes when an entry of another kind does not fit: the segment is still plain.
TEST(prefix_segment, a_refused_entry_leaves_a_segment_plain) {
  random_source random(710);
  std::printf("seed 710\n");
  for (const unsigned fingerprint : {8u, 13u}) {
    prefix_segment full = prefix_segment::make({0, 6, fingerprint}, 64).value();
    for (std::uint64_t i = 0; full.used() < full.table().slots(); ++i) {
      entry_list entries = full.entries_of(i % 64);
      entries.push_back(prefix_entry::of(random(), fingerprint));
      ASSERT_TRUE(full.assign(i % 64, entries));
    }
    ASSERT_TRUE(full.is_plain());
    const prefix_segment before = full;
    const std::uint8_t* const memory = full.table().header_bytes();
    EXPECT_FALSE(full.add(5, prefix_entry::of(random(), 60)));
    EXPECT_TRUE(full.is_plain());
    EXPECT_EQ(full, before);
    EXPECT_EQ(full.table().header_bytes(), memory);
  }
}

// Slots of less than nine bits are not worth it, and a segment that somebody wants whole is.
TEST(prefix_segment, narrow_segments_are_never_plain) {
  EXPECT_FALSE(prefix_segment::make({0, 6, 7}, 64).value().is_plain());
  EXPECT_FALSE(loaded(saved(prefix_segment::make({0, 6, 7}, 64).value())).is_plain());
  EXPECT_TRUE(loaded(saved(prefix_segment::make({0, 6, 8}, 64, false).value())).is_plain());
}

}  // namespace
