#pragma once

// The table of the cuckoo family: buckets of four slots of f = 4 to 32 bits, packed into one bit stream without any padding.
//
//   f = 13:  | s0 | s1 | s2 | s3 | s0 | s1 | s2 | s3 | s0 ...      bucket i begins at bit 4 f i, slot j of it f j bits later
//            bucket 0            | bucket 1          | bucket 2
//
// 4 f i is a multiple of four, so a bucket begins at bit 0 or 4 of a byte and lies within one unaligned load from there: 8
// bytes for f <= 16, 16 bytes above. All four slots are then compared at once in that word, whatever f is:
//
//   x = slots ^ (fingerprint in every slot)             a slot that is equal is now zero
//   (x - 0001 0001 0001 0001) & ~x & 1000 1000 1000 1000  is not zero exactly if some slot is
//
// 0 means empty. What lies above the four slots in the word is the next bucket's; borrows only go upwards, so it never matters.

#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/bits/packed_array.hpp"
#include "tamis/detail/simd/bucket_vectors.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

inline constexpr unsigned slots_per_bucket = 4;
inline constexpr unsigned least_slot_bits = 4;
inline constexpr unsigned most_slot_bits = 32;
inline constexpr unsigned most_narrow_bits = 16;  // up to here a bucket fits one 64-bit word

template <class Word>
constexpr Word every_slot(unsigned width) {
  Word ones = 0;
  for (unsigned slot = 0; slot < slots_per_bucket; ++slot) ones |= Word{1} << (slot * width);
  return ones;
}

// A load from here is cheaper than four shifts, where the width is only known at run time.
template <class Word>
inline constexpr auto every_slot_of = [] {
  constexpr unsigned most = sizeof(Word) == 8 ? most_narrow_bits : most_slot_bits;
  std::array<Word, most + 1> table{};
  for (unsigned width = 1; width <= most; ++width) table[width] = every_slot<Word>(width);
  return table;
}();

// Arithmetic on the four slots of a bucket that lie side by side from bit 0 of a Word; the bits above may be anything. A slot
// is named by its offset: the bit at which it begins. Width is f, or dynamic_width: then it is chosen at run time, up to Most.
template <class Word, unsigned Width, unsigned Most = sizeof(Word) == 8 ? most_narrow_bits : most_slot_bits>
class slot_lanes {
 public:
  using word = Word;
  static constexpr unsigned fixed_width = Width;
  static constexpr unsigned most_width = Width == dynamic_width ? Most : Width;  // NOLINT(bugprone-branch-clone)
  static constexpr bool is_even = Width != dynamic_width && Width % 2 == 0;      // buckets begin at whole bytes
  // What is read of a bucket never lies in two cache lines.
  static constexpr bool is_in_one_line = Width == 16 || (Width == 8 && has_bucket_vectors);

  TAMIS_INLINE constexpr explicit slot_lanes(unsigned width) {
    assert(Width == dynamic_width || Width == width);
    if constexpr (Width == dynamic_width) run_time_ = {width, every_slot_of<Word>[width]};
  }

  TAMIS_INLINE constexpr unsigned width() const {
    if constexpr (Width == dynamic_width) return run_time_.width;
    return Width;
  }
  TAMIS_INLINE constexpr std::uint64_t slot_mask() const { return (std::uint64_t{1} << width()) - 1; }

  // The value in every slot. The constant is hidden from the compiler, which would make six shifts and additions of it.
  TAMIS_INLINE Word repeat(std::uint64_t value) const {
    Word factor = ones();
    if constexpr (sizeof(Word) == 8) asm("" : "+r"(factor));
    return Word{value} * factor;
  }

  // Is some slot the same in both words?
  TAMIS_INLINE constexpr bool any_equal(Word slots, Word pattern) const {
    return (nearly_equal(slots, pattern) & high_bits()) != 0;
  }
  // The same for two buckets at once, without a branch between them.
  TAMIS_INLINE constexpr bool any_equal(Word one, Word two, Word pattern) const {
    return ((nearly_equal(one, pattern) | nearly_equal(two, pattern)) & high_bits()) != 0;
  }

