#include "tamis/detail/bits/bitmap.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "tamis/detail/base/random.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;

constexpr std::uint64_t seed = 20240612;
constexpr std::uint64_t sizes[] = {0, 1, 2, 63, 64, 65, 127, 128, 129, 1001};

// A bitmap beside the vector<bool> that it must agree with.
struct pair_of_maps {
  bitmap real;
  std::vector<bool> model;

  pair_of_maps(std::uint64_t size, double density, random_source& random) : real(bitmap::make(size).value()), model(size) {
    for (std::uint64_t i = 0; i < size; ++i) {
      if (!random.chance(density)) continue;
      real.set(i);
      model[i] = true;
    }
  }

  void expect_equal() const {
    ASSERT_EQ(real.size(), model.size());
    for (std::uint64_t i = 0; i < model.size(); ++i) ASSERT_EQ(real.get(i), model[i]) << "bit " << i << " of " << model.size();
    const status valid = real.validate();
    ASSERT_TRUE(valid.ok()) << valid.message();
  }

  std::uint64_t find(std::uint64_t from, bool bit) const {
    while (from < model.size() && model[from] != bit) ++from;
    return from;
  }
};

TEST(bitmap, starts_with_zeros) {
  for (const std::uint64_t size : sizes) {
    const bitmap map = bitmap::make(size).value();
    EXPECT_EQ(map.size(), size);
    EXPECT_EQ(map.bits(), (size + 63) / 64 * 64);
    EXPECT_EQ(map.count(), 0u);
    EXPECT_EQ(map.find_one(0), size);
    EXPECT_TRUE(map.validate().ok());
  }
  EXPECT_EQ(bitmap(), bitmap::make(0).value());
  EXPECT_TRUE(bitmap().validate().ok());
}

TEST(bitmap, set_reset_and_assign_change_one_bit) {
  SCOPED_TRACE(seed);
  random_source random(seed);
  for (const std::uint64_t size : sizes) {
    pair_of_maps maps(size, 0.5, random);
    for (int round = 0; round < 300 && size > 0; ++round) {
      const std::uint64_t i = random.below(size);
      const bool bit = random.chance(0.5);
      if (random.chance(0.5)) {
        maps.real.assign(i, bit);
      } else if (bit) {
        maps.real.set(i);
      } else {
        maps.real.reset(i);
      }
      maps.model[i] = bit;
      ASSERT_EQ(maps.real.get(i), bit);
    }
    maps.expect_equal();
  }
}

TEST(bitmap, words_are_64_bits_from_the_least_significant) {
  SCOPED_TRACE(seed + 1);
  random_source random(seed + 1);
  const pair_of_maps maps(200, 0.5, random);
  for (std::uint64_t i = 0; i < 256; ++i) {
    EXPECT_EQ((maps.real.word(i / 64) >> (i % 64) & 1) != 0, i < 200 && maps.model[i]) << i;
  }
}

TEST(bitmap, counts_ones_of_every_range) {
  SCOPED_TRACE(seed + 2);
  random_source random(seed + 2);
  for (const std::uint64_t size : {0u, 1u, 63u, 64u, 65u, 200u}) {
    const pair_of_maps maps(size, 0.5, random);
    for (std::uint64_t first = 0; first <= size; ++first) {
      std::uint64_t expected = 0;
      for (std::uint64_t last = first; last <= size; ++last) {
        ASSERT_EQ(maps.real.count(first, last), expected) << first << ' ' << last << " of " << size;
        if (last < size) expected += maps.model[last];
      }
      if (first == 0) {
        ASSERT_EQ(maps.real.count(), expected);
      }
    }
  }
}

TEST(bitmap, finds_the_next_one_and_zero) {
  SCOPED_TRACE(seed + 3);
  random_source random(seed + 3);
  for (const std::uint64_t size : sizes) {
    for (const double density : {0.0, 0.01, 0.5, 0.99, 1.0}) {
      const pair_of_maps maps(size, density, random);
      for (std::uint64_t from = 0; from <= size; ++from) {
        ASSERT_EQ(maps.real.find_one(from), maps.find(from, true)) << from << " of " << size;
        ASSERT_EQ(maps.real.find_zero(from), maps.find(from, false)) << from << " of " << size;
      }
    }
  }
}

TEST(bitmap, insert_and_remove_shift_a_range) {
  SCOPED_TRACE(seed + 4);
  random_source random(seed + 4);
  for (const std::uint64_t size : sizes) {
    if (size == 0) continue;
    pair_of_maps maps(size, 0.5, random);
    for (int round = 0; round < 400; ++round) {
      std::uint64_t i = random.below(size);
      std::uint64_t last = round % 8 == 0 ? size - 1 : random.below(size);
      if (i > last) std::swap(i, last);
      const bool bit = random.chance(0.5);
      const auto at = [&](std::uint64_t place) { return maps.model.begin() + static_cast<std::ptrdiff_t>(place); };
      if (random.chance(0.5)) {
        maps.real.insert(i, last, bit);
        maps.model.erase(at(last));
        maps.model.insert(at(i), bit);
      } else {
        maps.real.remove(i, last, bit);
        maps.model.erase(at(i));
        maps.model.insert(at(last), bit);
      }
      maps.expect_equal();
      if (HasFatalFailure()) return;
    }
  }
}

