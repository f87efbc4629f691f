#include "tamis/detail/hash/siphash.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

namespace tamis {

using namespace detail;

namespace {

std::string hex(digest d) {
  std::array<unsigned char, 16> bytes{};
  std::memcpy(bytes.data(), &d.high, 8);
  std::memcpy(bytes.data() + 8, &d.low, 8);
  std::string text;
  for (const unsigned char byte : bytes) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", byte);
    text += two;
  }
  return text;
}

// The authors' vectors_sip128 (github.com/veorq/SipHash): key 00 01 … 0f, message 00 01 … (length - 1).
TEST(siphash, published_vectors) {
  constexpr std::array<std::uint64_t, 2> key = {0x0706050403020100u, 0x0f0e0d0c0b0a0908u};
  std::array<std::byte, 64> message{};
  for (std::size_t i = 0; i < message.size(); ++i) message[i] = static_cast<std::byte>(i);
  const std::pair<std::size_t, const char*> vectors[] = {
      {0, "a3817f04ba25a8e66df67214c7550293"},  {1, "da87c1d86b99af44347659119b22fc45"},
      {2, "8177228da4a45dc7fca38bdef60affe4"},  {3, "9c70b60c5267a94e5f33b6b02985ed51"},
      {4, "f88164c12d9c8faf7d0f6e7c7bcd5579"},  {5, "1368875980776f8854527a07690e9627"},
      {6, "14eeca338b208613485ea0308fd7a15e"},  {7, "a1f1ebbed8dbc153c0b84aa61ff08239"},
      {8, "3b62a9ba6258f5610f83e264f31497b4"},  {15, "5493e99933b0a8117e08ec0f97cfc3d9"},
      {16, "6ee2a4ca67b054bbfd3315bf85230577"}, {63, "5150d1772f50834a503e069a973fbd7c"},
  };
  for (const auto& [length, expected] : vectors) {
    EXPECT_EQ(hex(siphash128(std::span(message).first(length), key)), expected) << "length " << length;
  }
}

TEST(siphash, every_key_bit_matters) {
  const std::array<std::byte, 11> message{};
  const digest plain = siphash128(message, {1, 2});
  for (unsigned bit = 0; bit < 128; ++bit) {
    std::array<std::uint64_t, 2> key = {1, 2};
    key[bit / 64] ^= std::uint64_t{1} << (bit % 64);
    EXPECT_NE(siphash128(message, key), plain) << bit;
  }
}

// The length is part of the message: trailing zeros are not lost.
TEST(siphash, zeros_of_every_length_differ) {
  const std::array<std::byte, 40> zeros{};
  for (std::size_t a = 0; a < zeros.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      EXPECT_NE(siphash128(std::span(zeros).first(a), {1, 2}), siphash128(std::span(zeros).first(b), {1, 2}));
    }
  }
}

}  // namespace
}  // namespace tamis
