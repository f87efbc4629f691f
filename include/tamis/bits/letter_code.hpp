#pragma once

// How a block's 64 letters become 56 bits, chosen at run time. Letters are coded in groups: all 64 together, or in four
// quarters that overflow, and are reset, alone.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "tamis/bits/coder.hpp"
#include "tamis/bits/coder_extension.hpp"
#include "tamis/bits/coder_quarters.hpp"
#include "tamis/bits/coder_selector.hpp"

namespace tamis {

// Letters of one group in 56 / groups bits of the block's code.
constexpr std::uint64_t group_code(std::uint64_t block_code, unsigned groups, unsigned group) {
  const unsigned bits = 56 / groups;
  return block_code >> (bits * group) & ((std::uint64_t{1} << bits) - 1);
}
constexpr std::uint64_t with_group_code(std::uint64_t block_code, unsigned groups, unsigned group, std::uint64_t code) {
  const unsigned shift = 56 / groups * group;
  return block_code ^ (group_code(block_code, groups, group) ^ code) << shift;
}

enum class selector_coding : std::uint8_t { paper, quarters };

class selector_code {
 public:
  using letter = std::uint8_t;

  selector_code() : selector_code(selector_coding::paper, 8) {}
  selector_code(selector_coding coding, unsigned remainder)
      : coding_(coding),
        tuned_(remainder == 8),
        last_letter_(coding == selector_coding::quarters ? largest_quarter_letter
                     : tuned_                            ? tuned_selector_model::last_letter
                                                         : general_selector_model::last_letter_for(remainder)),
        general_(general_selector_model::for_remainder(remainder)),
        zeros_(tuned_ ? leading_zeros(tuned_selector_model()) : leading_zeros(general_)) {}

  unsigned groups() const { return coding_ == selector_coding::paper ? 1 : 4; }
  unsigned last_letter() const { return last_letter_; }

  // The first letters of a block.
  void decode(std::uint64_t code, std::span<letter> letters) const {
    if (coding_ == selector_coding::quarters) return decode_quarters(code, letters);
    const auto zeros = std::min<std::size_t>(zeros_(code), letters.size());
    std::fill_n(letters.begin(), zeros, letter{0});
    const std::uint64_t range = zeros_.range_after(static_cast<unsigned>(zeros));
    if (tuned_) {
      tamis::decode(tuned_selector_model(), code, letters.subspan(zeros), range);
    } else {
      tamis::decode(general_, code, letters.subspan(zeros), range);
    }
  }

  // Letter i of a block.
  letter letter_at(std::uint64_t code, unsigned i) const {
    if (coding_ == selector_coding::quarters) return some(code, 0)[i];
    const unsigned zeros = zeros_(code);
    if (i < zeros) return 0;
    const std::uint64_t range = zeros_.range_after(zeros);
    return static_cast<letter>(tuned_ ? letter_of(tuned_selector_model(), code, i, zeros, range)
                                      : letter_of(general_, code, i, zeros, range));
  }

  // The first `count` letters of a block, or what finds them.
  class some_letters {
   public:
    some_letters(const selector_code& how, std::uint64_t code, unsigned count)
        : quarters_(how.coding_ == selector_coding::quarters), code_(code) {
      if (!quarters_) how.decode(code, std::span(letters_).first(count));
    }
    letter operator[](unsigned i) const {
      if (!quarters_) return letters_[i];
      return quarter_codes()[group_code(code_, 4, i / quarter_letters)] >> (2 * (i % quarter_letters)) & 3;
    }

   private:
    bool quarters_;
    std::uint64_t code_;
    std::array<letter, coded_letters> letters_;  // the first `count`, unless they come in quarters
  };
  some_letters some(std::uint64_t code, unsigned count) const { return {*this, code, count}; }

  // The letters of slots first to first + 15 of a block, two bits each.  Requires: quarters; first <= 48.
  TAMIS_INLINE std::uint64_t sixteen(std::uint64_t code, unsigned first) const {
    const unsigned quarter = first / quarter_letters;
    const std::uint64_t low = quarters_[group_code(code, 4, quarter)];
    const std::uint64_t high = quarters_[group_code(code, 4, std::min(quarter + 1, 3u))];
    return (low | high << 32) >> (2 * (first % quarter_letters));
  }

  // The code of one group, or none if it overflows.
  std::optional<std::uint64_t> encode(std::span<const letter> group) const {
    if (coding_ == selector_coding::quarters) return encode_quarter(group.first<quarter_letters>());
    if (std::any_of(group.begin(), group.end(), [this](letter l) { return l > last_letter_; })) return std::nullopt;
    return tuned_ ? tamis::encode(tuned_selector_model(), group) : tamis::encode(general_, group);
  }

 private:
  static void decode_quarters(std::uint64_t code, std::span<letter> letters) {
    for (unsigned first = 0; first < letters.size(); first += quarter_letters) {
      const std::uint64_t quarter = group_code(code, 4, first / quarter_letters);
      std::uint32_t packed = quarter_codes()[quarter];
      const std::size_t last = std::min<std::size_t>(letters.size(), first + quarter_letters);
      for (std::size_t i = first; i < last; ++i, packed >>= 2) letters[i] = packed & 3;
    }
  }

  selector_coding coding_;
  bool tuned_;
  unsigned last_letter_;
  general_selector_model general_;
  leading_zeros zeros_;
  const std::uint32_t* quarters_ = quarter_codes().data();
};

class extension_code {
 public:
  using letter = std::uint32_t;

  static constexpr unsigned groups() { return 1; }

  static void decode(std::uint64_t code, std::span<letter> letters) {
    const auto zeros = std::min<std::size_t>(leading_zero_letters(code), letters.size());
    std::fill_n(letters.begin(), zeros, letter{0});
    const std::uint64_t range = leading_zero_letters.range_after(static_cast<unsigned>(zeros));
    tamis::decode(extension_model(), code, letters.subspan(zeros), range);
  }
  static letter letter_at(std::uint64_t code, unsigned i) {
    const unsigned zeros = leading_zero_letters(code);
    if (i < zeros) return 0;
    return letter_of(extension_model(), code, i, zeros, leading_zero_letters.range_after(zeros));
  }
  static std::array<letter, coded_letters> some(std::uint64_t code, unsigned count) {
    std::array<letter, coded_letters> letters;
    decode(code, std::span(letters).first(count));
    return letters;
  }
  static std::optional<std::uint64_t> encode(std::span<const letter> group) { return tamis::encode(extension_model(), group); }

 private:
  static constexpr leading_zeros leading_zero_letters{extension_model()};
};

}  // namespace tamis
