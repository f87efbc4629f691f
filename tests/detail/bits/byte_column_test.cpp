#include "tamis/detail/bits/byte_column.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tamis/detail/base/random.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;

TEST(byte_column, compares_64_bytes) {
  random_source random(1);
  std::uint8_t bytes[64];
  for (int round = 0; round < 20000; ++round) {
    const std::uint64_t values = 1 + random.below(256);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.below(values));
    const auto wanted = static_cast<std::uint8_t>(random.below(values));
    std::uint64_t expected = 0;
    for (unsigned i = 0; i < 64; ++i) expected |= std::uint64_t{bytes[i] == wanted} << i;
    ASSERT_EQ(equal_bytes(bytes, wanted), expected);
    ASSERT_EQ(tamis::detail::plain::equal_bytes(bytes, wanted), expected);
    ASSERT_EQ(equal_sixteen_bytes(bytes, wanted), expected & 0xffff);
  }
}

TEST(byte_column, compares_64_bytes_of_seven_bits_and_reads_the_eighth) {
  random_source random(3);
  std::uint8_t bytes[64];
  for (int round = 0; round < 20000; ++round) {
    const std::uint64_t values = 1 + random.below(128);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.below(values) | (random() & 0x80));
    const auto wanted = static_cast<std::uint8_t>(random.below(values));
    std::uint64_t expected = 0;
    std::uint64_t tops = 0;
    for (unsigned i = 0; i < 64; ++i) {
      expected |= std::uint64_t{(bytes[i] & 0x7f) == wanted} << i;
      tops |= std::uint64_t{bytes[i] >= 0x80} << i;
    }
    ASSERT_EQ(equal_below_top(bytes, wanted), expected);
    ASSERT_EQ(tamis::detail::plain::equal_below_top(bytes, wanted), expected);
    ASSERT_EQ(top_bits(bytes), tops);
    ASSERT_EQ(tamis::detail::plain::top_bits(bytes), tops);
  }
}

TEST(byte_column, reads_one_bit_of_64_bytes_and_compares_each_with_the_second_next) {
  random_source random(4);
  std::uint8_t bytes[66];
  for (int round = 0; round < 20000; ++round) {
    const std::uint64_t values = 1 + random.below(256);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.below(values));
    const auto k = static_cast<unsigned>(random.below(8));
    std::uint64_t bits = 0;
    std::uint64_t equal = 0;
    for (unsigned i = 0; i < 64; ++i) {
      bits |= std::uint64_t{bytes[i] >> k & 1u} << i;
      equal |= std::uint64_t{bytes[i] == bytes[i + 2]} << i;
    }
    ASSERT_EQ(bit_of_bytes(bytes, k), bits);
    ASSERT_EQ(equal_to_second_next(bytes), equal);
  }
}

TEST(byte_column, compares_eight_bytes_with_eight_values) {
  random_source random(2);
  std::uint8_t bytes[8];
  for (int round = 0; round < 20000; ++round) {
    const std::uint64_t values = 1 + random.below(256);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.below(values));
    const auto among = static_cast<std::uint32_t>(random.below(256));
    std::uint64_t wanted = 0;
    std::uint64_t which = 0;
    for (unsigned k = 0; k < 8; ++k) wanted |= random.below(values) << (8 * k), which |= random.below(8) << (8 * k);
    std::uint32_t any = 0;
    std::uint32_t chosen = 0;
    for (unsigned i = 0; i < 8; ++i) {
      const auto value = [&](std::uint64_t k) { return static_cast<std::uint8_t>(wanted >> (8 * k)); };
      for (unsigned k = 0; k < 8; ++k) any |= static_cast<std::uint32_t>(bytes[i] == value(k)) << i;
      chosen |= static_cast<std::uint32_t>(bytes[i] == value(which >> (8 * i) & 7)) << i;
    }
    const std::uint32_t found = equal_any(bytes, wanted, among);
    ASSERT_EQ((found | found >> 8 | found >> 16 | found >> 24) & 0xff, any & among);
    ASSERT_EQ(equal_chosen(bytes, wanted, which), chosen);
  }
}

TEST(byte_column, moves_ranges_of_every_length_and_nothing_else) {
  for (std::uint64_t first = 1; first < 40; ++first) {
    for (std::uint64_t size = 0; first + size < 200; ++size) {
      byte_column column = byte_column::make(200).value();
      std::vector<std::uint8_t> model(200);
      for (std::uint64_t i = 0; i < 200; ++i) column.set(i, model[i] = static_cast<std::uint8_t>(i + 1));
      column.move_up(first, first + size);
      model.insert(model.begin() + static_cast<std::ptrdiff_t>(first), model[first]);
      model.erase(model.begin() + static_cast<std::ptrdiff_t>(first + size + 1));
      for (std::uint64_t i = 0; i < 200; ++i) ASSERT_EQ(column.get(i), model[i]) << first << ' ' << size << ' ' << i;
      column.move_down(first + 1, first + size + 1);
      for (std::uint64_t i = first; i < first + size; ++i) ASSERT_EQ(column.get(i), i + 1) << first << ' ' << size;
      for (std::uint64_t i = first + size + 1; i < 200; ++i) ASSERT_EQ(column.get(i), i + 1);
      ASSERT_TRUE(column.validate().ok());
    }
  }
}

TEST(byte_column, inserts_and_removes_among_64_and_touches_nothing_else) {
  constexpr std::uint64_t size = 192;
  for (const std::uint64_t first : {0u, 64u, 128u}) {
    for (unsigned at = 0; at < 64; ++at) {
      for (unsigned last = at; last < 64; ++last) {
        byte_column column = byte_column::make(size).value();
        std::vector<std::uint8_t> model(size);
        for (std::uint64_t i = 0; i < size; ++i) column.set(i, model[i] = static_cast<std::uint8_t>(i + 1));
        const std::vector<std::uint8_t> before = model;
        column.insert_among(first, at, last, 250);
        const auto block = model.begin() + static_cast<std::ptrdiff_t>(first);
        std::copy_backward(block + at, block + last, block + last + 1);
        block[at] = 250;
        for (std::uint64_t i = 0; i < size; ++i) ASSERT_EQ(column.get(i), model[i]) << first << ' ' << at << ' ' << last;
        column.remove_among(first, at, last + 1);
        block[last] = 0;
        std::copy(before.begin() + static_cast<std::ptrdiff_t>(first + at),
                  before.begin() + static_cast<std::ptrdiff_t>(first + last), block + at);
        for (std::uint64_t i = 0; i < size; ++i) ASSERT_EQ(column.get(i), model[i]) << first << ' ' << at << ' ' << last;
        ASSERT_TRUE(column.validate().ok());
      }
    }
  }
}

TEST(byte_column, a_block_goes_down_with_the_first_of_the_next) {
  const std::uint64_t size = 192;
  for (const std::uint64_t first : {0u, 64u}) {
    for (unsigned at = 0; at < 64; ++at) {
      byte_column column = byte_column::make(size).value();
      std::vector<std::uint8_t> model(size);
      for (std::uint64_t i = 0; i < size; ++i) column.set(i, model[i] = static_cast<std::uint8_t>(i + 1));
      column.pull_among(first, at);
      const auto block = model.begin() + static_cast<std::ptrdiff_t>(first);
      std::copy(block + at + 1, block + 65, block + at);
      for (std::uint64_t i = 0; i < size; ++i) ASSERT_EQ(column.get(i), model[i]) << first << ' ' << at;
      ASSERT_TRUE(column.validate().ok());
    }
  }
}

}  // namespace
