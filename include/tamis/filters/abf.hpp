#pragma once

// The adaptive one-memory-access Bloom filters, which differ in what they keep in slow memory: see
// detail/bloom/adaptive_bloom.hpp.

#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/bloom/adaptive_bloom.hpp"
#include "tamis/detail/bloom/shadow_counters.hpp"
#include "tamis/detail/bloom/shadow_words.hpp"
#include "tamis/detail/bloom/spare_words.hpp"
#include "tamis/detail/hash/bit_stream.hpp"

namespace tamis::inline TAMIS_LEVEL {

// The adaptive Bloom filter of the paper: all S shadows are kept whole in slow memory. See detail/bloom/adaptive_bloom.hpp.

struct abf_kind {
  using shadows = detail::shadow_words;
  using options = abf_options;
  static constexpr filter_info info{
      .id = "abf",
      .summary = "Bloom filter with one memory access per lookup that adapts to false positives",
      .paper = detail::abf_paper,
      .options = detail::abf_option_table,
      .fixes_last = false,
      .never_full = true,
  };
};
using abf = detail::basic_abf<abf_kind>;

// An adaptive Bloom filter that deletes, beyond the paper: its shadows count. Fast memory and lookups are those of `abf`; slow
// memory is four times as much. See detail/bloom/adaptive_bloom.hpp.

struct abf_counting_kind {
  using shadows = detail::shadow_counters;
  using options = abf_options;
  static constexpr filter_info info{
      .id = "abf-counting",
      .summary = "adaptive one-memory-access Bloom filter that deletes: counters in slow memory",
      .paper = detail::abf_paper,
      .options = detail::abf_option_table,
      .fixes_last = false,
      .never_full = true,
  };
};
using abf_counting = detail::basic_abf<abf_counting_kind>;

// The adaptive Bloom filter for one memory (section VI of the paper): only the words that are not in use are kept beside the
// active ones. Lookups are those of `abf`. See detail/bloom/adaptive_bloom.hpp.

struct abf_spare_kind {
  using shadows = detail::spare_words;
  using options = abf_options;
  static constexpr filter_info info{
      .id = "abf-spare",
      .summary = "adaptive one-memory-access Bloom filter that keeps only the unused words as shadows",
      .paper = detail::abf_paper,
      .options = detail::abf_option_table,
      .fixes_last = false,
      .never_full = true,
  };
};
using abf_spare = detail::basic_abf<abf_spare_kind>;

// Adaptive Bloom-j (section VI of the ABF paper): a key sets k bits in each of j words, and is a "maybe" if all of them accept
// it, so that one word that changes its set is enough to reject it.
//
//   digest                 ──► word 1, k bits ─┐
//   its first continuation ──► word 2, k bits ─┼─ all set: maybe
//   …                      ──► word j, k bits ─┘
//
// j = 2, 3 is Bloom-2, Bloom-3; with k = 1 it is the bit-based variant of the same section: a classic Bloom filter with j hash
// functions whose array is cut into blocks of w bits with a selector each. A lookup stops at the first word that rejects the
// key.

class abf_j {
 public:
  using options = abf_j_options;
  static constexpr unsigned most_words = 16;
  static constexpr option_info option_table[] = {
      {"j", "1 to 16", "2", "words of a key"},
      detail::abf_word_option,
      detail::abf_sets_option,
      {"k", "1 to 16", "best for the size", "bits that a key sets in each of its words; 1: the bit-based variant"},
      detail::abf_switch_option,
      detail::abf_decimate_option,
      detail::abf_detect_option,
  };
  static constexpr filter_info info{
      .id = "abf-j",
      .summary = "adaptive Bloom filter with j words per key, or bit-based (k=1)",
      .paper = detail::abf_paper,
      .options = option_table,
      .fixes_last = false,
      .never_full = true,
  };

