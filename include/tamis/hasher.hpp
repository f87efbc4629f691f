#pragma once

// Keys become digests here and nowhere else. Two families: `fast` (XXH3-128 with a 64-bit seed) and `keyed` (SipHash-2-4 with
// 128-bit output and a 128-bit secret) for keys that an adversary may choose. An integer is hashed as its eight little-endian
// bytes and a string as its characters, so the same bytes give the same digest whatever they came as. Keys of a program's own
// types are hashed as their parts (key_parts.hpp).

#include <array>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tamis/digest.hpp"
#include "tamis/key_parts.hpp"
#include "tamis/result.hpp"

namespace tamis {

enum class hash_family : std::uint8_t { fast = 0, keyed = 1, custom = 2 };  // custom: a program's own (key_filter.hpp)

// "fast", "keyed", "custom", and back; nothing for any other name.
std::string_view to_string(hash_family family);
std::optional<hash_family> parse_hash_family(std::string_view name);

// What a saved filter says about its hash. The seed of `fast` is no secret and is stored; of `keyed` only the check value is,
// which tells whether a secret is the right one without giving it away.
struct hash_identity {
  hash_family family = hash_family::fast;
  std::uint64_t seed = 0;   // always 0 for `keyed`
  std::uint64_t check = 0;  // hash of a fixed text; of `custom`, what the program says
  std::string name = {};    // of `custom`, 1 to 64 bytes; the others have none

  friend bool operator==(const hash_identity&, const hash_identity&) = default;
};

template <class T>
concept integer_key = std::integral<T> && sizeof(T) <= 8 && !std::same_as<T, bool> && !std::same_as<T, char>;

// What a hasher takes beside integers: characters or bytes in a row.
template <class T>
concept byte_key = std::convertible_to<const T&, std::string_view> || std::convertible_to<const T&, std::span<const std::byte>>;

// Everything that is a key.
template <class T>
concept hashable_key = integer_key<T> || byte_key<T> || composed_key<T>;

class hasher {
 public:
  hasher() = default;  // fast, seed 0
  static hasher fast(std::uint64_t seed);
  static hasher keyed(std::array<std::uint64_t, 2> secret);

  // `seed` in hexadecimal: up to 16 digits for `fast` (empty means 0), exactly 32 for `keyed`: the secret's bytes in order.
  static result<hasher> parse(hash_family family, std::string_view seed);
  // The hasher of a saved filter, if its seed is stored (`fast`).
  static result<hasher> from(const hash_identity& identity);

  TAMIS_INLINE digest operator()(integer_key auto key) const {
    const auto word = static_cast<std::uint64_t>(key);  // negative values are sign-extended
    unmixed both;
    // Told which is likely, the compiler keeps what a loop needs in registers and saves them around the rare call.
    if (family_ == hash_family::fast) [[likely]] {
      both = fast_word(word, bitflip_);
    } else {
      both = keyed_word(word);
    }
    return mixed(both);
  }
  // The same for loops over keys that have asked for the family before.  Requires: it is `fast`.
  TAMIS_INLINE digest fast_digest(integer_key auto key) const {
    assert(family_ == hash_family::fast);
    return mixed(fast_word(static_cast<std::uint64_t>(key), bitflip_));
  }
  digest operator()(std::string_view key) const { return (*this)(std::as_bytes(std::span(key.data(), key.size()))); }
  digest operator()(std::span<const std::byte> key) const;
  template <composed_key Key>
  requires(!integer_key<Key> && !byte_key<Key>) digest operator()(const Key& key) const {
    key_parts parts;
    tamis_key_parts(parts, key);
    return (*this)(parts.bytes());
  }

  // Which hash it is, and what a saved filter keeps of it; no secret.
  hash_family family() const { return family_; }
  hash_identity identity() const;

  // What eight integers at once need of `fast` (detail/simd/u64x8.hpp).
  std::uint64_t bitflip() const { return bitflip_; }
  static constexpr std::uint64_t first_factor = 0x9e3779b185ebca87u + (8 << 2);
  static constexpr std::uint64_t second_factor = 0x165667919e3779f9u;

 private:
  // XXH3-128 of eight bytes, written out because the library's own goes through a length test and a call.
  static constexpr std::uint64_t secret_16_to_32 = 0xc4f023344dc994acu;  // XXH3's default secret, words 2 and 3, xored
  static constexpr std::uint64_t bitflip_of(std::uint64_t seed) {
    return secret_16_to_32 + (seed ^ (std::uint64_t{__builtin_bswap32(static_cast<std::uint32_t>(seed))} << 32));
  }
  // The second word is left as it is before its last steps, which both families share: behind the place where they meet, the
  // compiler makes it only where somebody asks for it, and in many filters' lookups that is hardly ever.
  struct unmixed {
    std::uint64_t high;
    std::uint64_t middle;
    std::uint64_t low;
  };
  TAMIS_INLINE static constexpr unmixed fast_word(std::uint64_t word, std::uint64_t bitflip) {
    const auto [upper, low] = detail::multiply_wide(word ^ bitflip, first_factor);
    const std::uint64_t middle = upper + (low << 1);
    std::uint64_t high = middle ^ middle >> 37;
    high *= second_factor;
    high ^= high >> 32;
    return {high, middle, low};
  }
  static constexpr std::uint64_t low_factor = 0x9fb21c651e98df25u;
  TAMIS_INLINE static constexpr std::uint64_t mix_low(std::uint64_t low) {
    low ^= low >> 35;
    low *= low_factor;
    return low ^ low >> 28;
  }
  TAMIS_INLINE static constexpr digest mixed(const unmixed& both) { return {both.high, mix_low(both.low ^ both.middle >> 3)}; }
  TAMIS_INLINE unmixed keyed_word(std::uint64_t word) const {
    const digest d = keyed_unmixed(word);
    return {d.high, 0, d.low};
  }
  // The digest, but for its second word: mix_low gives that.
  // Pure: otherwise a loop of lookups would load its filter's fields anew for every key, in case this call had changed them.
  [[gnu::pure]] digest keyed_unmixed(std::uint64_t word) const noexcept;

  hash_family family_ = hash_family::fast;
  std::uint64_t bitflip_ = bitflip_of(0);         // fast: the seed as XXH3 mixes it into eight-byte keys
  std::array<std::uint64_t, 2> secret_ = {0, 0};  // keyed: the secret; fast: the seed and 0
};

}  // namespace tamis
