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
// The filters differ in what they keep in slow memory (table/adaptive_words.hpp), which makes them different types:
//   struct kind { using shadows = …; static constexpr filter_info info; }

#include <string>

#include "tamis/filter/concepts.hpp"
#include "tamis/math/abf.hpp"
#include "tamis/table/adaptive_words.hpp"

namespace tamis::inline TAMIS_LEVEL {

inline constexpr std::string_view abf_paper =
    "Reviriego, Sanchez-Macian, Rottenstreich, Larrabeiti: Adaptive one memory access Bloom filters (IEEE TNSM 2022)";

inline constexpr option_info abf_options[] = {
    {"word", "32, 64, 128, 256 or 512", "64", "bits of the word that holds a key"},
    {"sets", "2, 4, 8 or 16", "4", "sets of hash functions that a word can choose from"},
    {"k", "1 to 16", "best for the size", "bits that a key sets in its word"},
    {"decimate", "1 to 1000000", "1", "adapt only to every n-th false positive"},
};

// Adapts only after every d-th false positive of the whole filter. Where the count stands is not part of the filter: it is not
// saved, and two filters that differ in nothing else are equal.
class decimation {
 public:
  static constexpr std::uint32_t most = 1'000'000;

  explicit decimation(std::uint32_t every = 1) : every_(every) {}

  std::uint32_t every() const { return every_; }
  bool is_due() {
    if (++seen_ < every_) return false;
    seen_ = 0;
    return true;
  }

  friend bool operator==(const decimation& a, const decimation& b) { return a.every_ == b.every_; }

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.every_);
  }
  status validate() const {
    if (every_ >= 1 && every_ <= most) return {};
    return error{"decimate is " + std::to_string(every_) + ", not 1 to 1000000"};
  }

 private:
  std::uint32_t every_;
  std::uint32_t seen_ = 0;
};

// The options that all of them have.
struct abf_choices {
  abf_wish wish;
  decimation decimate;

  static result<abf_choices> from(const filter_params& params) {
    constexpr std::string_view widths[] = {"32", "64", "128", "256", "512"};
    constexpr std::string_view set_counts[] = {"2", "4", "8", "16"};
    TAMIS_TRY(const std::string word, choice_option(params, "word", "64", widths));
    TAMIS_TRY(const std::string sets, choice_option(params, "sets", "4", set_counts));
    TAMIS_TRY(const std::uint64_t k, number_option(params, "k", 0, 1, most_bloom1_places));
    TAMIS_TRY(const std::uint64_t every, number_option(params, "decimate", 1, 1, decimation::most));
    abf_choices made;
    made.wish.capacity = params.capacity;
    made.wish.fpr = params.fpr;
    made.wish.bits_per_key = params.bits_per_key;
    made.wish.word_bits = static_cast<unsigned>(std::stoul(word));
    made.wish.sets = static_cast<unsigned>(std::stoul(sets));
    made.wish.k = static_cast<unsigned>(k);
    made.decimate = decimation(static_cast<std::uint32_t>(every));
    return made;
  }
};

template <class Words>
option_list abf_settings(const Words& words, const decimation& decimate) {
  return {{"word", std::to_string(words.width())},
          {"sets", std::to_string(words.layout().sets())},
          {"k", std::to_string(words.layout().k())},
          {"decimate", std::to_string(decimate.every())}};
}

template <class Words>
std::string abf_shape_text(const Words& words) {
  return std::to_string(words.blocks()) + " words of " + std::to_string(words.width()) + " bits, " +
         std::to_string(words.layout().sets()) + " sets, k = " + std::to_string(words.layout().k());
}

// Is this very digest stored?
inline bool holds(const remote auto& stored, digest d) {
  bool found = false;
  stored.for_each_in(digest_range{d, d}, [&found](digest) { found = true; });
  return found;
}

template <class Kind>
class basic_abf {
 public:
  static constexpr const filter_info& info = Kind::info;

  static result<basic_abf> create(const filter_params& params) {
    TAMIS_CHECK(check_params(info, params));
    TAMIS_TRY(const abf_choices choices, abf_choices::from(params));
    TAMIS_TRY(const bloom_shape shape, abf_shape(choices.wish));
    basic_abf made;
    TAMIS_TRY(made.words_,
              words::make(shape.cells, choices.wish.word_bits, {choices.wish.word_bits, choices.wish.sets, shape.k}));
    made.capacity_ = params.capacity;
    made.decimate_ = choices.decimate;
    return made;
  }

  insert_result insert(digest d) {
    words_.insert(d);
    ++keys_;
    return insert_result::inserted;
  }

  TAMIS_INLINE bool contains(digest d) const { return words_.contains(d); }

  // Requires nothing: a key that is in loses nothing by it. `unfixable` also stands for false positives that the decimation
  // leaves alone.
  adapt_result adapt(digest d) {
    if (!contains(d)) return adapt_result::not_positive;
    if (!decimate_.is_due()) return adapt_result::unfixable;
    return words_.adapt(d) ? adapt_result::fixed : adapt_result::unfixable;
  }
  // The same beside a full table, which is asked only about keys that no set rejects.
  adapt_result adapt(digest d, const remote auto& stored) {
    if (contains(d) && !words_.rejected_by_another(d) && holds(stored, d)) return adapt_result::is_member;
    return adapt(d);
  }
  // The switch of the paper's evaluation, which does not look whether the next set is better. Not an option of adapt, because
  // it changes the filter even when it does not help.
  adapt_result adapt_blindly(digest d) {
    if (!contains(d)) return adapt_result::not_positive;
    if (!decimate_.is_due()) return adapt_result::unfixable;
    return words_.adapt_blindly(d) ? adapt_result::fixed : adapt_result::unfixable;
  }

  // Section III.B, for use without a full table: is this "maybe" certainly wrong? Reads slow memory.
  bool certainly_absent(digest d) const { return !contains(d) || words_.rejected_by_another(d); }

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
      return error{"the two " + std::string(info.id) + " filters have different shapes: " + abf_shape_text(words_) + " and " +
                   abf_shape_text(other.words_)};
    }
    words_.merge(other.words_);
    keys_ += other.keys_;
    return {};
  }

  std::uint64_t keys() const { return keys_; }
  std::uint64_t capacity() const { return capacity_; }
  double expected_fpr() const { return words_.rate(); }
  memory_bits bits() const { return {words_.fast_bits(), words_.slow_bits()}; }
  option_list settings() const { return abf_settings(words_, decimate_); }

  // Batches (batch/pipeline.hpp).
  template <class Use>
  void with_view(Use use) const {
    words_.with_view(use);
  }
  TAMIS_INLINE void prefetch_insert(digest d) const { words_.prefetch_insert(d); }

  friend bool operator==(const basic_abf&, const basic_abf&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.capacity_, self.keys_, self.decimate_, self.words_);
  }

 private:
  using words = adaptive_words<typename Kind::shadows>;

  friend stored_access;
  basic_abf() = default;

  std::uint64_t capacity_ = 0;
  std::uint64_t keys_ = 0;
  decimation decimate_;
  words words_;
};

}  // namespace tamis::inline TAMIS_LEVEL
