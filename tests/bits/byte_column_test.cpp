#include "tamis/bits/byte_column.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tamis/base/random.hpp"

namespace {

using namespace tamis;

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
    ASSERT_EQ(tamis::plain::equal_bytes(bytes, wanted), expected);
    ASSERT_EQ(equal_sixteen_bytes(bytes, wanted), expected & 0xffff);
  }
}

TEST(byte_column, compares_16_bytes_with_four_values) {
  random_source random(2);
  std::uint8_t bytes[16];
  for (int round = 0; round < 20000; ++round) {
    const std::uint64_t values = 1 + random.below(256);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.below(values));
    std::uint32_t wanted = 0;
    std::uint64_t expected = 0;
    for (unsigned k = 0; k < 4; ++k) {
      const auto value = static_cast<std::uint8_t>(random.below(values));
      wanted |= std::uint32_t{value} << (8 * k);
      for (unsigned i = 0; i < 16; ++i) expected |= std::uint64_t{bytes[i] == value} << (16 * k + i);
    }
    ASSERT_EQ(equal_windows(bytes, wanted), expected);
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

}  // namespace
