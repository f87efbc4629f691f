#pragma once

// What all adaptive cuckoo filters share (Kopelowitz, McCauley and Porat, "Support optimality and adaptive cuckoo filters",
// WADS 2021): a cuckoo filter whose keys have k bins by independent hashes, and a mirror with the digest of every stored key.
// After a false positive each key that collided is stored differently:
//
//   acf-cuckooing   in another of its bins
//   acf-cyclic      in the same slot, by the next of 2^s fingerprints: the slot's selector says by which
//   acf-swapping    in another slot of its bin, where it has another fingerprint
//
// An adaptation is done as a whole or not at all: what it wrote is taken back if the key is still a positive in the end, be it
// that no way to store a key differently rejects the question, that a chain of moves came back to where it began, or that it
// became too long. New hashes for all keys might help then, but that is the work of a whole filter for one question: only
// inserts do it.
//
// The filters differ in their kind:
//   struct kind : a numbering (detail/cuckoo/adaptive/mirrored_slots.hpp) {
//     options, info, usual_k, usual_b, usual_load, least_b, has_selector, has_path
//     static fixing fix(slots&, slot_at where, digest asked, const request&, undo_log&)   stores the key of one slot
//     differently
//   }

#include <algorithm>
#include <bit>
#include <iterator>
#include <new>
#include <string>
#include <type_traits>

#include "tamis/concepts.hpp"
#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/cuckoo/adaptive/mirrored_slots.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

inline constexpr std::string_view acf_paper =
    "Kopelowitz, McCauley, Porat: Support optimality and adaptive cuckoo filters (WADS 2021)";

inline constexpr option_info acf_fingerprint_option{"fingerprint", "4 to 48", "what fpr or bits per key need",
                                                    "bits of a fingerprint"};
inline constexpr std::string_view acf_load_text = "percent of the slots that the capacity fills";
inline constexpr option_info acf_mirror_option{"mirror", "memory or file", "memory",
                                               "where the stored digests are: in RAM, or in a mapped file in TMPDIR"};

enum class acf_path : std::uint32_t { shortest, paper, guided };  // as saved
inline constexpr std::string_view acf_path_names[] = {"shortest", "paper", "guided"};

enum class fixing {
  not_needed,  // nothing collides
  not_wanted,  // the key is in
  done,        // the slot holds something else now
  impossible,  // every way to store the key collides too, leads back, or takes too many moves
};

struct fix_request {
  acf_path path;
  unsigned most_moves;
  std::uint64_t random;
};

template <class Kind>
class adaptive_cuckoo {
 public:
  using options = typename Kind::options;
  static constexpr const filter_info& info = Kind::info;

  static result<adaptive_cuckoo> create(const filter_params& params) {
    TAMIS_CHECK(check_params(info, params));
    TAMIS_TRY(const acf_wish wish, wish_from(params));
    constexpr std::string_view mirrors[] = {"memory", "file"};
    TAMIS_TRY(const std::string mirror, choice_option(params, "mirror", mirrors[0], mirrors));
    TAMIS_TRY(const acf_shape shape, acf_shape_for(wish));
    adaptive_cuckoo made;
    if constexpr (Kind::has_path) {
      TAMIS_TRY(const std::string path, choice_option(params, "path", "guided", acf_path_names));
      const auto name = std::find(std::begin(acf_path_names), std::end(acf_path_names), path);
      made.path_ = static_cast<acf_path>(name - std::begin(acf_path_names));
    }
    const mirror_place where = mirror == "file" ? mirror_place::file : mirror_place::memory;
    TAMIS_TRY(made.slots_, slots_type::make(shape, where, made.path_ == acf_path::guided));
    made.capacity_ = params.capacity;
    made.load_ = wish.load_percent;
    return made;
  }

