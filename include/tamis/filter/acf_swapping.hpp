#pragma once

// The Swapping adaptive cuckoo filter (section 2.5 of the paper of filter/acf_family.hpp; Mitzenmacher, Pontarelli and
// Reviriego, "Adaptive cuckoo filters", ALENEX 2018): a key's fingerprint depends on the slot of its bin, so a false positive
// is fixed by changing places with another slot of the bin, full or empty. Which one is random; one where the question would
// collide again is passed by.

#include "tamis/filter/acf_family.hpp"

namespace tamis::inline TAMIS_LEVEL {

struct swapping_kind {
  static constexpr option_info options[] = {
      {"k", "2 to 8", "2, or what b and load need", "tables: bins of a key"},
      {"b", "2 to 8", "4, or what k and load need", "slots of a bin; one slot would leave nothing to swap"},
      acf_fingerprint_option,
      {"load", "10 to 96", "95", acf_load_text},
      acf_mirror_option,
  };
  static constexpr filter_info info{
      .id = "acf-swapping",
      .summary = "adaptive cuckoo filter: the key that collided swaps slots within its bin",
      .paper = acf_paper,
      .options = options,
      .version = 3,  // 1 and 2 had other places or fingerprints
  };
  static constexpr unsigned usual_k = 2;
  static constexpr unsigned usual_b = 4;
  static constexpr unsigned usual_load = 95;  // percent
  static constexpr unsigned least_b = 2;
  static constexpr bool has_selector = false;
  static constexpr bool has_path = false;

  static constexpr unsigned number(unsigned offset, std::uint64_t /*selector*/) { return offset; }

  template <class Slots>
  static fixing fix(Slots& slots, slot_at where, digest asked, const fix_request& how, change_log& log) {
    const unsigned b = slots.shape().b;
    const auto collide = [&](digest stored, unsigned offset) {
      return slots.fingerprint(slots.words(stored), offset) == slots.fingerprint(slots.words(asked), offset);
    };
    const digest stored = slots.key(where);
    const auto first = static_cast<unsigned>(how.random % (b - 1));
    for (unsigned step = 0; step < b - 1; ++step) {
      const slot_at other{where.place, (where.offset + 1 + (first + step) % (b - 1)) % b};
      const bool vacant = slots.is_empty(other);
      const digest there = slots.key(other);
      if (collide(stored, other.offset) || (!vacant && collide(there, where.offset))) continue;
      slots.remember(where, log);
      slots.remember(other, log);
      slots.write(other, stored);
      if (vacant) {
        slots.clear(where);
      } else {
        slots.write(where, there);
      }
      return fixing::done;
    }
    return fixing::impossible;
  }
};

using acf_swapping = adaptive_cuckoo<swapping_kind>;

}  // namespace tamis::inline TAMIS_LEVEL
