// Lookups of eight keys at once, where the CPU level has them: the same answers as one by one, in batches of every size.

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tamis/batch.hpp"
#include "tamis/detail/base/random.hpp"
#include "tamis/filters/ascf.hpp"
#include "tamis/filters/cuckoo.hpp"
#include "tamis/filters/vacuum.hpp"

namespace tamis::test {

using namespace detail;

namespace {

constexpr std::uint64_t seed = 0x5eed;
constexpr std::size_t most = 200;

hasher hasher_of(hash_family family) { return family == hash_family::fast ? hasher::fast(seed) : hasher::keyed({seed, 77}); }

template <class F>
F make(std::uint64_t capacity, unsigned width) {
  return F::create({.capacity = capacity, .fpr = 0.9, .options = {{"fingerprint", std::to_string(width)}}}).value();
}

template <class F>
class eights : public ::testing::Test {
 protected:
  // Every second key is in, and as many others that the filter is full.
  template <class Key>
  static F filled(std::uint64_t capacity, unsigned width, const hasher& hash, const std::vector<Key>& keys) {
    F f = make<F>(capacity, width);
    for (std::size_t i = 0; i < keys.size(); i += 2) f.insert(hash(keys[i]));
    random_source random(seed + width);
    for (std::uint64_t i = keys.size() / 2; i < capacity; ++i) f.insert({random(), random()});
    return f;
  }

  // The answers of a batch, and nothing behind them.
  template <class Ask>
  static void check_answers(std::size_t size, const std::vector<bool>& expected, std::size_t first, Ask ask) {
    const auto out = std::make_unique<bool[]>(size + 1);  // so short that a sanitizer sees what is written behind it
    for (std::size_t i = 0; i < size; ++i) out[i] = !expected[first + i];
    out[size] = size % 2 == 1;
    ask(std::span(out.get(), size));
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(out[i], expected[first + i]) << i << " of " << size;
    ASSERT_EQ(out[size], size % 2 == 1) << "written behind the end";
  }

  template <class Key>
  static void check_keys(unsigned width, hash_family family, const std::vector<Key>& keys) {
    const hasher hash = hasher_of(family);
    const F f = filled(300, width, hash, keys);
    std::vector<bool> expected(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) expected[i] = f.may_contain(hash(keys[i]));
    for (std::size_t i = 0; i < keys.size(); i += 2) ASSERT_TRUE(expected[i]) << "a member is gone";
    for (std::size_t size = 0; size <= keys.size(); ++size) {
      const std::vector<Key> asked(keys.end() - static_cast<std::ptrdiff_t>(size), keys.end());
      check_answers(size, expected, keys.size() - size,
                    [&](std::span<bool> out) { may_contain_many(f, hash, std::span<const Key>(asked), out); });
    }
  }
};
using kinds = ::testing::Types<cuckoo, ascf, vacuum>;
TYPED_TEST_SUITE(eights, kinds);

template <class Key>
std::vector<Key> integers() {
  std::vector<Key> keys;
  random_source random(seed);
  for (const Key special : {Key{0}, Key{1}, std::numeric_limits<Key>::min(), std::numeric_limits<Key>::max()}) {
    keys.push_back(special);
  }
  while (keys.size() < most) keys.push_back(static_cast<Key>(random()));
  return keys;
}

TYPED_TEST(eights, digests_of_every_width_and_batches_of_every_size) {
  for (unsigned width = least_slot_bits; width <= most_slot_bits; ++width) {
    SCOPED_TRACE(width);
    const std::vector<std::uint64_t> keys = integers<std::uint64_t>();
    const hasher hash;
    const TypeParam f = this->filled(300, width, hash, keys);
    std::vector<digest> digests;
    std::vector<bool> expected;
    for (const std::uint64_t key : keys) {
      digests.push_back(hash(key));
      expected.push_back(f.may_contain(digests.back()));
    }
    for (std::size_t size = 0; size <= most; ++size) {
      this->check_answers(size, expected, most - size, [&](std::span<bool> out) {
        const std::vector<digest> asked(digests.end() - static_cast<std::ptrdiff_t>(size), digests.end());
        may_contain_many(f, std::span<const digest>(asked), out);
      });
    }
  }
}

TYPED_TEST(eights, keys_of_every_type_and_family) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < most; ++i) texts.push_back("key " + std::to_string(i));
  for (const hash_family family : {hash_family::fast, hash_family::keyed}) {
    for (const unsigned width : {7u, 8u, 12u, 16u, 17u}) {
      SCOPED_TRACE(width);
      this->check_keys(width, family, integers<std::uint64_t>());
      this->check_keys(width, family, integers<std::int64_t>());
      this->check_keys(width, family, integers<std::uint32_t>());
      this->check_keys(width, family, integers<int>());
      this->check_keys(width, family, integers<std::int16_t>());
      this->check_keys(width, family, texts);
    }
  }
}

// Two buckets and more: the last one is read with what lies behind it.
TYPED_TEST(eights, small_tables) {
  const std::vector<std::uint64_t> keys = integers<std::uint64_t>();
  const hasher hash;
  for (const unsigned width : {8u, 12u, 16u}) {
    for (std::uint64_t capacity = 1; capacity <= 64; ++capacity) {
      TypeParam f = make<TypeParam>(capacity, width);
      for (std::size_t i = 0; i < capacity; ++i) f.insert(hash(keys[i]));
      bool out[most];
      may_contain_many(f, hash, std::span(keys), std::span(out));
      for (std::size_t i = 0; i < most; ++i) ASSERT_EQ(out[i], f.may_contain(hash(keys[i]))) << capacity << " keys, key " << i;
    }
  }
}

// Of a table that is not in the caches, keys are asked for one by one.
TYPED_TEST(eights, large_tables) {
  const std::vector<std::uint64_t> keys = integers<std::uint64_t>();
  const hasher hash;
  for (const std::uint64_t capacity : {1'900'000u, 5'000'000u}) {  // from 3 and 7.5 MiB on
    TypeParam f = make<TypeParam>(capacity, 12);
    for (std::size_t i = 0; i < most; i += 2) f.insert(hash(keys[i]));
    bool out[most];
    may_contain_many(f, hash, std::span(keys), std::span(out));
    for (std::size_t i = 0; i < most; ++i) ASSERT_EQ(out[i], f.may_contain(hash(keys[i]))) << i;
  }
}

#if TAMIS_HAS_AVX512

TEST(u64x8, places_are_those_of_one_word) {
  random_source random(seed);
  for (int round = 0; round < 10000; ++round) {
    std::uint64_t fractions[keys_at_once];
    for (std::uint64_t& fraction : fractions) fraction = round % 10 == 0 ? ~random.below(3) : random();
    const std::uint64_t places = round % 7 == 0 ? ~random.below(3) : random() >> random.below(64);
    const u64x8 reduced = reduce_eight(load_eight(fractions), places);
    const eight_wide_products products = multiply_eight_wide(load_eight(fractions), places);
    for (std::size_t i = 0; i < keys_at_once; ++i) {
      const wide_product expected = multiply_wide(fractions[i], places);
      ASSERT_EQ(reduced[i], expected.high);
      ASSERT_EQ(products.high[i], expected.high);
      ASSERT_EQ(products.low[i], expected.low);
    }
  }
}

#endif

}  // namespace
}  // namespace tamis::test