  // Within its capacity a filter that finds no room takes new hashes for all keys. `full` beyond it, and for more than k·b
  // copies of a key.
  [[nodiscard]] insert_result insert(digest d) {
    if (!slots_.insert(d)) {
      if (keys_ >= capacity_ || holds_only(d)) return insert_result::full;
      auto fresh = slots_.rebuilt(d);
      if (!fresh) return insert_result::full;
      slots_ = *std::move(fresh);
    }
    ++keys_;
    return insert_result::inserted;
  }

  TAMIS_INLINE bool may_contain(digest d) const { return slots_.may_contain(d); }

  // Exact: the mirror knows which slot is the key's.
  erase_result erase(digest d) {
    const auto at = slots_.find_key(d);
    if (!at) return erase_result::absent;
    slots_.clear(*at);
    --keys_;
    return erase_result::erased;
  }

  adapt_result adapt(digest d) {
    undo_log log;
    const fixing outcome = slots_.with_view([&](const auto& view) {
      const auto probe = view.locate(d);
      const std::uint64_t collisions = view.matching(probe);
      if (collisions == 0) return fixing::not_needed;
      for (std::uint64_t left = collisions; left != 0; left &= left - 1) {
        if (slots_.key(view.slot(probe, lowest(left))) == d) return fixing::not_wanted;
      }
      try {
        return fix_all(view, probe, collisions, d, log);
      } catch (const std::bad_alloc&) {
        return fixing::impossible;  // and what was done so far is taken back
      }
    });
    switch (outcome) {
      case fixing::not_needed: return adapt_result::not_positive;
      case fixing::not_wanted: return adapt_result::is_member;
      case fixing::done:
        moves_ += log.size();
        ++fixes_;
        return adapt_result::fixed;
      default: slots_.take_back(log); return adapt_result::unfixable;
    }
  }

  // Without keys, of the same shape; hashes begin with their first bits again.
  result<adaptive_cuckoo> emptied() const {
    adaptive_cuckoo made;
    TAMIS_TRY(made.slots_, slots_.emptied());
    made.path_ = path_;
    made.capacity_ = capacity_;
    made.load_ = load_;
    return made;
  }

  std::uint64_t keys() const { return keys_; }
  std::uint64_t capacity() const { return capacity_; }
  double expected_fpr() const {
    const acf_shape& shape = slots_.shape();
    return acf_rate(shape.k, shape.b, shape.fingerprint, static_cast<double>(keys_) / static_cast<double>(slots()));
  }
  memory_bits bits() const { return {slots_.fast_bits(), slots_.slow_bits()}; }
  option_list settings() const {
    const acf_shape& shape = slots_.shape();
    option_list all = {{"k", std::to_string(shape.k)},
                       {"b", std::to_string(shape.b)},
                       {"fingerprint", std::to_string(shape.fingerprint)},
                       {"load", std::to_string(load_)},
                       {"mirror", slots_.where() == mirror_place::file ? "file" : "memory"}};
    if constexpr (Kind::has_selector) all.emplace_back("selector", std::to_string(shape.selector));
    if constexpr (Kind::has_path) all.emplace_back("path", acf_path_names[static_cast<unsigned>(path_)]);
    return all;
  }

  std::uint64_t slots() const { return slots_.slots(); }
  // How often all keys were given new hashes, which also forgets what was adapted.
  std::uint64_t rebuilds() const { return slots_.generation(); }
  // Entries that adaptations have written, and adaptations.
  std::uint64_t moves() const { return moves_; }
  std::uint64_t fixes() const { return fixes_; }

  // Batches (batch.hpp).
  template <class Use>
  void with_view(Use use) const {
    slots_.with_view(use);
  }
  TAMIS_INLINE void prefetch_insert(digest d) const { slots_.prefetch(d); }