  // The top bit of every slot that is the same in both words. Bits of `ignored` may differ: it must leave every top bit alone.
  TAMIS_INLINE constexpr Word equal(Word slots, Word pattern, Word ignored = 0) const {
    const Word x = (slots ^ pattern) & ~ignored;
    const Word below_top = high_bits() - ones();  // all bits of every slot but its top one
    return ~(((x & below_top) + below_top) | x) & high_bits();
  }
  TAMIS_INLINE constexpr Word empty(Word slots) const { return equal(slots, 0); }

  TAMIS_INLINE static constexpr unsigned how_many(Word top_bits) {
    if constexpr (sizeof(Word) == 8) {
      return popcount(top_bits);
    } else {
      return popcount(static_cast<std::uint64_t>(top_bits)) + popcount(static_cast<std::uint64_t>(top_bits >> 64));
    }
  }

  // One bit for each slot of such a mask: bit 0 for the first, bit 3 for the last.
  TAMIS_INLINE constexpr unsigned mask(Word top_bits) const {
    unsigned bits = 0;
    for (unsigned slot = 0; slot < slots_per_bucket; ++slot)
      bits |= static_cast<unsigned>(get(top_bits, slot * width()) != 0) << slot;
    return bits;
  }

  // The offset of the first slot of such a mask.  Requires: it is not zero.
  TAMIS_INLINE constexpr unsigned first(Word top_bits) const {
    assert(top_bits != 0);
    const auto low = static_cast<std::uint64_t>(top_bits);
    if constexpr (sizeof(Word) == 16) {
      if (low == 0) return 65 + static_cast<unsigned>(std::countr_zero(static_cast<std::uint64_t>(top_bits >> 64))) - width();
    }
    return 1 + static_cast<unsigned>(std::countr_zero(low)) - width();
  }

  TAMIS_INLINE constexpr std::uint64_t get(Word slots, unsigned offset) const {
    return static_cast<std::uint64_t>(slots >> offset) & slot_mask();
  }

 private:
  struct nothing {};
  struct constants {
    unsigned width;
    Word ones;
  };

  TAMIS_INLINE constexpr Word ones() const {
    if constexpr (Width == dynamic_width) return run_time_.ones;
    return every_slot<Word>(Width);
  }
  TAMIS_INLINE constexpr Word high_bits() const { return ones() << (width() - 1); }

  // Has a top bit set if and only if some slot is equal; slots above an equal one may be marked wrongly.
  TAMIS_INLINE constexpr Word nearly_equal(Word slots, Word pattern) const {
    const Word x = slots ^ pattern;
    return (x - ones()) & ~x;
  }

  [[no_unique_address]] std::conditional_t<Width == dynamic_width, constants, nothing> run_time_{};
};

struct slot_place {
  std::uint64_t bucket;
  std::uint32_t offset;
  bool exists;
};

// Buckets as one width sees them. Byte is `std::byte`, or const if nothing may be written.
template <class Byte, class Lanes>
class bucket_access {
 public:
  using lanes_type = Lanes;
  using word = typename Lanes::word;

  TAMIS_INLINE bucket_access(Byte* bytes, unsigned width) : bytes_(bytes), lanes_(width) {}

  TAMIS_INLINE const Lanes& lanes() const { return lanes_; }

  TAMIS_INLINE word load(std::uint64_t bucket) const {
    const Byte* from = first_byte(bucket);
    const unsigned shift = begin_in_byte(bucket);
    if constexpr (sizeof(word) == 8) {
      return load_word(from) >> shift;
    } else {
      const std::uint64_t low = load_word(from);
      const std::uint64_t high = load_word(from + 8);
      return word{high >> shift} << 64 | (low >> shift | high << 1 << (63 - shift));
    }
  }

  TAMIS_INLINE std::uint64_t get(std::uint64_t bucket, unsigned offset) const {
    const std::uint64_t bit = first_bit(bucket) + offset;
    return load_word(bytes_ + bit / 8) >> (bit % 8) & lanes_.slot_mask();
  }

  // Requires: value < 2^f.
  TAMIS_INLINE void set(std::uint64_t bucket, unsigned offset, std::uint64_t value) const {
    assert(value <= lanes_.slot_mask());
    const std::uint64_t bit = first_bit(bucket) + offset;
    const std::uint64_t old = load_word(bytes_ + bit / 8);
    const std::uint64_t changed = blend(old, value << (bit % 8), lanes_.slot_mask() << (bit % 8));
    std::memcpy(bytes_ + bit / 8, &changed, sizeof changed);
  }

