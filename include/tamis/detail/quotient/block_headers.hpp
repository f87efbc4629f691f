#pragma once

// What a quotient table keeps per block of slots beside their values, packed without gaps:
//
//   | occupied: 8 bytes | runends: 8 bytes | offset: 1 byte |               17 bytes, 2.125 bits a slot
//   | occupied: 8 bytes | runends: 8 bytes | offset: 1 byte | code: 7 bytes |   with a coded column: 3 bits a slot
//   | occupied: 8 bytes | runends: 8 bytes | offset: 1 byte | high_bits: 8 bytes |   with a bit of every slot's value, if
//   wanted

#include <cstdint>
#include <cstring>

#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/base/zeroed_array.hpp"
#include "tamis/detail/bits/word.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

inline constexpr unsigned code_bits = 56;
inline constexpr unsigned saturated_offset = 255;

enum class header_kind : std::uint8_t { plain, coded, high_bit_in_header };

// The metadata of one block, read once.
struct block_header {
  std::uint64_t occupied;  // bit i: quotient i of the block has a run
  std::uint64_t runends;   // bit i: the slot is the last of a run
  unsigned offset;         // how many slots of this block and the next ones belong to earlier blocks' runs; 255: at least 255

  // Bit i: a run of this block may begin at slot i, since the one before has ended. The run of rank k lies between the k-th of
  // these bounds and the next, as far as the quotient's own slot lets it.
  TAMIS_INLINE std::uint64_t bounds() const { return high_bits((runends << 1) | 1, offset); }
  // The runends from the offset on, moved up by one: bit i says that a run of this block ends just before slot i.
  TAMIS_INLINE std::uint64_t ended() const { return high_bits(runends, offset) << 1; }
};

template <header_kind Kind>
class block_headers {
  static constexpr bool coded = Kind == header_kind::coded;
  static constexpr bool high_bit_in_header = Kind == header_kind::high_bit_in_header;

 public:
  static constexpr unsigned runs_bytes = 17;  // the first of them, which say where the runs are
  static constexpr unsigned high_bit_header_bytes = runs_bytes + 8;

  // `with_high_bits`: of the high_bit_in_header kind.
  static result<block_headers> make(std::uint64_t blocks, bool with_high_bits = high_bit_in_header) {
    assert(high_bit_in_header || !with_high_bits);
    block_headers made;
    if (!with_high_bits) made.bytes_each_ = least_bytes;
    const auto bytes = checked_multiply(blocks, made.bytes_each());
    if (!bytes) return failure{"a table of " + std::to_string(blocks) + " blocks cannot be addressed"};
    TAMIS_TRY(made.bytes_, zeroed_array<std::uint8_t>::make(*bytes));
    return made;
  }

  // A copy with empty blocks behind it.  Requires: blocks >= size().
  result<block_headers> lengthened(std::uint64_t blocks) const {
    const auto bytes = checked_multiply(blocks, bytes_each());
    if (!bytes) return failure{"a table of " + std::to_string(blocks) + " blocks cannot be addressed"};
    block_headers longer;
    longer.bytes_each_ = bytes_each_;
    TAMIS_TRY(longer.bytes_, bytes_.lengthened(*bytes));
    return longer;
  }

  TAMIS_INLINE bool has_high_bits() const { return high_bit_in_header && bytes_each_ == high_bit_header_bytes; }
  TAMIS_INLINE unsigned bytes_each() const { return high_bit_in_header ? bytes_each_ : least_bytes; }
  // No division by what the compiler does not know.
  TAMIS_INLINE std::uint64_t size() const {
    return has_high_bits() ? bytes_.size() / high_bit_header_bytes : bytes_.size() / least_bytes;
  }
  std::uint64_t bits() const { return bytes_.bytes() * 8; }