  friend bool operator==(const adaptive_cuckoo& a, const adaptive_cuckoo& b) {
    return a.capacity_ == b.capacity_ && a.keys_ == b.keys_ && a.fixes_ == b.fixes_ && a.load_ == b.load_ &&
           a.path_ == b.path_ && a.slots_ == b.slots_;
  }

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.capacity_, self.keys_, self.fixes_, self.load_, self.path_, self.slots_);
    if constexpr (!std::is_const_v<Self>) {
      if (!archive.ok() || self.path_ != acf_path::guided) return;
      if (const status made = self.slots_.make_labels(); !made) archive.fail(made.message());
    }
  }
  status validate() const {
    if (is_wrong(load_ < 1) || is_wrong(load_ > 100))
      return failure{"a load of " + std::to_string(load_) + " % is not possible"};
    if (is_wrong(path_ > (Kind::has_path ? acf_path::guided : acf_path::shortest)))
      return failure{"the kind of path is unknown"};
    if (is_wrong((slots_.shape().selector != 0) != Kind::has_selector))
      return failure{"selectors belong to acf-cyclic, and only to it"};
    if (is_wrong(slots_.shape().b < Kind::least_b)) return failure{"bins of one slot leave nothing to swap"};
    if (const std::uint64_t occupied = slots_.occupied(); is_wrong(occupied != keys_)) {
      return failure{std::to_string(occupied) + " slots are occupied, but there are " + std::to_string(keys_) + " keys"};
    }
    return {};
  }

 private:
  using slots_type = mirrored_slots<Kind>;

  static result<acf_wish> wish_from(const filter_params& params) {
    const auto given = [](std::uint64_t value) {
      return value == 0 ? std::nullopt : std::optional(static_cast<unsigned>(value));
    };
    TAMIS_TRY(const std::uint64_t k, number_option(params, "k", 0, least_acf_tables, most_acf_tables));
    TAMIS_TRY(const std::uint64_t b, number_option(params, "b", 0, Kind::least_b, most_acf_slots));
    TAMIS_TRY(const std::uint64_t width, number_option(params, "fingerprint", 0, least_acf_fingerprint, most_acf_fingerprint));
    TAMIS_TRY(const std::uint64_t load, number_option(params, "load", Kind::usual_load, 10, 96));
    acf_wish wish{params.capacity, params.fpr, params.bits_per_key, given(width), given(k), given(b)};
    wish.usual_k = Kind::usual_k;
    wish.usual_b = Kind::usual_b;
    wish.load_percent = static_cast<unsigned>(load);
    if constexpr (Kind::has_selector) {
      TAMIS_TRY(const std::uint64_t selector, number_option(params, "selector", 1, 1, most_acf_selector));
      wish.selector = static_cast<unsigned>(selector);
    }
    return wish;
  }

  static unsigned lowest(std::uint64_t bits) { return static_cast<unsigned>(std::countr_zero(bits)); }

  // Every slot that collides, one after the other. A key that was moved for one of them may collide in turn.
  template <class View, class Probe>
  fixing fix_all(const View& view, const Probe& probe, std::uint64_t collisions, digest d, undo_log& log) {
    constexpr unsigned moves_per_bit = 32;  // at 0.95 a chain by the paper's rule is longer once in 1e14 times
    const fix_request request{path_, moves_per_bit * (2 + static_cast<unsigned>(std::bit_width(keys_))), mix64(d.low + fixes_)};
    for (unsigned tries = 0; tries < 4 * view.k() * view.b(); ++tries) {
      const fixing outcome = Kind::fix(slots_, view.slot(probe, lowest(collisions)), d, request, log);
      if (outcome != fixing::done) return outcome;
      if (log.size() > request.most_moves) return fixing::impossible;
      collisions = view.matching(probe);
      if (collisions == 0) return fixing::done;
    }
    return fixing::impossible;
  }

  // Are all slots of this key taken by copies of it?
  bool holds_only(digest d) const {
    return !slots_.find(slots_.words(d), [&](slot_at at) { return slots_.key(at) != d; });
  }

  friend stored_access;
  friend struct label_access;  // for tests
  adaptive_cuckoo() = default;

  std::uint64_t capacity_ = 0;
  std::uint64_t keys_ = 0;
  std::uint64_t fixes_ = 0;
  std::uint64_t moves_ = 0;  // not saved
  std::uint32_t load_ = Kind::usual_load;
  acf_path path_ = acf_path::shortest;
  slots_type slots_;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
