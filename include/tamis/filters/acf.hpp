#pragma once

// The adaptive cuckoo filters, which differ in how they fix a false positive: see detail/cuckoo/adaptive/adaptive_cuckoo.hpp.

#include "tamis/detail/cuckoo/adaptive/adaptive_cuckoo.hpp"

namespace tamis::inline TAMIS_LEVEL {

// The Cuckooing adaptive cuckoo filter (section 2.3 of the paper of detail/cuckoo/adaptive/adaptive_cuckoo.hpp): a cuckoo
// filter without any metadata that fixes a false positive by moving the key which collided to another of its bins, as an insert
// would. After that it collides with the question only if that bin is also the question's, which has a chance of 1 in N: fixes
// last, and over n questions of Q different keys the false positives are about eps |Q|, however often each is repeated
// ("support optimal").
//
//   path=paper     every key that has to go takes its bin of the next table; who stands there goes on in the same way
//   path=shortest  the shortest chain of moves that ends in an empty slot: at a load of 0.95 a tenth of the moves, and each
//                  move may bring back a false positive that was fixed before. The mirror remembers which tables a key has
//                  left, and chains do not take it back there
//   path=guided    nearly as short a chain, found with half the reads of the mirror: two bits for every bin, in slow memory,
//                  say about how far it is from an empty one (detail/cuckoo/adaptive/guided_search.hpp)

// How a false positive is fixed. Contracts: detail/cuckoo/adaptive/adaptive_cuckoo.hpp
struct cuckooing_kind {
  using options = acf_cuckooing_options;
  static constexpr option_info option_table[] = {
      {"k", "2 to 8", "4", "tables: bins of a key"},
      {"b", "1 to 8", "1, or what k and load need", "slots of a bin"},
      detail::acf_fingerprint_option,
      {"load", "10 to 96", "90", detail::acf_load_text},
      detail::acf_mirror_option,
      {"path", "guided, shortest or paper", "guided", "how keys move after a false positive: see acf-cuckooing's page"},
  };
  static constexpr filter_info info{
      .id = "acf-cuckooing",
      .summary = "adaptive cuckoo filter: moves the key that collided to another bin",
      .paper = detail::acf_paper,
      .options = option_table,
  };
  static constexpr unsigned usual_k = 4;
  static constexpr unsigned usual_b = 1;
  static constexpr unsigned usual_load = 90;  // percent: at 95 an adaptation takes half as long again
  static constexpr unsigned least_b = 1;
  static constexpr bool has_selector = false;
  static constexpr bool has_path = true;

  static constexpr unsigned number(unsigned /*offset*/, std::uint64_t /*selector*/) { return 0; }

  template <class Slots>
  static detail::fixing fix(Slots& slots, detail::slot_at where, digest /*asked*/, const detail::fix_request& how,
                            detail::undo_log& log) {
    return how.path == detail::acf_path::paper ? push(slots, where, how, log) : move_away(slots, where, log);
  }

 private:
  template <class Slots>
  static detail::fixing move_away(Slots& slots, detail::slot_at where, detail::undo_log& log) {
    const digest stored = slots.key(where);
    const unsigned here = 1u << slots.table_of(where.place);
    const unsigned all = (1u << slots.shape().k) - 1;
    unsigned left = slots.left(where) | here;
    if (left == all) left = here;  // it has collided everywhere: begin anew
    std::array<std::uint64_t, detail::most_acf_tables> others;
    const digest words = slots.words(stored);
    for (unsigned table = 0; table < slots.shape().k; ++table) {
      others[table] = (left >> table & 1) != 0 ? detail::nowhere : slots.place(words, table);
    }
    // Not through the slot that is being fixed: it is about to be empty, and a chain that ends there would be a ring.
    const auto room = slots.make_room(std::span(others).first(slots.shape().k), where.place, &log);
    if (!room) return detail::fixing::impossible;  // all ways out lead back, or are too long
    slots.remember(*room, log);
    slots.write(*room, stored, 0, left);
    slots.remember(where, log);
    slots.clear(where);
    return detail::fixing::done;
  }

