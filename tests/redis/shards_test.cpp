// Where the shards of a remote filter are: the published examples, which clients in other languages follow, too.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "apps/tamis/remote_shards.hpp"

namespace tamis::cli {
namespace {

std::string bytes_of(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; hex != "-" && i < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

TEST(shards, published_examples) {
  std::ifstream file(TAMIS_SOURCE_DIR "/integrations/redis/remote_vectors.txt");
  std::size_t items = 0;
  std::size_t shards_seen = 0;
  for (std::string line; std::getline(file, line);) {
    SCOPED_TRACE(line);
    std::istringstream words(line);
    std::string what;
    std::string name;
    std::string key;
    unsigned shards = 0;
    unsigned shard = 0;
    unsigned slot = 0;
    words >> what >> name >> shards >> shard;
    if (what == "item") {
      EXPECT_EQ(shard_of(bytes_of(name), shards), shard);
      ++items;
    } else if (what == "shard") {
      words >> slot >> key;
      const shard_places places(name, shards);
      EXPECT_EQ(places.slot(shard), slot);
      EXPECT_EQ(places.key(shard), key);
      EXPECT_EQ(slot_of(key), slot);
      ++shards_seen;
    }
  }
  EXPECT_EQ(items, 32u);
  EXPECT_EQ(shards_seen, 39u);
}

// Slots as the documentation of clusters gives them.
TEST(shards, slots_are_the_clusters) {
  EXPECT_EQ(slot_of("123456789"), 0x31c3u % slot_count);
  EXPECT_NE(slot_of("foo{}bar"), slot_of("bar"));
  EXPECT_EQ(slot_of("{user1000}.following"), slot_of("user1000"));
  EXPECT_EQ(slot_of("foo{{bar}}zap"), slot_of("{bar"));
}

// Numbers in a row, strings that differ in few bits: each shard gets its share, as if by chance. The sum of squares of the
// deviations over the mean is chi-squared with S - 1 degrees of freedom; 6 standard deviations above its mean.
TEST(shards, items_are_spread) {
  constexpr unsigned shards = 64;
  constexpr unsigned count = 100'000;
  for (const unsigned step : {1u, 2u, 8u, 64u, 1000u}) {
    for (const bool binary : {false, true}) {
      std::vector<double> in(shards, 0);
      for (unsigned i = 0; i < count; ++i) {
        const std::uint64_t n = std::uint64_t{i} * step;
        in[shard_of(binary ? std::string(reinterpret_cast<const char*>(&n), sizeof(n)) : std::to_string(n), shards)] += 1;
      }
      const double mean = double{count} / shards;
      double chi = 0;
      for (const double n : in) chi += (n - mean) * (n - mean) / mean;
      EXPECT_LT(chi, shards - 1 + 6 * std::sqrt(2.0 * (shards - 1))) << "step " << step << (binary ? ", binary" : "");
    }
  }
}

TEST(shards, slots_are_spread) {
  for (const unsigned shards : {1u, 2u, 64u, 4096u}) {
    const shard_places places("some", shards);
    for (unsigned s = 0; s + 1 < shards; ++s) {
      EXPECT_EQ((places.slot(s + 1) + slot_count - places.slot(s)) % slot_count, slot_count / shards);
    }
  }
}

}  // namespace
}  // namespace tamis::cli
