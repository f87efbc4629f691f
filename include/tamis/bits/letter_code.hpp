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
#include "tamis/bits/place_list.hpp"
#include "tamis/bits/quick_letters.hpp"

namespace tamis::inline TAMIS_LEVEL {

// Letters of one group in 56 / groups bits of the block's code.
constexpr std::uint64_t group_code(std::uint64_t block_code, unsigned groups, unsigned group) {
  const unsigned bits = 56 / groups;
  return block_code >> (bits * group) & ((std::uint64_t{1} << bits) - 1);
}
constexpr std::uint64_t with_group_code(std::uint64_t block_code, unsigned groups, unsigned group, std::uint64_t code) {
  const unsigned shift = 56 / groups * group;
  return block_code ^ (group_code(block_code, groups, group) ^ code) << shift;
}

// Single letters of both models (bits/coder_selector.hpp); the general one by its y.
inline constexpr quick_selectors quick_tuned_selectors{tuned_selector_model::last_letter, tuned_selector_model::probability};
template <unsigned Y>
inline constexpr quick_selectors quick_general_selectors{
    general_selector_model::last_letter, [](unsigned letter) { return general_selector_model(2, Y).probability(letter); }};

// What is saved is the paper's code: the lowest number of the letters' interval. In memory a block has other 56 bits for the
// same letters, which are decoded without walking through all letters before the one that is asked for:
//
//   odd    a list of the places of letters other than 0 (bits/place_list.hpp), if it fits: up to 13 increments
//   even   a number near the middle of the interval, which has at least two numbers
//   0      no letters at all
//
// Only letters that the paper's code has room for are coded at all, so that a block holds as much as the paper says.
TAMIS_INLINE constexpr bool is_list(std::uint64_t code) { return (code & 1) != 0; }
constexpr std::uint64_t even_number(code_interval interval) { return (interval.low + interval.size / 2) & ~std::uint64_t{1}; }

// What is saved of a code, and the code of what was saved. If that is not the lowest number of its interval, the code is one
// that encode never makes.
template <class Code>
std::uint64_t saved_code(const Code& how, std::uint64_t code) {
  if (code == 0 || how.groups() != 1) return code;
  std::array<typename Code::letter, coded_letters> letters;
  how.decode(code, std::span(letters));
  const auto interval = how.interval(std::span<const typename Code::letter>(letters));
  return interval ? interval->low : code;
}
template <class Code>
std::uint64_t loaded_code(const Code& how, std::uint64_t saved) {
  if (saved == 0 || how.groups() != 1) return saved;
  std::array<typename Code::letter, coded_letters> letters;
  how.decode_number(saved, std::span(letters));
  const std::span<const typename Code::letter> all(letters);
  const auto interval = how.interval(all);
  constexpr std::uint64_t never_made = code_range - 1;  // a list, but without items
  return interval && interval->low == saved ? *how.encode(all) : never_made;
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
        zeros_(tuned_ ? leading_zeros(tuned_selector_model()) : leading_zeros(general_)),
        quick_(tuned_           ? &quick_tuned_selectors
               : remainder <= 2 ? &quick_general_selectors<1>
               : remainder == 3 ? &quick_general_selectors<2>
                                : &quick_general_selectors<3>) {}

  unsigned groups() const { return coding_ == selector_coding::paper ? 1 : 4; }
  unsigned last_letter() const { return last_letter_; }

  // The first letters of a block.
  void decode(std::uint64_t code, std::span<letter> letters) const {
    if (coding_ == selector_coding::quarters) return decode_quarters(code, letters);
    if (is_list(code)) {
      std::fill(letters.begin(), letters.end(), letter{0});
      return place_list(code).for_each([&](unsigned place) {
        if (place < letters.size()) ++letters[place];
      });
    }
    decode_number(code, letters);
  }
  void decode_number(std::uint64_t code, std::span<letter> letters) const {
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
  TAMIS_INLINE letter letter_at(std::uint64_t code, unsigned i) const {
    if (coding_ == selector_coding::quarters) return some(code, 0)[i];
    return is_list(code) ? static_cast<letter>(place_list(code).at(i).count) : letter_of_number(code, i);
  }
  TAMIS_NOINLINE letter letter_of_number(std::uint64_t code, unsigned i) const {
    const std::uint32_t likely = (*quick_)(code, i);
    return likely != unsure_letter ? static_cast<letter>(likely) : exact_letter_at(code, i);
  }
  // The same, letter by letter.  Requires: not in quarters.
  TAMIS_NOINLINE letter exact_letter_at(std::uint64_t code, unsigned i) const {
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

  // The letters of slots first to first + 7 of a block, two bits each, and others above them.  Requires: quarters; first <= 56.
  TAMIS_INLINE std::uint64_t eight(std::uint64_t code, unsigned first) const {
    const unsigned quarter = first / quarter_letters;
    const std::uint64_t low = quarters_[group_code(code, 4, quarter)];
    const std::uint64_t high = quarters_[code >> (quarter_bits * quarter + quarter_bits) & ((1u << quarter_bits) - 1)];
    return (low | high << 32) >> (2 * (first % quarter_letters));
  }

  // The code of one group, or none if it overflows.
  std::optional<std::uint64_t> encode(std::span<const letter> group) const {
    if (coding_ == selector_coding::quarters) return encode_quarter(group.first<quarter_letters>());
    const auto all = interval(group);
    if (!all) return std::nullopt;
    unsigned increments = 0;
    for (const letter l : group) increments += l;
    if (increments == 0) return 0;
    if (increments > place_list::most_items) return even_number(*all);
    return place_list::make([&](unsigned place) { return group[place]; }).code();
  }
  // All numbers that are codes of these letters.  Requires: not in quarters.
  std::optional<code_interval> interval(std::span<const letter> letters) const {
    if (std::any_of(letters.begin(), letters.end(), [this](letter l) { return l > last_letter_; })) return std::nullopt;
    return tuned_ ? interval_of(tuned_selector_model(), letters) : interval_of(general_, letters);
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
  const quick_selectors* quick_;
  const std::uint32_t* quarters_ = quarter_codes().data();
};

class extension_code {
 public:
  using letter = std::uint32_t;

  static constexpr unsigned groups() { return 1; }

  static void decode(std::uint64_t code, std::span<letter> letters) {
    if (!is_list(code)) return decode_number(code, letters);
    std::fill(letters.begin(), letters.end(), letter{0});
    const place_list places(code);
    unsigned item = 0;
    places.for_each([&](unsigned place) {
      if (place < letters.size()) letters[place] = listed(places, item);
      ++item;
    });
  }
  static void decode_number(std::uint64_t code, std::span<letter> letters) {
    const auto zeros = std::min<std::size_t>(leading_zero_letters(code), letters.size());
    std::fill_n(letters.begin(), zeros, letter{0});
    const std::uint64_t range = leading_zero_letters.range_after(static_cast<unsigned>(zeros));
    tamis::decode(extension_model(), code, letters.subspan(zeros), range);
  }
  TAMIS_INLINE static letter letter_at(std::uint64_t code, unsigned i) {
    if (!is_list(code)) return letter_of_number(code, i);
    const auto [item, count] = place_list(code).at(i);
    return count == 0 ? 0 : listed(place_list(code), item);
  }
  TAMIS_NOINLINE static letter letter_of_number(std::uint64_t code, unsigned i) {
    const std::uint32_t likely = quick(code, i);
    return likely != unsure_letter ? likely : exact_letter_at(code, i);
  }
  TAMIS_NOINLINE static letter exact_letter_at(std::uint64_t code, unsigned i) {
    const unsigned zeros = leading_zero_letters(code);
    if (i < zeros) return 0;
    return letter_of(extension_model(), code, i, zeros, leading_zero_letters.range_after(zeros));
  }
  static std::array<letter, coded_letters> some(std::uint64_t code, unsigned count) {
    std::array<letter, coded_letters> letters;
    decode(code, std::span(letters).first(count));
    return letters;
  }
  static std::optional<std::uint64_t> encode(std::span<const letter> group) {
    const auto all = interval(group);
    if (!all) return std::nullopt;
    unsigned count = 0;
    unsigned bits = 0;
    for (const letter l : group) {
      count += l != 0;
      bits += extension_model::length(l);
    }
    if (count == 0) return 0;
    if (place_list::groups + 1 + 3 * count + 2 * bits > place_list::code_bits) return even_number(*all);
    const place_list places = place_list::make([&](unsigned place) { return group[place] != 0 ? 1u : 0u; });
    std::uint64_t ends = 0;
    std::uint64_t strings = 0;
    unsigned length = 0;
    for (const letter l : group) {
      if (l == 0) continue;
      strings |= std::uint64_t{l ^ (letter{1} << extension_model::length(l))} << length;
      length += extension_model::length(l);
      ends |= std::uint64_t{1} << (length - 1);
    }
    return places.code() | (ends | strings << bits) << places.end();
  }
  static std::optional<code_interval> interval(std::span<const letter> letters) {
    return interval_of(extension_model(), letters);
  }

  static constexpr quick_extensions quick{};

 private:
  // Above a list of places lie the lengths of their extensions, each as a one behind zeros, and then the extensions themselves.
  TAMIS_NOINLINE static letter listed(place_list places, unsigned item) {
    const std::uint64_t ends = places.code() >> places.end();
    const unsigned begin = item == 0 ? 0 : select(ends, item - 1) + 1;
    const unsigned end = select(ends, item) + 1;
    const unsigned all = select(ends, places.size() - 1) + 1;
    const auto bits = static_cast<letter>(ends >> all >> begin & low_mask(end - begin));
    return letter{1} << (end - begin) | bits;
  }

  static constexpr leading_zeros leading_zero_letters{extension_model()};
};

}  // namespace tamis::inline TAMIS_LEVEL
