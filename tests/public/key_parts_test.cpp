#include "tamis/key_parts.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tamis/hasher.hpp"

namespace mine {

enum class protocol : std::uint8_t { tcp = 6, udp = 17 };
struct address {
  std::uint32_t host = 0;
  std::uint16_t port = 0;
};
void tamis_key_parts(tamis::key_parts& parts, const address& a) { parts(a.host, a.port); }

struct flow {
  address from;
  address to;
  protocol how = protocol::tcp;
  std::string name = {};
};
void tamis_key_parts(tamis::key_parts& parts, const flow& f) { parts(f.from, f.to, f.how, f.name); }

struct stranger {};

}  // namespace mine

namespace tamis {
namespace {

static_assert(composed_key<mine::flow> && hashable_key<mine::flow>);
static_assert(!hashable_key<mine::stranger> && !hashable_key<double> && !hashable_key<bool> && !hashable_key<char>);
static_assert(hashable_key<std::string> && hashable_key<const char*> && hashable_key<std::int16_t>);
static_assert(hashable_key<std::vector<std::byte>>);

template <class... Parts>
std::vector<std::byte> bytes_of(const Parts&... parts) {
  key_parts all;
  all(parts...);
  return {all.bytes().begin(), all.bytes().end()};
}

TEST(key_parts, an_integer_alone_is_its_eight_bytes) {
  const hasher hash = hasher::fast(3);
  EXPECT_EQ(hash(std::span<const std::byte>(bytes_of(std::uint16_t{770}))), hash(std::uint64_t{770}));
  EXPECT_EQ(bytes_of(std::int8_t{-1}), bytes_of(~std::uint64_t{0}));
  EXPECT_EQ(bytes_of(true), bytes_of(1));
  EXPECT_EQ(bytes_of('\xe9'), bytes_of(0xe9));  // on machines with a signed char, too
  EXPECT_EQ(bytes_of(mine::protocol::udp), bytes_of(17));
}

TEST(key_parts, different_parts_give_different_bytes) {
  EXPECT_NE(bytes_of(std::string("ab"), std::string("c")), bytes_of(std::string("a"), std::string("bc")));
  EXPECT_NE(bytes_of(std::string()), bytes_of(std::string(), std::string()));
  EXPECT_NE(bytes_of(1, 2), bytes_of(2, 1));
  EXPECT_NE(bytes_of(std::string(8, '\0')), bytes_of(0));
}

TEST(key_parts, parts_of_parts_stand_in_a_row) {
  const mine::flow f{{1, 80}, {2, 443}, mine::protocol::udp, "dns"};
  EXPECT_EQ(bytes_of(f), bytes_of(1, 80, 2, 443, 17, std::string_view("dns")));
}

// A short key is kept where it is, a longer one moves: at every border all bytes stay.
TEST(key_parts, keys_of_every_length_keep_their_bytes) {
  for (std::size_t length = 0; length < 600; ++length) {
    const std::string first(length, 'x');
    const auto bytes = bytes_of(first, 7, first);
    ASSERT_EQ(bytes.size(), 2 * (8 + length) + 8);
    std::uint64_t stored = 0;
    std::memcpy(&stored, bytes.data(), 8);
    ASSERT_EQ(stored, length);
    for (std::size_t i = 0; i < length; ++i) {
      ASSERT_EQ(bytes[8 + i], std::byte{'x'});
      ASSERT_EQ(bytes[8 + length + 8 + 8 + i], std::byte{'x'});
    }
    ASSERT_EQ(bytes[8 + length], std::byte{7});
  }
}

TEST(key_parts, a_hasher_takes_them) {
  const mine::flow f{{1, 80}, {2, 443}, mine::protocol::udp, "dns"};
  mine::flow other = f;
  other.to.port = 444;
  for (const hasher& hash : {hasher(), hasher::keyed({1, 2})}) {
    EXPECT_EQ(hash(f), hash(std::span<const std::byte>(bytes_of(f))));
    EXPECT_NE(hash(f), hash(other));
  }
}

}  // namespace
}  // namespace tamis
