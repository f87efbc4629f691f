#pragma once

// What all adaptive one-memory-access Bloom filters share (Reviriego, Sánchez-Macián, Rottenstreich and Larrabeiti, "Adaptive
// one memory access Bloom filters", IEEE TNSM 2022): Bloom-1 words that can be stored by one of S sets of hash functions. After
// a false positive the word changes to a set that rejects the key:
//
//   fast   word h(x) of M:  │ w - s payload bits │ selector: s bits │       one lookup = one memory access
//   slow   its S shadows:   │ set 0 │ set 1 │ … │ set S - 1 │             an insert writes all, an adaptation copies one
//
// Nothing is lost by a change, since every shadow holds all keys of its word; but false positives of other keys, which the old
// set rejected, may come back. Adaptation pays where few keys are asked for often, and with short words.
//
// The filters differ in what they keep in slow memory (detail/bloom/switchable_words.hpp), which makes them different types:
//   struct kind { using shadows = …; using options = …; static constexpr filter_info info; }

#include <string>

#include "tamis/concepts.hpp"
#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/bloom/switchable_words.hpp"
#include "tamis/detail/math/abf.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

inline constexpr std::string_view abf_paper =
    "Reviriego, Sanchez-Macian, Rottenstreich, Larrabeiti: Adaptive one memory access Bloom filters (IEEE TNSM 2022)";

inline constexpr option_info abf_word_option{"word", "32, 64, 128, 256 or 512", "64", "bits of the word that holds a key"};
inline constexpr option_info abf_sets_option{"sets", "2, 4, 8 or 16", "4",
                                             "sets of hash functions that a word can choose from"};
inline constexpr option_info abf_switch_option{"switch", "checked or blind", "checked",
                                               "to the next set that rejects the key, or to the next one unseen"};
inline constexpr option_info abf_decimate_option{"decimate", "1 to 1000000", "1", "adapt only to every n-th false positive"};
inline constexpr option_info abf_detect_option{
    "detect", "0 to 1000000", "0",
    "for use without a full table: every n-th maybe that is reported is checked by the other sets; 0: all are wrong ones"};

inline constexpr option_info abf_option_table[] = {
    abf_word_option,   abf_sets_option,     {"k", "1 to 16", "best for the size", "bits that a key sets in its word"},
    abf_switch_option, abf_decimate_option, abf_detect_option,
};

// How a filter reacts to a reported "maybe". Where the counts of decimation and detection stand is not part of the filter: it
// is not saved, and two filters that differ in nothing else are equal.
class abf_reaction {
 public:
  static constexpr std::uint32_t most = 1'000'000;

  static result<abf_reaction> from(const filter_params& params) {
    constexpr std::string_view switches[] = {"checked", "blind"};
    TAMIS_TRY(const std::string how, choice_option(params, "switch", "checked", switches));
    TAMIS_TRY(const std::uint64_t every, number_option(params, "decimate", 1, 1, most));
    TAMIS_TRY(const std::uint64_t detect, number_option(params, "detect", 0, 0, most));
    abf_reaction made;
    made.blind_ = how == "blind";
    made.decimate_ = static_cast<std::uint32_t>(every);
    made.detect_ = static_cast<std::uint32_t>(detect);
    return made;
  }

  // The same settings, and nothing seen.
  abf_reaction anew() const {
    abf_reaction made = *this;
    made.reported_ = made.wrong_ = 0;
    return made;
  }

  bool detects() const { return detect_ != 0; }
  option_list settings() const {
    return {{"switch", blind_ != 0 ? "blind" : "checked"},
            {"decimate", std::to_string(decimate_)},
            {"detect", std::to_string(detect_)}};
  }

  // `is_absent()`: does another set say that the key is not in? `change(blind)`: changes the set, true if the key is rejected
  // now.
  template <class IsAbsent, class Change>
  adapt_result operator()(IsAbsent is_absent, Change change) {
    if (detects() && !(is_nth(reported_, detect_) && is_absent())) return adapt_result::unfixable;
    if (!is_nth(wrong_, decimate_)) return adapt_result::unfixable;
    return change(blind_ != 0) ? adapt_result::fixed : adapt_result::unfixable;
  }

  friend bool operator==(const abf_reaction& a, const abf_reaction& b) {
    return a.blind_ == b.blind_ && a.decimate_ == b.decimate_ && a.detect_ == b.detect_;
  }

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.blind_, self.decimate_, self.detect_);
  }
  status validate() const {
    if (is_wrong(blind_ > 1)) return failure{"the switch is " + std::to_string(blind_) + ", not 0 (checked) or 1 (blind)"};
    if (is_wrong(decimate_ < 1) || is_wrong(decimate_ > most))
      return failure{"decimate is " + std::to_string(decimate_) + ", not 1 to 1000000"};
    if (is_wrong(detect_ > most)) return failure{"detect is " + std::to_string(detect_) + ", not 0 to 1000000"};
    return {};
  }

 private:
  static bool is_nth(std::uint32_t& seen, std::uint32_t n) {
    if (++seen < n) return false;
    seen = 0;
    return true;
  }

  std::uint32_t blind_ = 0;
  std::uint32_t decimate_ = 1;
  std::uint32_t detect_ = 0;
  std::uint32_t reported_ = 0;  // since the last one that was checked
  std::uint32_t wrong_ = 0;     // since the last one that was acted on
};

