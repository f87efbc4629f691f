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
        general_(general_selector_model::for_remainder(remainder)),
        zeros_(tuned_ ? leading_zeros(tuned_selector_model()) : leading_zeros(general_)) {}

  unsigned groups() const { return coding_ == selector_coding::paper ? 1 : 4; }
  unsigned last_letter() const {
    if (coding_ == selector_coding::quarters) return largest_quarter_letter;
    return tuned_ ? tuned_selector_model::last_letter : general_selector_model::last_letter;
  }

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

  // The first `count` letters of a block, or what finds them.
  class some_letters {
   public:
    some_letters(const selector_code& how, std::uint64_t code, unsigned count)
        : quarters_(how.coding_ == selector_coding::quarters), code_(code) {
      if (!quarters_) how.decode(code, std::span(letters_).first(count));
    }
    letter operator[](unsigned i) const {
      if (!quarters_) return letters_[i];
      const std::uint64_t quarter = group_code(code_, 4, i / quarter_letters);
      const std::span<const std::uint32_t> codes = quarter_codes();
      return quarter < codes.size() ? codes[quarter] >> (2 * (i % quarter_letters)) & 3 : 0;
    }

   private:
    bool quarters_;
    std::uint64_t code_;
    std::array<letter, coded_letters> letters_;  // the first `count`, unless they come in quarters
  };
  some_letters some(std::uint64_t code, unsigned count) const { return {*this, code, count}; }

  // The code of one group, or none if it overflows.
  std::optional<std::uint64_t> encode(std::span<const letter> group) const {
    if (coding_ == selector_coding::quarters) return encode_quarter(group.first<quarter_letters>());
    return tuned_ ? tamis::encode(tuned_selector_model(), group) : tamis::encode(general_, group);
  }

 private:
  static void decode_quarters(std::uint64_t code, std::span<letter> letters) {
    const std::span<const std::uint32_t> codes = quarter_codes();
    for (unsigned first = 0; first < letters.size(); first += quarter_letters) {
      const std::uint64_t quarter = group_code(code, 4, first / quarter_letters);
      std::uint32_t packed = quarter < codes.size() ? codes[quarter] : 0;
      const std::size_t last = std::min<std::size_t>(letters.size(), first + quarter_letters);
      for (std::size_t i = first; i < last; ++i, packed >>= 2) letters[i] = packed & 3;
    }
  }

  selector_coding coding_;
  bool tuned_;
  general_selector_model general_;
  leading_zeros zeros_;
};

class extension_code {
 public:
  using letter = std::uint32_t;

  static constexpr unsigned groups() { return 1; }

  static void decode(std::uint64_t code, std::span<letter> letters) {
    static constexpr leading_zeros counter{extension_model()};
    const auto zeros = std::min<std::size_t>(counter(code), letters.size());
    std::fill_n(letters.begin(), zeros, letter{0});
    tamis::decode(extension_model(), code, letters.subspan(zeros), counter.range_after(static_cast<unsigned>(zeros)));
  }
  static std::array<letter, coded_letters> some(std::uint64_t code, unsigned count) {
    std::array<letter, coded_letters> letters;
    decode(code, std::span(letters).first(count));
    return letters;
  }
  static std::optional<std::uint64_t> encode(std::span<const letter> group) { return tamis::encode(extension_model(), group); }
};

}  // namespace tamis
