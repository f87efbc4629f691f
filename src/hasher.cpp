#include "tamis/hasher.hpp"

#include <algorithm>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "tamis/detail/hash/siphash.hpp"

namespace tamis {

using namespace detail;

namespace {

constexpr std::string_view check_text = "tamis: which hash is this?";

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
  return std::nullopt;
}

// Up to 16 hexadecimal digits, most significant first.
std::optional<std::uint64_t> hex_word(std::string_view digits) {
  std::uint64_t word = 0;
  for (const char c : digits) {
    const auto digit = hex_digit(c);
    if (!digit) return std::nullopt;
    word = word << 4 | *digit;
  }
  return word;
}

}  // namespace

std::string_view to_string(hash_family family) {
  return family == hash_family::fast ? "fast" : family == hash_family::keyed ? "keyed" : "custom";
}

std::optional<hash_family> parse_hash_family(std::string_view name) {
  if (name == "fast") return hash_family::fast;
  if (name == "keyed") return hash_family::keyed;
  return std::nullopt;
}

hasher hasher::fast(std::uint64_t seed) {
  hasher made;
  made.bitflip_ = bitflip_of(seed);
  made.secret_ = {seed, 0};
  return made;
}

hasher hasher::keyed(std::array<std::uint64_t, 2> secret) {
  hasher made;
  made.family_ = hash_family::keyed;
  made.secret_ = secret;
  return made;
}

result<hasher> hasher::parse(hash_family family, std::string_view seed) {
  if (family == hash_family::fast) {
    const auto word = seed.size() <= 16 ? hex_word(seed) : std::nullopt;
    if (!word) return failure{"seed '" + std::string(seed) + "': the fast hash takes up to 16 hexadecimal digits"};
    return fast(*word);
  }
  const auto first = seed.size() == 32 ? hex_word(seed.substr(0, 16)) : std::nullopt;
  const auto second = seed.size() == 32 ? hex_word(seed.substr(16)) : std::nullopt;
  // The seed itself stays out of the message: it is a secret, and messages end up in logs.
  if (!first || !second) return failure{"seed: the keyed hash takes a secret of exactly 32 hexadecimal digits"};
  // SipHash reads its key as two little-endian words.
  return keyed({__builtin_bswap64(*first), __builtin_bswap64(*second)});
}

result<hasher> hasher::from(const hash_identity& identity) {
  if (identity.family == hash_family::custom)
    return failure{"it was filled through the hash '" + identity.name + "', which belongs to another program",
                   error_code::wrong_hash};
  if (identity.family != hash_family::fast)
    return failure{"the keyed hash needs its secret, which is not stored", error_code::wrong_hash};
  hasher made = fast(identity.seed);
  if (made.identity() != identity)
    return failure{"the hash check value does not belong to the stored seed", error_code::wrong_hash};
  return made;
}

digest hasher::operator()(std::span<const std::byte> key) const {
  if (family_ == hash_family::keyed) return siphash128(key, secret_);
  const XXH128_hash_t hash = XXH3_128bits_withSeed(key.data(), key.size(), secret_[0]);
  return {hash.high64, hash.low64};
}

digest hasher::keyed_unmixed(std::uint64_t word) const noexcept {
  digest d = siphash128(std::as_bytes(std::span(&word, 1)), secret_);
  // mix_low backwards.
  constexpr std::uint64_t inverse_factor = 0x02ab9c720d1024adu;
  static_assert(inverse_factor * low_factor == 1);
  d.low ^= d.low >> 28 ^ d.low >> 56;
  d.low *= inverse_factor;
  d.low ^= d.low >> 35;
  return d;
}

hash_identity hasher::identity() const {
  const std::uint64_t seed = family_ == hash_family::fast ? secret_[0] : 0;
  return {family_, seed, (*this)(check_text).low, {}};
}

}  // namespace tamis