  // Turns an empty slot into one that holds the value, or back.  Requires: it is empty or holds the value, which is < 2^f.
  TAMIS_INLINE void flip(std::uint64_t bucket, unsigned offset, std::uint64_t value) const {
    assert(get(bucket, offset) == 0 || get(bucket, offset) == value);
    Byte* at;
    if constexpr (sizeof(word) == 8) {
      at = first_byte(bucket);
      value <<= offset + begin_in_byte(bucket);
    } else {
      const std::uint64_t bit = first_bit(bucket) + offset;
      at = bytes_ + bit / 8;
      value <<= bit % 8;
    }
    const std::uint64_t changed = load_word(at) ^ value;
    std::memcpy(at, &changed, sizeof changed);
  }

  // Of 12-bit slots, three buckets in 32 are read from two cache lines: both are asked for.
  TAMIS_INLINE void prefetch(std::uint64_t bucket) const {
    prefetch_read(first_byte(bucket));
    if constexpr (!Lanes::is_in_one_line) prefetch_read(first_byte(bucket) + sizeof(word) - 1);
  }

  // Of odd widths, an odd bucket begins at bit 4 of it.
  TAMIS_INLINE Byte* first_byte(std::uint64_t bucket) const {
    if constexpr (Lanes::is_even) return bytes_ + bucket * (lanes_.width() / 2);
    return bytes_ + bucket * lanes_.width() / 2;
  }

 private:
  TAMIS_INLINE unsigned begin_in_byte(std::uint64_t bucket) const {
    return Lanes::is_even ? 0 : static_cast<unsigned>(bucket * lanes_.width() % 2) * 4;
  }
  TAMIS_INLINE std::uint64_t first_bit(std::uint64_t bucket) const { return bucket * (slots_per_bucket * lanes_.width()); }
  TAMIS_INLINE static std::uint64_t load_word(const Byte* from) {
    std::uint64_t loaded;
    std::memcpy(&loaded, from, sizeof loaded);
    return loaded;
  }

  Byte* bytes_;
  [[no_unique_address]] Lanes lanes_;
};

// Out of line, so that their registers are not saved and restored around the more usual widths. `args` come first, as they came
// to the filter's own function: with the table and its width before them, the usual widths too began by moving their arguments
// to where these calls want them.
template <class Byte, class Use, class... Args>
TAMIS_NOINLINE auto with_large_width(Args... args, Byte* bytes, unsigned width, Use use) {
  return use(bucket_access<Byte, slot_lanes<uint128, dynamic_width>>(bytes, width), args...);
}
template <class Byte, class Use, class... Args>
TAMIS_NOINLINE auto with_unusual_width(Args... args, Byte* bytes, unsigned width, Use use) {
  if (width <= most_narrow_bits)
    return use(bucket_access<Byte, slot_lanes<std::uint64_t, dynamic_width>>(bytes, width), args...);
  if constexpr (has_bucket_vectors) {
    if (width <= most_spread_bits)
      return use(bucket_access<Byte, slot_lanes<uint128, dynamic_width, most_spread_bits>>(bytes, width), args...);
  }
  return with_large_width<Byte, Use, Args...>(args..., bytes, width, use);
}

template <unsigned Width, class Byte>
using usual_access = bucket_access<Byte, slot_lanes<std::uint64_t, Width>>;

// For a `use` that writes nothing. The compiler is told so, else it would load a filter's fields anew for every lookup of a
// loop.
template <class Use, class... Args>
[[gnu::pure]] TAMIS_NOINLINE auto read_unusual_width(Args... args, const std::byte* bytes, unsigned width, Use use) noexcept {
  return with_unusual_width<const std::byte, Use, Args...>(args..., bytes, width, use);
}

// The usual widths as compile-time constants, the others at run time by `unusual`. No more of them: compilers make a jump table
// of four comparisons, which costs every lookup seven instructions.
template <class Byte, class Unusual, class Use, class... Args>
TAMIS_INLINE auto with_bucket_access(Byte* bytes, unsigned width, Unusual unusual, Use use, Args... args) {
  if (width == 12) [[likely]]
    return use(usual_access<12, Byte>(bytes, 12), args...);
  if (width == 16) return use(usual_access<16, Byte>(bytes, 16), args...);
  if (width == 8) [[likely]]  // the call behind it is rare: registers are saved there, not in every loop around this
    return use(usual_access<8, Byte>(bytes, 8), args...);
  return unusual(bytes, width, use, args...);
}

