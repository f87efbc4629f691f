#pragma once

// Two bits for every bin of a table: about how many moves lead from there to an empty slot, 3 for three or more, for
// detail/cuckoo/adaptive/guided_search.hpp. Nothing but the time of a search depends on them, so they are neither saved nor
// compared. Longer labels lead to no shorter searches, but take more cache: two bits fit into the second level up to two
// million bins.

#include <cassert>
#include <cstdint>

#include "tamis/detail/base/checked.hpp"
#include "tamis/detail/base/zeroed_array.hpp"

namespace tamis::detail {

class distance_hints {
 public:
  static constexpr unsigned largest = 3;

  distance_hints() = default;  // there are none
  static result<distance_hints> make(std::uint64_t bins) {
    distance_hints made;
    TAMIS_TRY(made.bytes_, zeroed_array<std::uint8_t>::make(divide_up(bins, per_byte) + spare_bytes));
    return made;
  }

  bool any() const { return bytes_.size() != 0; }
  std::uint64_t bits() const { return bytes_.bytes() * 8; }
  TAMIS_INLINE unsigned operator[](std::uint64_t bin) const { return bytes_[bin / per_byte] >> shift(bin) & largest; }
  TAMIS_INLINE void set(std::uint64_t bin, unsigned label) { all().set(bin, label); }

  // The labels without their memory.
  class view {
   public:
    explicit view(std::uint8_t* bytes) : bytes_(bytes) {}
    TAMIS_INLINE unsigned operator[](std::uint64_t bin) const { return bytes_[bin / per_byte] >> shift(bin) & largest; }
    TAMIS_INLINE void set(std::uint64_t bin, unsigned label) {
      assert(label <= largest);
      std::uint8_t& byte = bytes_[bin / per_byte];
      byte = static_cast<std::uint8_t>((byte & ~(largest << shift(bin))) | label << shift(bin));
    }

    // Packed values of two bits; eight bytes may be read from where any begins.
    const std::byte* data() const { return reinterpret_cast<const std::byte*>(bytes_); }

   private:
    std::uint8_t* bytes_;
  };
  TAMIS_INLINE view all() { return view(bytes_.data()); }

 private:
  static constexpr std::uint64_t per_byte = 4;
  static constexpr std::uint64_t spare_bytes = 7;
  TAMIS_INLINE static unsigned shift(std::uint64_t bin) { return static_cast<unsigned>(bin % per_byte) * 2; }

  zeroed_array<std::uint8_t> bytes_;
};

}  // namespace tamis::detail
