// Contenders that grow: no key is lost, the rate is kept, and what they took is what was counted.

#include "lab/growers.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "tests/support/keys.hpp"

namespace tamis::lab {
namespace {

using test::keys;
using test::strangers;

constexpr grower_terms terms{500, 0.01};
constexpr std::size_t many = 20'000;

std::vector<std::pair<std::string, std::unique_ptr<grower>>> all() {
  std::vector<std::pair<std::string, std::unique_ptr<grower>>> made;
  for (const char* id : {"infini", "chain-geometric", "chain-linear", "evergreen"}) {
    made.emplace_back(id, make_growing(id, terms).value());
  }
  made.emplace_back("scalable Bloom", make_scalable_bloom(terms).value());
  made.emplace_back("bloom, rebuilt", make_rebuilt("bloom", terms).value());
  made.emplace_back("rsqf, rebuilt", make_rebuilt("rsqf", terms).value());
  return made;
}

void fill(grower& f, std::size_t count) {
  memory_remote stored;
  for (const digest d : keys(count)) {
    stored.insert(d);
    ASSERT_TRUE(f.insert(d, stored));
  }
}

TEST(growers, lose_no_key_and_keep_the_rate) {
  for (const auto& [name, f] : all()) {
    SCOPED_TRACE(name);
    fill(*f, many);
    for (const digest d : keys(many)) ASSERT_TRUE(f->may_contain(d));
    EXPECT_GE(f->memory().most_bytes() * 8, f->bits());
    EXPECT_GE(f->memory().taken_bytes() * 8, f->bits());
    if (name == "chain-linear") continue;  // each of its parts has the whole rate, and there are more and more of them
    std::uint64_t wrong = 0;
    for (const digest d : strangers(100'000)) wrong += f->may_contain(d);
    // 1,000 expected at the rate, and 5 % more for what a chain of rates comes to; six standard deviations of 32.4.
    EXPECT_LE(wrong, 1050 + 6 * 33);
  }
}

TEST(growers, scalable_bloom_doubles_its_parts) {
  const auto bits_of = [](std::uint64_t keys) {
    const auto f = make_scalable_bloom(terms).value();
    fill(*f, keys);
    EXPECT_EQ(f->keys_reread(), 0u);
    return f->bits();
  };
  EXPECT_EQ(bits_of(1), bits_of(500));
  EXPECT_EQ(bits_of(501), bits_of(500 + 1000));
  EXPECT_GT(bits_of(501), 3 * bits_of(500));
  EXPECT_GT(bits_of(500 + 1000 + 1), 2 * bits_of(500 + 1000));
}

TEST(growers, a_rebuild_reads_the_store_and_needs_both_tables) {
  const auto f = make_rebuilt("bloom", terms).value();
  fill(*f, 500);
  const std::uint64_t before = f->bits();
  EXPECT_EQ(f->keys_reread(), 0u);
  const auto g = make_rebuilt("bloom", terms).value();
  fill(*g, 2001);
  EXPECT_EQ(g->keys_reread(), 501u + 1001u + 2001u);
  EXPECT_GE(g->memory().most_bytes() * 8, g->bits() + 2 * before);  // that of 4,000 keys, and that of 2,000
  EXPECT_LT(g->memory().taken_bytes() * 8, g->bits() + before);     // the old one is gone
}

}  // namespace
}  // namespace tamis::lab
