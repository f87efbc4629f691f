#pragma once

// Slots with symbols: what the adaptive quotient filters look up, and who stands behind a slot. A slot has a value and a
// symbol, which says which bits of a digest the slot accepts; 0 means the first ones. Symbols are coded, 56 bits per block, or
// labels.
//
// A Scheme says what symbols mean and how they are stored: filters/taf.hpp, utaf.hpp and exaf.hpp.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/hash/hash_suffix.hpp"
#include "tamis/detail/quotient/rank_select.hpp"
#include "tamis/detail/remote/adapt_work.hpp"
#include "tamis/detail/remote/match_bipartite.hpp"
#include "tamis/detail/telescoping/code/symbol_code.hpp"
#include "tamis/detail/telescoping/remainder_tags.hpp"
#include "tamis/remote.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

// A digest that the remote may be ahead of the filter with, or behind.
struct digest_in_doubt {
  digest d;
  bool leaving;  // being erased: in the filter, perhaps gone from the remote. Otherwise being inserted: the reverse
};
using slot_owners = std::vector<std::optional<digest>>;  // one per slot of a run

// Whom to ask for the owners of slots, and what that has cost.
struct owner_inquiry {
  const remote_ref* stored;  // nullptr: there is nobody
  std::optional<digest_in_doubt> about;
  adapt_work& work;
};

// The digests that the remote has for a quotient. None if they are more than `most`.
inline std::optional<std::vector<digest>> digests_of_quotient(std::uint64_t quotient, std::uint64_t quotients,
                                                              const remote_ref& stored, std::uint64_t most, adapt_work& work) {
  std::vector<digest> all;
  stored.for_each_in(digests_of_word_place(quotient, quotients), [&](digest d) {
    ++work.digests;
    all.push_back(d);
    return all.size() <= most;
  });
  if (all.size() > most) return std::nullopt;
  return all;
}

// Owns the table and its symbols. What changes both together is beside it, as functions: recode.hpp, adapt.hpp, merge.hpp.
template <class Scheme>
struct coded_slots {
  static constexpr bool coded = Scheme::layout.coded;
  static constexpr unsigned block_slots = Scheme::layout.block_slots;
  using table_type = rank_select<Scheme::layout>;
  using symbol = typename Scheme::symbol;
  using block_symbols = std::array<symbol, block_slots>;

  // ── symbols ──

  unsigned groups() const {
    if constexpr (coded) return scheme.code().groups();
    return block_slots;  // a label is a group of its own
  }
  unsigned group_slots() const { return block_slots / groups(); }

  block_symbols symbols_of_block(std::uint64_t block) const {
    block_symbols symbols{};
    if constexpr (coded) {
      if (table.code(block) != 0) scheme.code().decode(table.code(block), std::span(symbols));
    } else {
      for (unsigned i = 0; i < block_slots; ++i) symbols[i] = table.label(block * block_slots + i);
    }
    return symbols;
  }
  std::vector<symbol> symbols_of(slot_range slots) const {
    std::vector<symbol> all;
    for (std::uint64_t slot = slots.first; slot < slots.last;) {
      const std::uint64_t block = slot / block_slots;
      const block_symbols symbols = symbols_of_block(block);
      for (; slot < slots.last && slot / block_slots == block; ++slot) all.push_back(symbols[slot % block_slots]);
    }
    return all;
  }
  // Symbols of one slot after the other: each block is decoded once.
  class symbol_reader {
   public:
    explicit symbol_reader(const coded_slots& slots) : slots_(&slots) {}
    symbol operator()(std::uint64_t slot) {
      if (slot / block_slots != block_) {
        block_ = slot / block_slots;
        symbols_ = slots_->symbols_of_block(block_);
      }
      return symbols_[slot % block_slots];
    }

   private:
    const coded_slots* slots_;
    std::uint64_t block_ = ~std::uint64_t{0};
    block_symbols symbols_{};
  };

  // Symbols from outside: every code is one that encode has made, and only slots in use have symbols.
  // Requires: the table is sound.
  status validate_symbols() const {
    for (std::uint64_t block = 0; block < table.blocks(); ++block) {
      std::uint64_t changed;  // slots whose symbol is not 0
      if constexpr (coded) {
        if (table.code(block) == 0) continue;
        changed = changed_if_made(table.code(block));
        if (is_wrong(changed == 0)) return damaged(block, "a code that stands for nothing");
      } else {
        changed = ~table.labelled(block, 0) & low_mask(block_slots);
      }
      if (is_wrong((changed & table_type::free_slots(table.header(block))) != 0)) {
        return damaged(block, "a selector or extension of a slot that is not in use");
      }
    }
    return {};
  }
  // The slots that have symbols by this code; none if encode has not made it.
  std::uint64_t changed_if_made(std::uint64_t code) const requires coded {
    if (groups() == 1) return symbols_if_made(scheme.code(), code);
    block_symbols symbols{};
    scheme.code().decode(code, std::span(symbols));
    for (unsigned group = 0; group < groups(); ++group) {
      const auto part = scheme.code().encode(std::span<const symbol>(symbols).subspan(group * group_slots(), group_slots()));
      if (part != group_code(code, groups(), group)) return 0;
    }
    return nonzero_symbols(symbols);
  }

