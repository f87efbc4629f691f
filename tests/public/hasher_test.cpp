#include "tamis/hasher.hpp"

#include <gtest/gtest.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "tamis/detail/base/random.hpp"
#include "tamis/detail/hash/siphash.hpp"
#include "tests/support/bytes.hpp"

namespace tamis {

using namespace detail;

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

TEST(hasher, strings_hash_like_their_bytes) {
  random_source random(3);
  std::string text;
  for (int length = 0; length < 300; ++length) {
    for (const hasher& hash : {hasher(), hasher::fast(random()), hasher::keyed({random(), random()})}) {
      EXPECT_EQ(hash(text), hash(std::as_bytes(std::span(text))));
      EXPECT_EQ(hash(std::string_view(text)), hash(text));
    }
    text += static_cast<char>(random());
  }
  EXPECT_EQ(hasher()("literal"), hasher()(std::string("literal")));
}

TEST(hasher, integers_of_every_width_agree) {
  for (const hasher& hash : {hasher::fast(7), hasher::keyed({1, 2})}) {
    EXPECT_EQ(hash(std::uint8_t{200}), hash(std::uint64_t{200}));
    EXPECT_EQ(hash(42), hash(std::uint64_t{42}));
    EXPECT_EQ(hash(-1), hash(~std::uint64_t{0}));
    EXPECT_EQ(hash(std::int8_t{-1}), hash(std::int64_t{-1}));
  }
}

TEST(hasher, keyed_is_siphash) {
  const std::array<std::uint64_t, 2> secret = {0x0706050403020100u, 0x0f0e0d0c0b0a0908u};
  const std::string text = "some text";
  EXPECT_EQ(hasher::keyed(secret)(text), siphash128(std::as_bytes(std::span(text)), secret));
}

TEST(hasher, seeds_give_other_digests) {
  EXPECT_NE(hasher::fast(1)(42), hasher::fast(2)(42));
  EXPECT_NE(hasher::fast(1)("x"), hasher::fast(2)("x"));
  EXPECT_NE(hasher::keyed({1, 2})(42), hasher::keyed({2, 1})(42));
  EXPECT_EQ(hasher()(42), hasher::fast(0)(42));
}

TEST(hasher, seed_is_read_from_hexadecimal_digits) {
  EXPECT_EQ(hasher::parse(hash_family::fast, "").value()(1), hasher()(1));
  EXPECT_EQ(hasher::parse(hash_family::fast, "fF").value()(1), hasher::fast(255)(1));
  EXPECT_EQ(hasher::parse(hash_family::fast, "0123456789abcdef").value()(1), hasher::fast(0x0123456789abcdef)(1));
  EXPECT_EQ(hasher::parse(hash_family::keyed, "000102030405060708090a0b0c0d0e0f").value()(1),
            hasher::keyed({0x0706050403020100u, 0x0f0e0d0c0b0a0908u})(1));
}

TEST(hasher, bad_seeds_are_refused) {
  for (const char* seed : {"g", "-1", "0x1", " 1", "00000000000000001"}) {
    EXPECT_TRUE(test::refused(hasher::parse(hash_family::fast, seed), seed));
  }
  for (const char* seed : {"", "00", "0001020304050607 8090a0b0c0d0e0f", "000102030405060708090a0b0c0d0e0f00",
                           "g00102030405060708090a0b0c0d0e0f"}) {
    EXPECT_TRUE(test::refused(hasher::parse(hash_family::keyed, seed), "32 hexadecimal digits"));
  }
}

TEST(hasher, secret_stays_out_of_messages) {
  const auto refused = hasher::parse(hash_family::keyed, "5ec4e75ec4e7");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.message().find("5ec4e7"), std::string::npos);
}

TEST(hasher, comes_back_from_its_identity) {
  const hash_identity identity = hasher::fast(99).identity();
  EXPECT_EQ(hasher::from(identity).value()(5), hasher::fast(99)(5));
  hash_identity forged = identity;
  ++forged.seed;
  EXPECT_TRUE(test::refused(hasher::from(forged), "check value"));
  EXPECT_TRUE(test::refused(hasher::from(hasher::keyed({1, 2}).identity()), "secret"));
}

TEST(hasher, identity_tells_hashes_apart_and_keeps_the_secret) {
  EXPECT_NE(hasher::fast(1).identity(), hasher::fast(2).identity());
  EXPECT_NE(hasher::keyed({1, 2}).identity(), hasher::keyed({1, 3}).identity());
  EXPECT_NE(hasher::keyed({1, 0}).identity(), hasher::fast(1).identity());
  EXPECT_EQ(hasher::keyed({1, 2}).identity().seed, 0u);
}

TEST(hash_family, names_are_read_back) {
  for (const hash_family family : {hash_family::fast, hash_family::keyed})
    EXPECT_EQ(parse_hash_family(to_string(family)), family);
  for (const char* name : {"", "Fast", "sip"}) EXPECT_EQ(parse_hash_family(name), std::nullopt);
}

}  // namespace
}  // namespace tamis