  static result<abf_j> create(const filter_params& params) {
    TAMIS_CHECK(check_params(info, params));
    TAMIS_TRY(detail::abf_wish wish, detail::abf_wish_from(params));
    TAMIS_TRY(const std::uint64_t j, number_option(params, "j", 2, 1, most_words));
    wish.words_per_key = static_cast<unsigned>(j);
    abf_j made;
    TAMIS_TRY(made.reaction_, detail::abf_reaction::from(params));
    TAMIS_TRY(made.words_, detail::abf_words<words>(wish));
    made.capacity_ = params.capacity;
    made.j_ = static_cast<unsigned>(j);
    return made;
  }

  insert_result insert(digest d) {
    for (unsigned i = 0; i < j_; ++i) words_.insert(detail::continuation(d, i));
    ++keys_;
    return insert_result::inserted;
  }

  bool may_contain(digest d) const {
    for (unsigned i = 0; i < j_; ++i) {
      if (!words_.may_contain(detail::continuation(d, i))) return false;
    }
    return true;
  }

  // Adapts one word after the other until the false positive is gone.
  adapt_result adapt(digest d) {
    if (!may_contain(d)) return adapt_result::not_positive;
    return reaction_([&] { return certainly_absent(d); },
                     [&](bool blind) {
                       for (unsigned i = 0; i < j_; ++i) {
                         const digest part = detail::continuation(d, i);
                         if (blind ? words_.adapt_blindly(part) : words_.adapt(part)) return true;
                       }
                       return false;
                     });
  }
  adapt_result adapt(digest d, const remote auto& stored) {
    if (may_contain(d) && (reaction_.detects() || !certainly_absent(d)) && holds(stored, d)) return adapt_result::is_member;
    return adapt(d);
  }

  // Is this "maybe" certainly wrong? Reads slow memory.
  bool certainly_absent(digest d) const {
    for (unsigned i = 0; i < j_; ++i) {
      const digest part = detail::continuation(d, i);
      if (!words_.may_contain(part) || words_.rejected_by_another(part)) return true;
    }
    return false;
  }

  status merge(const abf_j& other) {
    if (j_ != other.j_ || !words_.same_shape(other.words_)) {
      return failure{"the two abf-j filters have different shapes: " + shape() + " and " + other.shape()};
    }
    words_.merge(other.words_);
    keys_ += other.keys_;
    return {};
  }

  // Without keys, of the same shape.
  result<abf_j> emptied() const {
    abf_j made;
    TAMIS_TRY(made.words_, words_.emptied());
    made.reaction_ = reaction_.anew();
    made.capacity_ = capacity_;
    made.j_ = j_;
    return made;
  }

  std::uint64_t keys() const { return keys_; }
  std::uint64_t capacity() const { return capacity_; }
  double expected_fpr() const { return std::pow(words_.rate(), j_); }
  memory_bits bits() const { return {words_.fast_bits(), words_.slow_bits()}; }
  option_list settings() const {
    option_list all = detail::abf_settings(words_, reaction_);
    all.emplace(all.begin(), "j", std::to_string(j_));
    return all;
  }

  // Batches: the first two words are enough for nearly every negative.
  TAMIS_INLINE void prefetch(digest d) const {
    for (unsigned i = 0; i < std::min(j_, 2u); ++i) words_.prefetch(detail::continuation(d, i));
  }
  TAMIS_INLINE void prefetch_insert(digest d) const {
    for (unsigned i = 0; i < j_; ++i) words_.prefetch_insert(detail::continuation(d, i));
  }

  friend bool operator==(const abf_j&, const abf_j&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.capacity_, self.keys_, self.reaction_, self.j_, self.words_);
  }
  status validate() const {
    if (detail::is_wrong(j_ < 1) || detail::is_wrong(j_ > most_words)) {
      return failure{"j is " + std::to_string(j_) + ", not 1 to 16"};
    }
    return {};
  }

 private:
  using words = detail::switchable_words<detail::shadow_words>;

  std::string shape() const { return std::to_string(j_) + " words of a key, " + detail::abf_shape_text(words_); }

  friend detail::stored_access;
  abf_j() = default;

  std::uint64_t capacity_ = 0;
  std::uint64_t keys_ = 0;
  detail::abf_reaction reaction_;
  unsigned j_ = 1;
  words words_;
};

}  // namespace tamis::inline TAMIS_LEVEL
