#include "tamis/key_batch.hpp"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <string>
#include <vector>

#include "tests/support/bytes.hpp"
#include "tests/support/keys.hpp"

namespace tamis {
namespace {

using test::refused;

static_assert(std::convertible_to<std::vector<std::uint64_t>, key_batch>);
static_assert(std::convertible_to<std::span<const std::string_view>, key_batch>);
static_assert(std::convertible_to<std::array<digest, 3>, key_batch>);
static_assert(!std::convertible_to<std::string, key_batch>, "a string is one key");
static_assert(!std::convertible_to<std::vector<double>, key_batch>);
static_assert(!std::convertible_to<std::deque<std::uint64_t>, key_batch>, "not in a row");

std::vector<digest> digests_of(const key_batch& keys, const hasher& hash, std::size_t first, std::size_t count) {
  std::vector<digest> made(count);
  keys.hash(hash, first, made);
  return made;
}

// Whatever part of a batch is hashed, and of whatever part of it: the digests are those of its keys.
template <class Keys>
void expect_digests(const key_batch& batch, const Keys& keys) {
  ASSERT_EQ(batch.size(), keys.size());
  for (const hasher& hash : {hasher::fast(9), hasher::keyed({5, 6})}) {
    std::vector<digest> expected;
    for (const auto& key : keys) expected.push_back(hash(key));
    for (std::size_t first = 0; first <= keys.size(); ++first) {
      const std::size_t count = keys.size() - first;
      const std::vector<digest> last(expected.end() - static_cast<std::ptrdiff_t>(count), expected.end());
      EXPECT_EQ(digests_of(batch, hash, first, count), last);
      EXPECT_EQ(digests_of(batch.part(first, count), hash, 0, count), last);
    }
    for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(batch.hash_one(hash, i), expected[i]);
  }
}

TEST(key_batch, of_integers) {
  const auto expect = [](auto last) {
    using key = decltype(last);
    const std::vector<key> keys = {key{0}, key{1}, static_cast<key>(-1), last};
    expect_digests(keys, keys);
    const key_batch batch = keys;
    EXPECT_EQ(batch.are_words(), (std::same_as<key, std::uint64_t> || std::same_as<key, std::int64_t>));
    EXPECT_FALSE(batch.are_digests());
  };
  expect(std::uint8_t{7});
  expect(std::int16_t{-300});
  expect(std::int32_t{-70000});
  expect(std::uint32_t{70000});
  expect(std::int64_t{-5'000'000'000});
  expect(std::uint64_t{5'000'000'000});
}

TEST(key_batch, of_strings) {
  const std::vector<std::string> keys = {"", "a", "a longer key, beyond what a string keeps inside", std::string("\0b", 2)};
  expect_digests(keys, keys);
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  expect_digests(views, keys);
  const char* literals[] = {"x", "yy"};
  expect_digests(literals, std::vector<std::string>{"x", "yy"});
}

TEST(key_batch, of_digests) {
  const std::vector<digest> keys = test::keys(5);
  const key_batch batch = keys;
  EXPECT_TRUE(batch.are_digests());
  EXPECT_EQ(digests_of(batch, hasher(), 0, 5), keys);
  EXPECT_EQ(batch.part(3, 2).digests()[1], keys[4]);
  EXPECT_TRUE(key_batch().empty());
}

TEST(key_batch, of_fixed_width) {
  const std::string text = "aaabbbccc";
  const auto bytes = std::as_bytes(std::span(text));
  expect_digests(key_batch::of_width(bytes, 3).value(), std::vector<std::string>{"aaa", "bbb", "ccc"});
  EXPECT_EQ(key_batch::of_width({}, 3)->size(), 0u);
  EXPECT_TRUE(refused(key_batch::of_width(bytes, 0), "width of 0"));
  EXPECT_TRUE(refused(key_batch::of_width(bytes, 4), "9 bytes"));
}

template <class Offset>
void expect_offsets() {
  const std::string text = "onetwothree";
  const auto bytes = std::as_bytes(std::span(text));
  const auto of = [&](const std::vector<Offset>& offsets) {
    return key_batch::from_offsets(std::span<const Offset>(offsets), bytes);
  };
  const std::vector<Offset> offsets = {0, 3, 6, 6, 11};
  expect_digests(of(offsets).value(), std::vector<std::string>{"one", "two", "", "three"});
  const std::vector<Offset> later = {3, 6};
  expect_digests(of(later).value(), std::vector<std::string>{"two"});
  EXPECT_EQ(of({})->size(), 0u);
  EXPECT_EQ(of({4})->size(), 0u);
  EXPECT_TRUE(refused(of({0, 12}), "last offset is 12"));
  EXPECT_TRUE(refused(of({0, 5, 4, 11}), "descend"));
  EXPECT_TRUE(refused(of({static_cast<Offset>(-1), 3})));
}

TEST(key_batch, of_offsets_from_strangers) {
  expect_offsets<std::int32_t>();
  expect_offsets<std::uint32_t>();
  expect_offsets<std::int64_t>();
  expect_offsets<std::uint64_t>();
}

TEST(key_batch, of_a_hash_of_the_callers_own) {
  const auto doubled = [](std::uint64_t key) { return digest{key, 2 * key}; };
  const std::vector<std::uint64_t> keys = {3, 4, 5};
  const key_batch batch = key_batch::hashed_by(doubled, std::span<const std::uint64_t>(keys));
  EXPECT_FALSE(batch.are_words()) << "another hash would be used";
  EXPECT_EQ(digests_of(batch, hasher(), 1, 2), (std::vector<digest>{{4, 8}, {5, 10}}));
}

}  // namespace
}  // namespace tamis