  TAMIS_INLINE block_header operator[](std::uint64_t block) const { return {occupied(block), runends(block), offset(block)}; }
  // The same where only the bytes are at hand.
  const std::uint8_t* data() const { return bytes_.data(); }
  TAMIS_INLINE static block_header read(const std::uint8_t* header) { return {load(header), load(header + 8), header[16]}; }
  TAMIS_INLINE std::uint64_t occupied(std::uint64_t block) const { return load(block, 0); }
  TAMIS_INLINE std::uint64_t runends(std::uint64_t block) const { return load(block, 8); }
  TAMIS_INLINE unsigned offset(std::uint64_t block) const { return *at(block, 16); }
  // The runends of the last block, without a division.
  TAMIS_INLINE std::uint64_t last_runends() const { return load(bytes_.data() + bytes_.size() - bytes_each() + 8); }
  // Requires, here and below: has_high_bits().
  TAMIS_INLINE std::uint64_t high_bits(std::uint64_t block) const requires high_bit_in_header {
    return load(block, runs_bytes);
  }
  TAMIS_INLINE static std::uint64_t read_high_bits(const std::uint8_t* header) requires high_bit_in_header {
    return load(header + runs_bytes);
  }
  TAMIS_INLINE std::uint64_t code(std::uint64_t block) const requires coded { return load(block, 16) >> 8; }

  // Where a header stands, for several changes of it: every store makes the compiler forget how it had found the place.
  TAMIS_INLINE std::uint8_t* place(std::uint64_t block) { return at(block, 0); }
  TAMIS_INLINE static void set_occupied(std::uint8_t* header, std::uint64_t word) { store(header, word); }
  TAMIS_INLINE static void set_runends(std::uint8_t* header, std::uint64_t word) { store(header + 8, word); }
  TAMIS_INLINE static void set_high_bits(std::uint8_t* header, std::uint64_t word) requires high_bit_in_header {
    store(header + runs_bytes, word);
  }

  TAMIS_INLINE void set_occupied(std::uint64_t block, std::uint64_t word) { set_occupied(place(block), word); }
  TAMIS_INLINE void set_runends(std::uint64_t block, std::uint64_t word) { set_runends(place(block), word); }
  TAMIS_INLINE void set_high_bits(std::uint64_t block, std::uint64_t word) requires high_bit_in_header {
    set_high_bits(place(block), word);
  }
  TAMIS_INLINE void set_offset(std::uint64_t block, std::uint64_t offset) {
    *at(block, 16) = static_cast<std::uint8_t>(offset < saturated_offset ? offset : saturated_offset);
  }
  // Requires: the offset fits its byte, and is not 0.
  TAMIS_INLINE static void lower_offset(std::uint8_t* header) { --header[16]; }
  TAMIS_INLINE void set_code(std::uint64_t block, std::uint64_t code) requires coded {
    assert(code >> code_bits == 0);
    store(at(block, 16), code << 8 | offset(block));
  }

  // A header may lie in two cache lines.
  TAMIS_INLINE void prefetch(std::uint64_t block) const {
    prefetch_read(bytes_.data() + block * bytes_each());
    prefetch_read(bytes_.data() + (block + 1) * bytes_each() - 1);
  }
  // The two lines behind the one where a header begins: seven blocks or more.
  TAMIS_INLINE void prefetch_ahead(std::uint64_t block) const {
    prefetch_read(bytes_.data() + block * bytes_each() + cache_line_bytes);
    prefetch_read(bytes_.data() + block * bytes_each() + 2 * cache_line_bytes);
  }

  friend bool operator==(const block_headers&, const block_headers&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.bytes_);
  }
  status validate() const {
    if (is_wrong(bytes_.size() % bytes_each() != 0)) return failure{"the last block of the table is cut off"};
    return {};
  }

 private:
  static constexpr unsigned least_bytes = coded ? runs_bytes + 7 : runs_bytes;

  TAMIS_INLINE static std::uint64_t load(const std::uint8_t* from) {
    std::uint64_t word;
    std::memcpy(&word, from, sizeof word);
    return word;
  }
  // Byte `i` of a header.
  TAMIS_INLINE const std::uint8_t* at(std::uint64_t block, unsigned i) const {
    assert(block < size());
    return bytes_.data() + block * bytes_each() + i;
  }
  TAMIS_INLINE std::uint8_t* at(std::uint64_t block, unsigned i) {
    assert(block < size());
    return bytes_.data() + block * bytes_each() + i;
  }
  TAMIS_INLINE std::uint64_t load(std::uint64_t block, unsigned i) const { return load(at(block, i)); }
  TAMIS_INLINE static void store(std::uint8_t* to, std::uint64_t word) { std::memcpy(to, &word, sizeof word); }

  zeroed_array<std::uint8_t> bytes_;
  std::uint32_t bytes_each_ = high_bit_in_header ? high_bit_header_bytes : least_bytes;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