// Readers may share a table; a writer must be alone, because a write also touches its slot's neighbours.
class buckets {
 public:
  buckets() = default;

  // `count` empty buckets.
  static result<buckets> make(std::uint64_t count, unsigned width) {
    TAMIS_CHECK(check_shape(count, width));
    TAMIS_TRY(const std::uint64_t words, words_for_packed(count * slots_per_bucket, width));
    buckets made;
    TAMIS_TRY(made.words_, zeroed_array<std::uint64_t>::make(words));
    made.count_ = count;
    made.width_ = width;
    return made;
  }

  TAMIS_INLINE std::uint64_t count() const { return count_; }
  TAMIS_INLINE unsigned width() const { return width_; }
  std::uint64_t slots() const { return count_ * slots_per_bucket; }
  std::uint64_t bits() const { return words_.bytes() * 8; }  // of memory

  // Calls `use` with a bucket_access of this table's width, and with `args`: unlike what it captures, they stay in registers.
  template <class Use, class... Args>
  TAMIS_INLINE auto with_access(Use use, Args... args) const {
    return with_bucket_access(bytes(), width_, unusual, use, args...);
  }
  template <class Use, class... Args>
  TAMIS_INLINE auto with_access(Use use, Args... args) {
    return with_bucket_access(reinterpret_cast<std::byte*>(words_.data()), width_, unusual, use, args...);
  }

  // Requires: `use` only reads.
  template <class Use, class... Args>
  TAMIS_INLINE auto read(Use use, Args... args) const {
    return with_bucket_access(bytes(), width_, read_unusual, use, args...);
  }

  // The same where the caller knows that the width is this one, or with 0 that it is none of the usual ones.
  template <unsigned Width, class Use, class... Args>
  TAMIS_INLINE auto read_as(Use use, Args... args) const {
    if constexpr (Width == 0) {
      return read_unusual(bytes(), width_, use, args...);
    } else {
      assert(width_ == Width);
      return use(usual_access<Width, const std::byte>(bytes(), Width), args...);
    }
  }

  TAMIS_INLINE void prefetch(std::uint64_t bucket) const { prefetch_read(bytes() + bucket * width_ / 2); }

  std::uint64_t occupied() const {
    return with_access([this](const auto& table) {
      std::uint64_t empty = 0;
      for (std::uint64_t i = 0; i < count_; ++i) empty += table.lanes().how_many(table.lanes().empty(table.load(i)));
      return slots() - empty;
    });
  }

  friend bool operator==(const buckets&, const buckets&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.count_, self.width_, self.words_);
  }
  status validate() const {
    TAMIS_CHECK(check_shape(count_, width_));
    return validate_packed(slots(), width_, words_);
  }

 private:
  static constexpr auto unusual = []<class Byte, class Use, class... Args>(Byte* bytes, unsigned width, Use use, Args... args) {
    return with_unusual_width<Byte, Use, Args...>(args..., bytes, width, use);
  };
  static constexpr auto read_unusual = []<class Use, class... Args>(const std::byte* bytes, unsigned width, Use use,
                                                                    Args... args) {
    return read_unusual_width<Use, Args...>(args..., bytes, width, use);
  };
  TAMIS_INLINE const std::byte* bytes() const { return reinterpret_cast<const std::byte*>(words_.data()); }

  static status check_shape(std::uint64_t count, unsigned width) {
    if (is_wrong(width < least_slot_bits) || is_wrong(width > most_slot_bits)) {
      return failure{"slots of " + std::to_string(width) + " bits: 4 to 32 are allowed"};
    }
    if (is_wrong(count == 0) || is_wrong(!checked_multiply(count, std::uint64_t{slots_per_bucket} * most_slot_bits))) {
      return failure{"a table of " + std::to_string(count) + " buckets cannot be addressed"};
    }
    return {};
  }

  std::uint64_t count_ = 0;
  std::uint32_t width_ = least_slot_bits;
  zeroed_array<std::uint64_t> words_;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