  // ── lookup ──

  TAMIS_INLINE bool may_contain(digest d) const {
    if constexpr (coded) {
      return may_contain_coded(place_of_word(in_register(d.high), table.quotients()), [d] { return d; });
    } else {
      return may_contain_labelled(hash_suffix(d, table.quotients()));
    }
  }
  // `whole()` is the digest. What is rare or needs more than its first word has one way in: so the compiler makes the second
  // word there (hasher.hpp), and has registers for the rest.
  template <class Whole>
  TAMIS_INLINE bool may_contain_coded(const word_placed& first, Whole whole) const requires coded {
    const std::uint64_t block = first.place / block_slots;
    const auto run = table_type::find_in_block(table.header(block), first.place % block_slots);
    if (table.width() == 8 && (!Scheme::value_depends_on_symbol || table.code(block) == 0)) [[likely]] {
      if (equal_bytes_of(block, run.slots, first_byte_of(first)) == 0) {
        if (!run.leaves()) [[likely]]
          return false;
      } else if (Scheme::value_depends_on_symbol || table.code(block) == 0) [[likely]] {
        return true;
      }
    }
    return may_contain_slowly(run.slots, run.leaves(), whole());
  }
  TAMIS_INLINE bool may_contain_labelled(const hash_suffix& bits) const {
    const std::uint64_t block = bits.quotient() / block_slots;
    table.prefetch_slot(bits.quotient());
    const auto run = table_type::find_in_block(table.header(block), bits.quotient() % block_slots);
    return accepts_any(block, run.slots, bits) || (run.leaves() && may_contain_behind(bits.source()));
  }
  // The same with all that a lookup may need, for the slots of the run's own block and those behind it, if it leaves that.
  TAMIS_NOINLINE bool may_contain_slowly(std::uint64_t among, bool leaves, digest d) const requires coded {
    const hash_suffix bits(d, table.quotients());
    if constexpr (Scheme::value_depends_on_symbol) table.prefetch_slot(bits.quotient());
    return accepts_any(bits.quotient() / block_slots, among, bits) || (leaves && may_contain_behind(d));
  }
  // Does one of these slots of the block accept the digest? Where no symbol has ever changed this is a plain quotient filter,
  // and as free of branches.
  TAMIS_INLINE bool accepts_any(std::uint64_t block, std::uint64_t among, const hash_suffix& bits) const {
    if constexpr (!coded) {
      return accepts_labelled(block, among, bits);
    } else if constexpr (Scheme::value_depends_on_symbol) {
      return table.code(block) == 0 ? uncoded(block, among, bits) != 0 : accepts_coded(block, among, bits);
    } else {
      const std::uint64_t found = uncoded(block, among, bits);
      return found != 0 && (table.code(block) == 0 || accepts_extended(block, found, bits.source()));
    }
  }
  // The slots that accept the digest if their symbols are 0.
  TAMIS_INLINE std::uint64_t uncoded(std::uint64_t block, std::uint64_t among, const hash_suffix& bits) const {
    if (table.width() == 8) return equal_bytes_of(block, among, bits.first_byte());
    return table.values().matches(block * block_slots, among, bits.head(table.width()));
  }
  TAMIS_INLINE std::uint64_t equal_bytes_of(std::uint64_t block, std::uint64_t among, std::uint8_t byte) const {
    return table.values().template matches<8>(block * block_slots, among, byte);
  }

  // Slots are looked at eight at once, and nearly all runs are shorter. The first of the window that has all of a run.
  static constexpr unsigned window = 8;
  TAMIS_INLINE static unsigned window_of(std::uint64_t run) {
    // The lesser of two numbers, without a branch: whether there is a run at all cannot be foreseen.
    return static_cast<unsigned>(std::countr_zero(run | std::uint64_t{1} << (block_slots - window)));
  }

