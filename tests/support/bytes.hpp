#pragma once

// Saved bytes, damaged in every way that a test can think of. The layout is that of docs/format.md.

#include <gtest/gtest.h>

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
  static constexpr std::size_t kind_length = 12;
  static constexpr std::size_t kind = 20;
  std::size_t kind_version;
  std::size_t family;
  std::size_t seed;
  std::size_t check;
  std::size_t payload_length;
  std::size_t header_sum;
  std::size_t payload;
  std::size_t payload_sum;

  explicit frame_layout(const byte_vector& frame)
      : kind_version(kind + number_at<std::uint64_t>(frame, kind_length)),
        family(kind_version + 4),
        seed(family + 1),
        check(seed + 8),
        payload_length(check + 8),
        header_sum(payload_length + 8),
        payload(header_sum + 8),
        payload_sum(frame.size() - 8) {}
};

// Makes both checksums right again after a change that left all lengths as they are: what a forger would do.
inline byte_vector resealed(byte_vector frame) {
  const frame_layout at(frame);
  const std::span<const std::byte> all(frame);
  put_number(frame, at.header_sum, sum_of(all.first(at.header_sum)));
  put_number(frame, at.payload_sum, sum_of(all.subspan(at.payload, at.payload_sum - at.payload)));
  return frame;
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
