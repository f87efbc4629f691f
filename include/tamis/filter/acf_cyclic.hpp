#pragma once

// The Cyclic adaptive cuckoo filter (section 2.4 of the paper of filter/acf_family.hpp; Mitzenmacher, Pontarelli and Reviriego,
// "Adaptive cuckoo filters", ALENEX 2018): every slot has a selector of s bits which says by which of 2^s hashes its
// fingerprint was made. After a false positive the slot goes on to the next selector whose fingerprint does not collide; if all
// of them do, the question cannot be fixed.

#include "tamis/filter/acf_family.hpp"

namespace tamis::inline TAMIS_LEVEL {

struct cyclic_kind {
  static constexpr option_info options[] = {
      {"k", "2 to 8", "4", "tables: bins of a key"},
      {"b", "1 to 8", "1, or what k and load need", "slots of a bin"},
      acf_fingerprint_option,
      {"load", "10 to 96", "95", acf_load_text},
      acf_mirror_option,
      {"selector", "1 to 4", "1", "bits of a slot that choose its fingerprint, beside the fingerprint"},
  };
  static constexpr filter_info info{
      .id = "acf-cyclic",
      .summary = "adaptive cuckoo filter: the slot that collided takes another fingerprint",
      .paper = acf_paper,
      .options = options,
      .version = 3,  // 1 and 2 had other places or fingerprints
  };
  static constexpr unsigned usual_k = 4;
  static constexpr unsigned usual_b = 1;
  static constexpr unsigned usual_load = 95;  // percent
  static constexpr unsigned least_b = 1;
  static constexpr bool has_selector = true;
  static constexpr bool has_path = false;

  static constexpr unsigned number(unsigned /*offset*/, std::uint64_t selector) { return static_cast<unsigned>(selector); }

  template <class Slots>
  static fixing fix(Slots& slots, slot_at where, digest asked, const fix_request& /*how*/, change_log& log) {
    const digest stored = slots.key(where);
    const std::uint64_t selectors = std::uint64_t{1} << slots.shape().selector;
    const std::uint64_t now = slots.selector(where);
    for (std::uint64_t step = 1; step < selectors; ++step) {
      const std::uint64_t next = (now + step) % selectors;
      const auto fingerprint = [&](digest d) { return slots.fingerprint(slots.words(d), number(0, next)); };
      if (fingerprint(stored) == fingerprint(asked)) continue;
      slots.remember(where, log);
      slots.write(where, stored, next);
      return fixing::done;
    }
    return fixing::impossible;
  }
};

using acf_cyclic = adaptive_cuckoo<cyclic_kind>;

}  // namespace tamis::inline TAMIS_LEVEL