TEST(bitmap, remove_undoes_insert) {
  SCOPED_TRACE(seed + 5);
  random_source random(seed + 5);
  bitmap map = pair_of_maps(300, 0.5, random).real;
  for (std::uint64_t i = 0; i < 300; ++i) {
    const bitmap before = map;
    const bool lost = map.get(299);
    map.insert(i, 299, true);
    map.remove(i, 299, lost);
    ASSERT_EQ(map, before) << i;
  }
}

TEST(bitmap, equality_and_copies) {
  SCOPED_TRACE(seed + 6);
  random_source random(seed + 6);
  const bitmap map = pair_of_maps(129, 0.5, random).real;
  bitmap copy = map;
  EXPECT_EQ(copy, map);
  copy.assign(128, !copy.get(128));
  EXPECT_NE(copy, map);
  EXPECT_NE(bitmap::make(1).value(), bitmap::make(2).value());  // the same words
  const bitmap moved = std::move(copy);
  EXPECT_EQ(moved.size(), 129u);
}

TEST(bitmap, holds_more_than_32_bits_can_count) {
  const std::uint64_t far = std::uint64_t{1} << 32;
  bitmap map = bitmap::make(far + 1000).value();
  map.set(far + 70);
  EXPECT_TRUE(map.get(far + 70));
  EXPECT_FALSE(map.get(70));
  EXPECT_EQ(map.find_one(far - 1000), far + 70);
  EXPECT_EQ(map.find_one(far + 71), far + 1000);
  EXPECT_EQ(map.find_zero(far + 70), far + 71);
  EXPECT_EQ(map.count(far - 5000, far + 1000), 1u);
  map.insert(far - 3, far + 900, true);
  EXPECT_TRUE(map.get(far - 3));
  EXPECT_EQ(map.find_one(far - 2), far + 71);
  map.remove(far - 3, far + 900, false);
  EXPECT_EQ(map.find_one(far - 1000), far + 70);
  EXPECT_TRUE(map.validate().ok());
}

TEST(bitmap, refuses_what_no_machine_has) {
  EXPECT_FALSE(bitmap::make(std::numeric_limits<std::uint64_t>::max()).ok());
  EXPECT_FALSE(bitmap::make(std::uint64_t{1} << 60).ok());
}

// An archive that changes the fields as a damaged file would.
template <class Damage>
status validate_after(std::uint64_t size, Damage damage) {
  bitmap map = bitmap::make(size).value();
  bitmap::visit(map, damage);
  return map.validate();
}

TEST(bitmap, validate_refuses_damaged_fields) {
  using words_type = zeroed_array<std::uint64_t>;
  EXPECT_TRUE(validate_after(100, [](auto&, auto&) {}).ok());
  EXPECT_TRUE(validate_after(100, [](auto&, words_type& words) { words[1] = low_mask(36); }).ok());
  EXPECT_FALSE(validate_after(100, [](std::uint64_t& size, auto&) { size = 64; }).ok());
  EXPECT_FALSE(validate_after(100, [](std::uint64_t& size, auto&) { size = 129; }).ok());
  EXPECT_FALSE(validate_after(100, [](std::uint64_t& size, auto&) { size = 0; }).ok());
  EXPECT_FALSE(validate_after(0, [](std::uint64_t& size, auto&) { size = std::numeric_limits<std::uint64_t>::max(); }).ok());
  EXPECT_FALSE(validate_after(100, [](auto&, words_type& words) { words = words_type(); }).ok());
  EXPECT_FALSE(validate_after(100, [](auto&, words_type& words) { words = words_type::make(3).value(); }).ok());
  EXPECT_FALSE(validate_after(0, [](auto&, words_type& words) { words = words_type::make(1).value(); }).ok());
  for (unsigned b = 36; b < 64; ++b) {
    EXPECT_FALSE(validate_after(100, [b](auto&, words_type& words) { words[1] = std::uint64_t{1} << b; }).ok()) << b;
  }
}

TEST(bitmap, visit_lists_every_field) {
  SCOPED_TRACE(seed + 7);
  random_source random(seed + 7);
  const bitmap saved = pair_of_maps(129, 0.5, random).real;
  bitmap loaded;
  const auto save = [&](const auto&... from) {
    const auto load = [&](auto&... to) { ((to = from), ...); };
    bitmap::visit(loaded, load);
  };
  bitmap::visit(saved, save);
  EXPECT_EQ(loaded, saved);
  EXPECT_TRUE(loaded.validate().ok());
}

}  // namespace
