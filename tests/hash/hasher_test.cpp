#include "tamis/hash/hasher.hpp"

#include <gtest/gtest.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "tamis/base/random.hpp"

namespace tamis {
namespace {

TEST(hasher, integers_hash_like_their_eight_bytes) {
  random_source random(1);
  for (int i = 0; i < 10000; ++i) {
    const std::uint64_t key = random();
    for (const hasher& hash : {hasher(), hasher::fast(random()), hasher::keyed({random(), random()})}) {
      EXPECT_EQ(hash(key), hash(std::as_bytes(std::span(&key, 1))));
    }
  }
}

TEST(hasher, fast_is_xxh3_128) {
  random_source random(2);
  std::string text;
  for (int length = 0; length < 600; ++length) {
    const std::uint64_t seed = length % 2 == 0 ? 0 : random();
    const XXH128_hash_t expected = XXH3_128bits_withSeed(text.data(), text.size(), seed);
    EXPECT_EQ(hasher::fast(seed)(text), (digest{expected.high64, expected.low64}));
    text += static_cast<char>(random());
  }
}

}  // namespace
}  // namespace tamis
