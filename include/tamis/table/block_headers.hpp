#pragma once

// What a quotient table keeps per block of slots beside their values, packed without gaps:
//
//   | occupied: 8 bytes | runends: 8 bytes | offset: 1 byte |               17 bytes, 2.125 bits a slot
//   | occupied: 8 bytes | runends: 8 bytes | offset: 1 byte | code: 7 bytes |   with a coded column: 3 bits a slot
//   | occupied: 8 bytes | runends: 8 bytes | offset: 1 byte | tops: 8 bytes |   with a bit of every slot's value

#include <cstdint>
#include <cstring>

#include "tamis/base/memory.hpp"
#include "tamis/bits/word.hpp"

namespace tamis::inline TAMIS_LEVEL {

inline constexpr unsigned code_bits = 56;
inline constexpr unsigned saturated_offset = 255;

enum class header_kind : std::uint8_t { plain, coded, topped };

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
  static constexpr bool topped = Kind == header_kind::topped;

 public:
  static constexpr unsigned runs_bytes = 17;  // the first of them, which say where the runs are
  static constexpr unsigned bytes_each = runs_bytes + (coded ? 7 : topped ? 8 : 0);

  static result<block_headers> make(std::uint64_t blocks) {
    block_headers made;
    const auto bytes = checked_multiply(blocks, bytes_each);
    if (!bytes) return error{"a table of " + std::to_string(blocks) + " blocks cannot be addressed"};
    TAMIS_TRY(made.bytes_, zeroed_array<std::uint8_t>::make(*bytes));
    return made;
  }

  std::uint64_t size() const { return bytes_.size() / bytes_each; }
  std::uint64_t bits() const { return bytes_.bytes() * 8; }

  TAMIS_INLINE block_header operator[](std::uint64_t block) const { return {occupied(block), runends(block), offset(block)}; }
  // The same where only the bytes are at hand.
  const std::uint8_t* data() const { return bytes_.data(); }
  TAMIS_INLINE static block_header read(const std::uint8_t* data, std::uint64_t block) {
    block_header header;
    std::memcpy(&header.occupied, data + block * bytes_each, 8);
    std::memcpy(&header.runends, data + block * bytes_each + 8, 8);
    header.offset = data[block * bytes_each + 16];
    return header;
  }
  TAMIS_INLINE std::uint64_t occupied(std::uint64_t block) const { return load(block, 0); }
  TAMIS_INLINE std::uint64_t runends(std::uint64_t block) const { return load(block, 8); }
  TAMIS_INLINE unsigned offset(std::uint64_t block) const { return bytes_[block * bytes_each + 16]; }
  // The runends of the last block, without a division.
  TAMIS_INLINE std::uint64_t last_runends() const {
    std::uint64_t word;
    std::memcpy(&word, bytes_.data() + bytes_.size() - bytes_each + 8, sizeof word);
    return word;
  }
  TAMIS_INLINE std::uint64_t tops(std::uint64_t block) const requires topped { return load(block, tops_at); }
  TAMIS_INLINE static std::uint64_t read_tops(const std::uint8_t* data, std::uint64_t block) requires topped {
    std::uint64_t word;
    std::memcpy(&word, data + block * bytes_each + tops_at, sizeof word);
    return word;
  }
  TAMIS_INLINE std::uint64_t code(std::uint64_t block) const requires coded { return load(block, 16) >> 8; }

  TAMIS_INLINE void set_occupied(std::uint64_t block, std::uint64_t word) { store(block, 0, word); }
  TAMIS_INLINE void set_runends(std::uint64_t block, std::uint64_t word) { store(block, 8, word); }
  TAMIS_INLINE void set_tops(std::uint64_t block, std::uint64_t word) requires topped { store(block, tops_at, word); }
  TAMIS_INLINE void set_offset(std::uint64_t block, std::uint64_t offset) {
    bytes_[block * bytes_each + 16] = static_cast<std::uint8_t>(offset < saturated_offset ? offset : saturated_offset);
  }
  TAMIS_INLINE void set_code(std::uint64_t block, std::uint64_t code) requires coded {
    assert(code >> code_bits == 0);
    store(block, 16, code << 8 | offset(block));
  }

  // Every code becomes change(code).
  template <class Change>
  void change_codes(Change change) requires coded {
    for (std::uint64_t block = 0; block < size(); ++block) {
      if (code(block) != 0) set_code(block, change(code(block)));
    }
  }

  TAMIS_INLINE void prefetch(std::uint64_t block) const { prefetch(bytes_.data(), block); }
  // A header may lie in two cache lines.
  TAMIS_INLINE static void prefetch(const std::uint8_t* data, std::uint64_t block) {
    prefetch_read(data + block * bytes_each);
    prefetch_read(data + block * bytes_each + bytes_each - 1);
  }

  friend bool operator==(const block_headers&, const block_headers&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.bytes_);
  }
  status validate() const {
    if (bytes_.size() % bytes_each != 0) return error{"the last block of the table is cut off"};
    return {};
  }

 private:
  static constexpr unsigned tops_at = 17;

  TAMIS_INLINE std::uint64_t load(std::uint64_t block, unsigned at) const {
    assert(block < size());
    std::uint64_t word;
    std::memcpy(&word, bytes_.data() + block * bytes_each + at, sizeof word);
    return word;
  }
  TAMIS_INLINE void store(std::uint64_t block, unsigned at, std::uint64_t word) {
    assert(block < size());
    std::memcpy(bytes_.data() + block * bytes_each + at, &word, sizeof word);
  }

  zeroed_array<std::uint8_t> bytes_;
};

}  // namespace tamis::inline TAMIS_LEVEL