  // Only slots that hold what the digest would have under some symbol are worth decoding for.
  TAMIS_INLINE bool accepts_coded(std::uint64_t block, std::uint64_t among, const hash_suffix& bits) const {
    const unsigned first = window_of(among);
    const std::uint64_t run = among >> first;
    if (table.width() < 8 || run >> window != 0) return among != 0 && accepts_one_of(block, among, bits.source());
    const std::uint64_t slot = block * block_slots + first;
    const std::uint64_t tags = scheme.tags()(bits, table.quotients());
    const std::uint32_t likely =
        scheme.candidates(table.values().low_bytes() + slot, table.code(block), first, static_cast<std::uint32_t>(run), tags);
    return likely != 0 && (scheme.candidates_accept() || accepts_candidate(slot, likely, tags, bits.source()));
  }
  // Does one of the slots from `first` on that may hold what the digest has accept it?  Requires: width() >= 8.
  TAMIS_NOINLINE bool accepts_candidate(std::uint64_t first, std::uint32_t likely, std::uint64_t tags, digest d) const {
    const std::uint64_t code = table.code(first / block_slots);
    likely |= likely >> 16;
    likely = (likely | likely >> 8) & 0xff;
    if (table.width() != 8 || !is_list(code) || (likely & (likely - 1)) != 0) return accepts_candidates(first, likely, tags, d);
    const std::uint64_t slot = first + static_cast<unsigned>(std::countr_zero(likely));
    const unsigned here = elias_fano_list(code).at(static_cast<unsigned>(slot % block_slots)).count;
    return table.values().low_bytes()[slot] == static_cast<std::uint8_t>(tags >> (8 * here));
  }
  // The same for any number of slots and any code: rare enough to keep what it needs out of the way.
  TAMIS_NOINLINE bool accepts_candidates(std::uint64_t first, std::uint32_t likely, std::uint64_t tags, digest d) const {
    const std::uint64_t code = table.code(first / block_slots);
    for (; likely != 0; likely &= likely - 1) {
      const std::uint64_t slot = first + static_cast<unsigned>(std::countr_zero(likely));
      const symbol here = scheme.code().symbol_at(code, static_cast<unsigned>(slot % block_slots));
      if (table.values().low_bytes()[slot] != static_cast<std::uint8_t>(tags >> (8 * here))) continue;
      if (table.width() == 8 || accepts_under(here, table.value(slot), d)) return true;
    }
    return false;
  }
  // Does one of the block's slots that hold the digest's remainder accept it?
  TAMIS_NOINLINE bool accepts_extended(std::uint64_t block, std::uint64_t found, digest d) const {
    const std::uint64_t code = table.code(block);
    const auto i = static_cast<unsigned>(std::countr_zero(found));
    return (is_list(code) && elias_fano_list(code).at(i).count == 0) || accepts_extension(block, found, d);
  }
  TAMIS_NOINLINE bool accepts_extension(std::uint64_t block, std::uint64_t found, digest d) const {
    const std::uint64_t code = table.code(block);
    for (; found != 0; found &= found - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(found));
      const symbol here = scheme.code().symbol_at(code, i);
      if (here == 0 || accepts_under(here, table.value(block * block_slots + i), d)) return true;
    }
    return false;
  }

  TAMIS_INLINE bool accepts_labelled(std::uint64_t block, std::uint64_t among, const hash_suffix& bits) const {
    if (table.width() != 8) {
      const std::uint64_t zeros = table.labelled(block, 0);
      return (uncoded(block, among, bits) & zeros) != 0 ||
             ((among & ~zeros) != 0 && accepts_one_of(block, among & ~zeros, bits.source()));
    }
    const unsigned first = window_of(among);
    const std::uint64_t run = among >> first;
    const std::uint64_t slot = block * block_slots + first;
    const std::uint64_t labels = table.eight_labels(slot);
    const std::uint8_t* bytes = table.values().low_bytes() + slot;
    // Labels above seven, and slots behind the window, are not compared here.
    if (run >> window != 0 || (labels & 0xf8f8f8f8f8f8f8f8u) != 0)
      return among != 0 && accepts_one_of(block, among, bits.source());
    return (run & equal_chosen(bytes, remainder_tags::first_bytes(bits), labels)) != 0;
  }

  // Out of line, and by the digest alone: the bits of the quick way then stay in registers.
  TAMIS_NOINLINE bool accepts_under(symbol here, std::uint64_t stored, digest d) const {
    return Scheme::accepts(stored, here, hash_suffix(d, table.quotients()), table.width());
  }
  TAMIS_NOINLINE bool accepts_one_of(std::uint64_t block, std::uint64_t slots, digest d) const {
    const hash_suffix bits(d, table.quotients());
    if constexpr (coded) {
      const auto decoded = scheme.code().some(table.code(block), static_cast<unsigned>(std::bit_width(slots)));
      return accepts_coded(block, slots, bits, [&](unsigned i) { return decoded[i]; });
    } else {
      return accepts_coded(block, slots, bits, [&](unsigned i) { return table.label(block * block_slots + i); });
    }
  }
  template <class SymbolAt>
  TAMIS_INLINE bool accepts_coded(std::uint64_t block, std::uint64_t slots, const hash_suffix& bits, SymbolAt symbol_at) const {
    for (; slots != 0; slots &= slots - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(slots));
      if (Scheme::accepts(table.value(block * block_slots + i), symbol_at(i), bits, table.width())) return true;
    }
    return false;
  }
  // In the block behind its own, which nearly every run that leaves its own ends in.
  TAMIS_NOINLINE bool may_contain_behind(digest d) const {
    const hash_suffix bits(d, table.quotients());
    const auto behind = table.find_behind(bits.quotient());
    if (!behind.known) return may_contain_far(bits);
    return behind.slots != 0 && accepts_any(bits.quotient() / block_slots + 1, behind.slots, bits);
  }
  TAMIS_NOINLINE bool may_contain_far(const hash_suffix& bits) const {
    const slot_range run = table.find(bits.quotient());
    for (std::uint64_t slot = run.first; slot < run.last;) {
      const std::uint64_t block = slot / block_slots;
      const std::uint64_t last = std::min(run.last, (block + 1) * block_slots);
      const auto first_bit = static_cast<unsigned>(slot % block_slots);
      if (accepts_any(block, low_mask(static_cast<unsigned>(last - slot)) << first_bit, bits)) return true;
      slot = last;
    }
    return false;
  }

  // ── pairing ──

  // Who stands behind each slot of the run. A slot without anybody was left behind by an erase without a remote. None if the
  // remote holds digests that the run does not accept: then they do not belong together, and nothing may be changed; or if it
  // would cost too much to find out. The same answer for the same run, until it changes.  Requires: ask.stored.
  std::optional<slot_owners> owners_of(std::uint64_t quotient, slot_range run, const owner_inquiry& ask) const {
    if (run.size() > adapt_work::most_slots) return std::nullopt;
    // One may be there before it has a slot; of more there is no pairing.
    auto found = digests_of_quotient(quotient, table.quotients(), *ask.stored, run.size() + 1, ask.work);
    if (!found) return std::nullopt;
    std::vector<digest>& digests = *found;
    const std::optional<digest_in_doubt>& about = ask.about;
    if (!about || place_of_word(about->d.high, table.quotients()).place != quotient) return pair(run, digests, ask.work);
    if (about->leaving) {
      if (digests.size() < run.size()) digests.push_back(about->d);
      return pair(run, digests, ask.work);
    }
    if (digests.size() <= run.size()) {
      if (auto paired = pair(run, digests, ask.work)) return paired;
    }
    const auto pending = std::find(digests.begin(), digests.end(), about->d);
    if (pending == digests.end()) return std::nullopt;
    digests.erase(pending);
    return pair(run, digests, ask.work);
  }
  std::optional<slot_owners> pair(slot_range run, const std::vector<digest>& digests, adapt_work& work) const {
    return pair(run, digests, symbols_of(run), adapt_work::most_comparisons, work);
  }
  // The same for symbols that are not written yet, and with as many comparisons as the caller likes.
  std::optional<slot_owners> pair(slot_range run, const std::vector<digest>& digests, std::span<const symbol> symbols,
                                  std::uint64_t most, adapt_work& work) const {
    std::vector<hash_suffix> bits;
    bits.reserve(digests.size());
    for (const digest d : digests) bits.emplace_back(d, table.quotients());
    const auto fits = [&](std::size_t i, std::size_t j) {
      return Scheme::accepts(table.value(run.first + j), symbols[j], bits[i], table.width());
    };
    const auto partners = match_bipartite(digests.size(), run.size(), fits, most, work.comparisons);
    if (!partners) return std::nullopt;
    slot_owners found(run.size());
    for (std::size_t i = 0; i < digests.size(); ++i) found[(*partners)[i]] = digests[i];
    return found;
  }

  static failure damaged(std::uint64_t block, const char* what) {
    return failure{"block " + std::to_string(block) + " of the table has " + what};
  }

  // Slots in use, each counted as the share of its base fingerprint's digests that it accepts.
  double accepted_weight() const {
    auto weight = static_cast<double>(table.used());
    if constexpr (Scheme::shrinks) {
      for (std::uint64_t block = 0; block < table.blocks(); ++block) {
        if (table.code(block) == 0) continue;
        for (const symbol l : symbols_of_block(block)) weight -= 1.0 - Scheme::share(l);
      }
    }
    return weight;
  }

  Scheme scheme;
  table_type table;
  std::uint64_t resets = 0;  // of groups: each has forgotten the fixes of its slots
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
