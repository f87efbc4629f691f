#include "tamis/detail/hash/siphash.hpp"

#include <bit>
#include <cstring>

namespace tamis::detail {
namespace {

struct sip_state {
  std::uint64_t v0, v1, v2, v3;

  TAMIS_INLINE void round() {
    v0 += v1;
    v2 += v3;
    v1 = std::rotl(v1, 13) ^ v0;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 = std::rotl(v0, 32);
    v2 += v1;
    v0 += v3;
    v1 = std::rotl(v1, 17) ^ v2;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 = std::rotl(v2, 32);
  }
  TAMIS_INLINE void absorb(std::uint64_t word) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }
  TAMIS_INLINE std::uint64_t squeeze() {
    for (int i = 0; i < 4; ++i) round();
    return v0 ^ v1 ^ v2 ^ v3;
  }
};

}  // namespace

digest siphash128(std::span<const std::byte> message, std::array<std::uint64_t, 2> key) {
  constexpr std::uint64_t long_output = 0xee;
  sip_state state{key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du ^ long_output, key[0] ^ 0x6c7967656e657261u,
                  key[1] ^ 0x7465646279746573u};
  const std::size_t whole = message.size() / 8 * 8;
  for (std::size_t i = 0; i < whole; i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, message.data() + i, 8);
    state.absorb(word);
  }
  std::uint64_t last = std::uint64_t{message.size()} << 56;  // the length's low byte stands above the remaining bytes
  if (message.size() != whole) std::memcpy(&last, message.data() + whole, message.size() - whole);
  state.absorb(last);
  state.v2 ^= long_output;
  const std::uint64_t high = state.squeeze();
  state.v1 ^= 0xdd;
  return {high, state.squeeze()};
}

}  // namespace tamis::detail
