#pragma once

// Where a digest's stream stands in a filter of several trees, the roots. The first word of a digest is a fraction in [0, 1);
// times the number of roots, its whole part is the root and what remains the first word of the stream, which goes on with the
// digest's second word:
//
//   digest   | root | stream: depth | quotient | payload … | second word |          for any number of roots; order is kept
//
// So lookups hardly ever need the second word. (The last bits of the stream's first word say little, but all of it together
// says all of the digest's.)
//
// In even growth all roots have the same share of the keys, and all segments are full at the same time. In flat growth each
// eighth of the digests has its own number of roots, and so its own share per root, in steps of the eighth root of two: while
// some segments have just split, others are nearly full.

#include <array>
#include <bit>
#include <cstdint>

#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/hash/place.hpp"
#include "tamis/result.hpp"

namespace tamis::detail {

// A prefix of the streams of one root.
struct stream_prefix {
  std::uint64_t root = 0;
  uint128 bits = 0;  // left-aligned, zero behind the end
  unsigned length = 0;

  constexpr bool matches(uint128 stream) const { return length == 0 || (bits ^ stream) >> (128 - length) == 0; }
  friend constexpr bool operator==(const stream_prefix&, const stream_prefix&) = default;
};

class stream_places {
 public:
  static constexpr std::array<std::uint64_t, 8> flat_roots = {16, 15, 13, 12, 11, 10, 10, 9};  // 2^(4 - i/8), to whole numbers
  static constexpr std::uint64_t flat_sum = 96;

  stream_places() = default;
  static constexpr stream_places even(std::uint64_t roots) { return {roots, false}; }
  // Requires: a multiple of flat_sum.
  static constexpr stream_places flat(std::uint64_t roots) { return {roots, true}; }

  constexpr std::uint64_t roots() const { return roots_; }
  constexpr bool is_flat() const { return flat_; }

  struct found {
    std::uint64_t place;   // the root, then the first `bits` bits of the stream
    std::uint64_t suffix;  // the next 64
  };
  // Requires: places == roots << bits < 2^63.
  TAMIS_INLINE constexpr found locate(digest d, unsigned bits, std::uint64_t places) const {
    if (flat_) return locate_flat(d, bits);
    return found_in(d, bits, places);
  }

  // The 64 bits behind a place that has `bits` bits of the stream.  Requires: bits < 64.
  TAMIS_INLINE static constexpr std::uint64_t suffix_behind(const word_placed& p, digest d, unsigned bits) {
    return p.rest | d.low >> 1 >> (63 - bits);
  }

  struct position {
    std::uint64_t root;
    uint128 stream;
  };
  constexpr position stream_of(digest d) const {
    const auto eighth = static_cast<unsigned>(d.high >> 61);
    const digest in = flat_ ? below_eighth(d) : d;
    const word_placed p = place_of_word(in.high, flat_ ? roots_in(eighth) : roots_);
    return {p.place + (flat_ ? roots_before(eighth) : 0), static_cast<uint128>(p.rest) << 64 | in.low};
  }

  // All digests whose stream has this prefix, or at least its first bits.
  constexpr digest_range digests_of(const stream_prefix& p) const {
    unsigned eighth = 0;
    while (flat_ && eighth < 7 && p.root >= roots_before(eighth + 1)) ++eighth;
    const std::uint64_t roots = flat_ ? roots_in(eighth) : roots_;
    const std::uint64_t root = p.root - (flat_ ? roots_before(eighth) : 0);
    const unsigned bits = std::min(p.length, 62 - static_cast<unsigned>(std::bit_width(roots)));
    const std::uint64_t first_bits = bits == 0 ? 0 : static_cast<std::uint64_t>(p.bits >> (128 - bits));
    const digest_range all = digests_of_word_place((root << bits) + first_bits, roots << bits);
    return flat_ ? digest_range{into_eighth(all.first, eighth, true), into_eighth(all.last, eighth, false)} : all;
  }
  // The share of all digests that has this root.
  constexpr double share(std::uint64_t root) const {
    if (!flat_) return 1.0 / static_cast<double>(roots_);
    unsigned eighth = 0;
    while (eighth < 7 && root >= roots_before(eighth + 1)) ++eighth;
    return 0.125 / static_cast<double>(roots_in(eighth));
  }

  friend bool operator==(const stream_places&, const stream_places&) = default;
  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.roots_, self.flat_);
  }
  status validate() const {
    if (is_wrong(roots_ == 0) || is_wrong(roots_ >> 40 != 0) || is_wrong(flat_ && roots_ % flat_sum != 0)) {
      return failure{"a filter cannot have " + std::to_string(roots_) + " roots"};
    }
    return {};
  }

 private:
  constexpr stream_places(std::uint64_t roots, bool flat) : roots_(roots), flat_(flat) {}

  constexpr std::uint64_t roots_in(unsigned eighth) const { return roots_ / flat_sum * flat_roots[eighth]; }
  constexpr std::uint64_t roots_before(unsigned eighth) const {
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < eighth; ++i) sum += flat_roots[i];
    return roots_ / flat_sum * sum;
  }
  static constexpr digest below_eighth(digest d) { return {d.high << 3 | d.low >> 61, d.low << 3}; }
  // Back: the first digest of the eighth that is not before d, or the last one that is not after it.
  static constexpr digest into_eighth(digest d, unsigned eighth, bool first) {
    const bool up = first && (d.low & 7) != 0;
    digest back{d.high >> 3 | std::uint64_t{eighth} << 61, d.high << 61 | d.low >> 3};
    if (up && ++back.low == 0) ++back.high;
    return back;
  }
  constexpr found locate_flat(digest d, unsigned bits) const {
    const auto eighth = static_cast<unsigned>(d.high >> 61);
    const found in = found_in(below_eighth(d), bits, roots_in(eighth) << bits);
    return {in.place + (roots_before(eighth) << bits), in.suffix};
  }
  TAMIS_INLINE static constexpr found found_in(digest d, unsigned bits, std::uint64_t places) {
    const word_placed p = place_of_word(d.high, places);
    return {p.place, suffix_behind(p, d, bits)};
  }

  std::uint64_t roots_ = 1;
  bool flat_ = false;
};

}  // namespace tamis::detail