  template <class Slots>
  static detail::fixing push(Slots& slots, detail::slot_at where, const detail::fix_request& how, detail::undo_log& log) {
    digest moving = slots.key(where);
    slots.remember(where, log);
    slots.clear(where);
    unsigned table = slots.table_of(where.place);
    for (unsigned moves = 0; moves < how.most_moves; ++moves) {
      table = table + 1 == slots.shape().k ? 0 : table + 1;
      const std::uint64_t place = slots.place(slots.words(moving), table);
      const auto empty = slots.empty_offset(place);
      const unsigned any = slots.shape().b == 1 ? 0 : static_cast<unsigned>((how.random + moves) % slots.shape().b);
      const detail::slot_at next{place, empty.value_or(any)};
      const digest there = slots.key(next);
      slots.remember(next, log);
      slots.write(next, moving);
      if (empty) return detail::fixing::done;
      moving = there;
    }
    return detail::fixing::impossible;
  }
};

using acf_cuckooing = detail::adaptive_cuckoo<cuckooing_kind>;

// The Cyclic adaptive cuckoo filter (section 2.4 of the paper of detail/cuckoo/adaptive/adaptive_cuckoo.hpp; Mitzenmacher,
// Pontarelli and Reviriego, "Adaptive cuckoo filters", ALENEX 2018): every slot has a selector of s bits which says by which of
// 2^s hashes its fingerprint was made. After a false positive the slot goes on to the next selector whose fingerprint does not
// collide; if all of them do, the question cannot be fixed.

// How a false positive is fixed. Contracts: detail/cuckoo/adaptive/adaptive_cuckoo.hpp
struct cyclic_kind {
  using options = acf_cyclic_options;
  static constexpr option_info option_table[] = {
      {"k", "2 to 8", "4", "tables: bins of a key"},
      {"b", "1 to 8", "1, or what k and load need", "slots of a bin"},
      detail::acf_fingerprint_option,
      {"load", "10 to 96", "95", detail::acf_load_text},
      detail::acf_mirror_option,
      {"selector", "1 to 4", "1", "bits of a slot that choose its fingerprint, beside the fingerprint"},
  };
  static constexpr filter_info info{
      .id = "acf-cyclic",
      .summary = "adaptive cuckoo filter: the slot that collided takes another fingerprint",
      .paper = detail::acf_paper,
      .options = option_table,
  };
  static constexpr unsigned usual_k = 4;
  static constexpr unsigned usual_b = 1;
  static constexpr unsigned usual_load = 95;  // percent
  static constexpr unsigned least_b = 1;
  static constexpr bool has_selector = true;
  static constexpr bool has_path = false;

  static constexpr unsigned number(unsigned /*offset*/, std::uint64_t selector) { return static_cast<unsigned>(selector); }

  template <class Slots>
  static detail::fixing fix(Slots& slots, detail::slot_at where, digest asked, const detail::fix_request& /*how*/,
                            detail::undo_log& log) {
    const digest stored = slots.key(where);
    const std::uint64_t selectors = std::uint64_t{1} << slots.shape().selector;
    const std::uint64_t now = slots.selector(where);
    for (std::uint64_t step = 1; step < selectors; ++step) {
      const std::uint64_t next = (now + step) % selectors;
      const auto fingerprint = [&](digest d) { return slots.fingerprint(slots.words(d), number(0, next)); };
      if (fingerprint(stored) == fingerprint(asked)) continue;
      slots.remember(where, log);
      slots.write(where, stored, next);
      return detail::fixing::done;
    }
    return detail::fixing::impossible;
  }
};

using acf_cyclic = detail::adaptive_cuckoo<cyclic_kind>;

// The Swapping adaptive cuckoo filter (section 2.5 of the paper of detail/cuckoo/adaptive/adaptive_cuckoo.hpp; Mitzenmacher,
// Pontarelli and Reviriego, "Adaptive cuckoo filters", ALENEX 2018): a key's fingerprint depends on the slot of its bin, so a
// false positive is fixed by changing places with another slot of the bin, full or empty. Which one is random; one where the
// question would collide again is passed by.

// How a false positive is fixed. Contracts: detail/cuckoo/adaptive/adaptive_cuckoo.hpp
struct swapping_kind {
  using options = acf_options;
  static constexpr option_info option_table[] = {
      {"k", "2 to 8", "2, or what b and load need", "tables: bins of a key"},
      {"b", "2 to 8", "4, or what k and load need", "slots of a bin; one slot would leave nothing to swap"},
      detail::acf_fingerprint_option,
      {"load", "10 to 96", "95", detail::acf_load_text},
      detail::acf_mirror_option,
  };
  static constexpr filter_info info{
      .id = "acf-swapping",
      .summary = "adaptive cuckoo filter: the key that collided swaps slots within its bin",
      .paper = detail::acf_paper,
      .options = option_table,
  };
  static constexpr unsigned usual_k = 2;
  static constexpr unsigned usual_b = 4;
  static constexpr unsigned usual_load = 95;  // percent
  static constexpr unsigned least_b = 2;
  static constexpr bool has_selector = false;
  static constexpr bool has_path = false;

  static constexpr unsigned number(unsigned offset, std::uint64_t /*selector*/) { return offset; }

  template <class Slots>
  static detail::fixing fix(Slots& slots, detail::slot_at where, digest asked, const detail::fix_request& how,
                            detail::undo_log& log) {
    const unsigned b = slots.shape().b;
    const auto collide = [&](digest stored, unsigned offset) {
      return slots.fingerprint(slots.words(stored), offset) == slots.fingerprint(slots.words(asked), offset);
    };
    const digest stored = slots.key(where);
    const auto first = static_cast<unsigned>(how.random % (b - 1));
    for (unsigned step = 0; step < b - 1; ++step) {
      const detail::slot_at other{where.place, (where.slot + 1 + (first + step) % (b - 1)) % b};
      const bool vacant = slots.is_empty(other);
      const digest there = slots.key(other);
      if (collide(stored, other.slot) || (!vacant && collide(there, where.slot))) continue;
      slots.remember(where, log);
      slots.remember(other, log);
      slots.write(other, stored);
      if (vacant) {
        slots.clear(where);
      } else {
        slots.write(where, there);
      }
      return detail::fixing::done;
    }
    return detail::fixing::impossible;
  }
};

using acf_swapping = detail::adaptive_cuckoo<swapping_kind>;

}  // namespace tamis::inline TAMIS_LEVEL
