#pragma once

// Saved bytes, damaged in every way that a test can think of. The layout is that of docs/format.md.

#include <gtest/gtest.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/detail/io/checksum.hpp"

namespace tamis::test {

using byte_vector = std::vector<std::byte>;

inline byte_vector bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

template <class T>
T number_at(const byte_vector& bytes, std::size_t offset) {
  assert(offset + sizeof(T) <= bytes.size());
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

template <class T>
void put_number(byte_vector& bytes, std::size_t offset, T value) {
  assert(offset + sizeof value <= bytes.size());
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

inline byte_vector with_flipped_bit(byte_vector bytes, std::size_t bit) {
  bytes[bit / 8] ^= std::byte{1} << (bit % 8);
  return bytes;
}

inline std::uint64_t sum_of(std::span<const std::byte> bytes) {
  detail::checksum sum;
  sum.update(bytes);
  return sum.value();
}

// Where things stand in a frame.
struct frame_layout {
  static constexpr std::size_t version = 8;
  static constexpr std::size_t kind_version = 12;
  static constexpr std::size_t payload_length = 16;
  static constexpr std::size_t seed = 24;
  static constexpr std::size_t check = 32;
  static constexpr std::size_t family = 40;
  static constexpr std::size_t block_bits = 41;
  static constexpr std::size_t kind_length = 42;
  static constexpr std::size_t kind = 43;
  std::size_t table;  // of the blocks' checksums
  std::size_t blocks;
  std::size_t header_sum;
  std::size_t payload;
  std::size_t payload_end;
  std::size_t block_bytes;

  explicit frame_layout(const byte_vector& frame)
      : table((kind + number_at<std::uint8_t>(frame, kind_length) + 7) / 8 * 8),
        block_bytes(std::size_t{1} << number_at<std::uint8_t>(frame, block_bits)) {
    const auto length = number_at<std::uint64_t>(frame, payload_length);
    blocks = (length + block_bytes - 1) / block_bytes;
    header_sum = table + 8 * blocks;
    payload = (header_sum + 8 + 63) / 64 * 64;
    payload_end = payload + length;
  }
};

inline byte_vector kind_in(const byte_vector& frame) {
  const auto kind = frame.begin() + frame_layout::kind;
  return {kind, kind + number_at<std::uint8_t>(frame, frame_layout::kind_length)};
}

inline byte_vector payload_of(const byte_vector& frame) {
  const frame_layout at(frame);
  return {frame.begin() + static_cast<std::ptrdiff_t>(at.payload), frame.begin() + static_cast<std::ptrdiff_t>(at.payload_end)};
}

// Makes all checksums right again after a change that left all lengths as they are: what a forger would do.
inline byte_vector resealed(byte_vector frame) {
  const frame_layout at(frame);
  assert(at.payload_end == frame.size());
  const std::span<const std::byte> all(frame);
  for (std::size_t i = 0; i < at.blocks; ++i) {
    const std::size_t begin = at.payload + i * at.block_bytes;
    put_number(frame, at.table + 8 * i, sum_of(all.subspan(begin, std::min(at.block_bytes, at.payload_end - begin))));
  }
  put_number(frame, at.header_sum, sum_of(all.first(at.header_sum)));
  return frame;
}

// The header of a frame around another payload, with right checksums.
inline byte_vector reframed(const byte_vector& frame, const byte_vector& payload) {
  byte_vector made(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(frame_layout(frame).table));
  put_number(made, frame_layout::payload_length, std::uint64_t{payload.size()});
  made.resize(frame_layout(made).payload);
  made.insert(made.end(), payload.begin(), payload.end());
  return resealed(std::move(made));
}

// Does the answer carry an error whose message contains `words`?
template <class Answer>
::testing::AssertionResult refused(const Answer& answer, std::string_view words = "") {
  if (answer.ok()) return ::testing::AssertionFailure() << "accepted, though it should be refused";
  if (answer.message().empty()) return ::testing::AssertionFailure() << "refused without a reason";
  if (answer.message().find(words) == std::string::npos) {
    return ::testing::AssertionFailure() << "the reason does not say '" << words << "': " << answer.message();
  }
  return ::testing::AssertionSuccess();
}

}  // namespace tamis::test