// The size that the parameters ask for, without j.
inline result<abf_wish> abf_wish_from(const filter_params& params) {
  constexpr std::string_view widths[] = {"32", "64", "128", "256", "512"};
  constexpr std::string_view set_counts[] = {"2", "4", "8", "16"};
  TAMIS_TRY(const std::string word, choice_option(params, "word", "64", widths));
  TAMIS_TRY(const std::string sets, choice_option(params, "sets", "4", set_counts));
  TAMIS_TRY(const std::uint64_t k, number_option(params, "k", 0, 1, most_bloom1_places));
  abf_wish made;
  made.capacity = params.capacity;
  made.fpr = params.fpr;
  made.bits_per_key = params.bits_per_key;
  made.word_bits = static_cast<unsigned>(std::stoul(word));
  made.sets = static_cast<unsigned>(std::stoul(sets));
  made.k = static_cast<unsigned>(k);
  return made;
}

template <class Words>
result<Words> abf_words(const abf_wish& wish) {
  TAMIS_TRY(const bloom_shape shape, abf_shape(wish));
  return Words::make(shape.cells, wish.word_bits, {wish.word_bits, wish.sets, shape.k});
}

template <class Words>
option_list abf_settings(const Words& words, const abf_reaction& reaction) {
  option_list all = {{"word", std::to_string(words.width())},
                     {"sets", std::to_string(words.layout().sets())},
                     {"k", std::to_string(words.layout().k())}};
  for (auto& setting : reaction.settings()) all.push_back(std::move(setting));
  return all;
}

template <class Words>
std::string abf_shape_text(const Words& words) {
  return std::to_string(words.blocks()) + " words of " + std::to_string(words.width()) + " bits, " +
         std::to_string(words.layout().sets()) + " sets, k = " + std::to_string(words.layout().k());
}

template <class Kind>
class basic_abf {
 public:
  using options = typename Kind::options;
  static constexpr const filter_info& info = Kind::info;

  static result<basic_abf> create(const filter_params& params) {
    TAMIS_CHECK(check_params(info, params));
    TAMIS_TRY(const abf_wish wish, abf_wish_from(params));
    basic_abf made;
    TAMIS_TRY(made.reaction_, abf_reaction::from(params));
    TAMIS_TRY(made.words_, abf_words<words>(wish));
    made.capacity_ = params.capacity;
    return made;
  }

  insert_result insert(digest d) {
    words_.insert(d);
    ++keys_;
    return insert_result::inserted;
  }

  TAMIS_INLINE bool may_contain(digest d) const { return words_.may_contain(d); }

  // Requires nothing: a key that is in loses nothing by it. `unfixable` also stands for what decimation and detection leave
  // alone. The blind switch changes the word even where that does not help.
  adapt_result adapt(digest d) {
    if (!may_contain(d)) return adapt_result::not_positive;
    return reaction_([&] { return words_.rejected_by_another(d); },
                     [&](bool blind) { return blind ? words_.adapt_blindly(d) : words_.adapt(d); });
  }
  // The same beside a full table, which is asked only about keys that no set rejects. Where there is none, and the filter
  // detects false positives itself, the remote is empty and asking it is cheaper than asking the other sets.
  adapt_result adapt(digest d, const remote auto& stored) {
    if (may_contain(d) && (reaction_.detects() || !words_.rejected_by_another(d)) && holds(stored, d)) {
      return adapt_result::is_member;
    }
    return adapt(d);
  }

  // Section III.B, for use without a full table: is this "maybe" certainly wrong? Reads slow memory.
  bool certainly_absent(digest d) const { return !may_contain(d) || words_.rejected_by_another(d); }

  erase_result erase(digest d) requires requires(typename Kind::shadows s, const word_layout& l) {
    s.template erase<32>(0, nullptr, digest(), l);
  }
  {
    if (certainly_absent(d)) return erase_result::absent;
    words_.erase(d);
    keys_ -= keys_ != 0;
    return erase_result::erased;
  }

  status merge(const basic_abf& other) {
    if (!words_.same_shape(other.words_)) {
      return failure{"the two " + std::string(info.id) + " filters have different shapes: " + abf_shape_text(words_) + " and " +
                     abf_shape_text(other.words_)};
    }
    words_.merge(other.words_);
    keys_ += other.keys_;
    return {};
  }

  // Without keys, of the same shape.
  result<basic_abf> emptied() const {
    basic_abf made;
    TAMIS_TRY(made.words_, words_.emptied());
    made.reaction_ = reaction_.anew();
    made.capacity_ = capacity_;
    return made;
  }

  std::uint64_t keys() const { return keys_; }
  std::uint64_t capacity() const { return capacity_; }
  double expected_fpr() const { return words_.rate(); }
  memory_bits bits() const { return {words_.fast_bits(), words_.slow_bits()}; }
  option_list settings() const { return abf_settings(words_, reaction_); }

  // Batches (batch.hpp).
  template <class Use>
  void with_view(Use use) const {
    words_.with_view(use);
  }
  TAMIS_INLINE void prefetch_insert(digest d) const { words_.prefetch_insert(d); }

  friend bool operator==(const basic_abf&, const basic_abf&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.capacity_, self.keys_, self.reaction_, self.words_);
  }

 private:
  using words = switchable_words<typename Kind::shadows>;

  friend stored_access;
  basic_abf() = default;

  std::uint64_t capacity_ = 0;
  std::uint64_t keys_ = 0;
  abf_reaction reaction_;
  words words_;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
