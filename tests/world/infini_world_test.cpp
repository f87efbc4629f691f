#include "tests/world/infini_world.hpp"

#include <gtest/gtest.h>

#include "tests/world/infini_tide.hpp"

namespace tamis::test {
namespace {

constexpr std::uint64_t seed = 20230618;

TEST(infini_world, keeps_the_invariant) {
  std::uint64_t most_tables = 0;
  for (const char* mode : {"basic", "chained", "growing"}) {
    for (const unsigned fingerprint : {1u, 2u, 3u}) {
      for (const std::uint64_t capacity : {1u, 3u, 16u}) {
        SCOPED_TRACE(std::string(mode) + ", F = " + std::to_string(fingerprint) + ", capacity " + std::to_string(capacity));
        infini_world w(seed + capacity, mode, fingerprint, capacity);
        for (int i = 0; i < 2500; ++i) {
          const auto wrong = w.step();
          ASSERT_FALSE(wrong) << "seed " << seed + capacity << ", operation " << i << ": " << *wrong;
        }
        most_tables = std::max(most_tables, w.tally().at("most tables"));
      }
    }
  }
  EXPECT_GE(most_tables, 4u);
}

// From 2^6 slots, or a number that is no power of two, up and down again. tests/world/infini_long.cpp goes further.
TEST(infini_world, loses_no_key_on_the_way_up_and_down) {
  for (const char* mode : {"basic", "chained", "growing"}) {
    for (const unsigned fingerprint : {5u, 12u}) {
      for (const std::uint64_t places : {64u, 51u}) {
        SCOPED_TRACE(std::string(mode) + ", F = " + std::to_string(fingerprint) + ", " + std::to_string(places) + " places");
        const bool ends = mode == std::string_view("basic") && fingerprint == 5;
        infini_tide tide(infini::create({.capacity = places * 80 / 100,
                                         .fpr = 0.5,
                                         .options = {{"fingerprint", std::to_string(fingerprint)}, {"mode", mode}}})
                             .value(),
                         seed);
        unsigned doubled = 0;
        ASSERT_EQ(tide.rise(12, [&] { ++doubled; }), "");
        EXPECT_EQ(tide.filter().expansions(), ends ? 5u : 12u);
        EXPECT_EQ(doubled, ends ? 5u : 13u);
        if (mode != std::string_view("basic")) {
          EXPECT_EQ(tide.most_tables() > 1, fingerprint == 5);
        }
        const std::uint64_t most = tide.keys();
        unsigned halved = 0;
        ASSERT_EQ(tide.fall([&] { ++halved; }), "");
        EXPECT_EQ(halved, ends ? 5u : 12u);
        EXPECT_GE(most, ends ? 1500u : 150000u);
      }
    }
  }
}

}  // namespace
}  // namespace tamis::test
