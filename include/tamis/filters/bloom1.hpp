#pragma once

// Bloom-1: a Bloom filter with one memory access (Qiao, Li and Chen, "One memory access Bloom filters and their
// generalization", INFOCOM 2011; section II of the ABF paper). One part of the hash picks a word, the rest picks k bits of it:
//
//   digest.high ──► word i of M          digest.low ──► k bits of w
//   ┌────────┬────────┬──── … ────┬────────┐
//   │ word 0 │ word 1 │  0100101  │  M - 1 │      w = 32, 64, 128, 256 or 512 bits, never across a cache line
//   └────────┴────────┴──── … ────┴────────┘
//
// Words are unequally full, so a short word costs accuracy: at 10 bits per key the rate is 1.78 % with w = 64, 1.09 % with 256
// and 0.97 % with 512, against 0.82 % for a plain Bloom filter and its up to seven memory accesses.
//
// A word of 256 or 512 bits can be *split*: one bit in each of its eight parts, as blocked Bloom filters do it. Lookups are
// faster, and where eight bits are about the right number the rate is hardly higher: then that is what you get unless you ask
// otherwise.

#include <algorithm>
#include <string>

#include "tamis/concepts.hpp"
#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/bloom/block_words.hpp"
#include "tamis/detail/io/archive.hpp"
#include "tamis/detail/math/bloom.hpp"
#include "tamis/detail/math/fold.hpp"
#include "tamis/detail/simd/short_reduce.hpp"

namespace tamis::inline TAMIS_LEVEL {

class bloom1 {
  template <detail::block_shape S>
  using shape_constant = std::integral_constant<detail::block_shape, S>;
  // Shapes of which compilers can make loops of their own in may_contain(); it chooses the others anew in each call.
  static constexpr detail::block_shape split_512{512, true, true};
  static constexpr detail::block_shape split_256{256, true, true};
  static constexpr detail::block_shape free_512{512, false, true};
  enum class usual_shape : std::uint8_t { none, split_512, split_256, free_512 };

 public:
  using options = bloom1_options;
  static constexpr option_info option_table[] = {
      {"word", "32, 64, 128, 256 or 512", "512", "bits of the word that holds a key"},
      {"k", "1 to 16", "best for the size", "bits that a key sets in its word"},
      {"split", "yes or no", "yes where it is nearly as small", "one bit in each eighth of a word of 256 or 512 bits: faster"},
  };
  static constexpr filter_info info{
      .id = "bloom1",
      .summary = "Bloom filter with one memory access per lookup",
      .paper = "Qiao, Li, Chen: One memory access Bloom filters and their generalization (INFOCOM 2011)",
      .options = option_table,
      .never_full = true,
  };

  static result<bloom1> create(const filter_params& params) {
    TAMIS_CHECK(check_params(info, params));
    constexpr std::string_view widths[] = {"32", "64", "128", "256", "512"};
    constexpr std::string_view splits[] = {"yes", "no"};
    TAMIS_TRY(const std::string word, choice_option(params, "word", "512", widths));
    TAMIS_TRY(const std::string split, choice_option(params, "split", "", splits));
    TAMIS_TRY(const std::uint64_t k, number_option(params, "k", 0, 1, detail::most_bloom1_places));
    const auto width = static_cast<unsigned>(std::stoul(word));
    const bool can_split = detail::block_shape::exists(width, true) && (k == 0 || k == detail::split_bloom1_places);
    if (split == "yes" && !can_split) return failure{"bloom1: split=yes needs word=256 or 512 and k=8"};
    TAMIS_TRY(const plan chosen,
              split == "yes" ? split_plan(params, width)
              : split.empty() && can_split
                  ? faster_if_as_small(free_plan(params, width, static_cast<unsigned>(k)), split_plan(params, width))
                  : free_plan(params, width, static_cast<unsigned>(k)));
    bloom1 made;
    TAMIS_TRY(made.words_, detail::block_words::make(chosen.shape.cells, width));
    made.split_ = chosen.split;
    made.capacity_ = params.capacity;
    made.k_ = chosen.shape.k;
    made.choose_shape();
    return made;
  }

  insert_result insert(digest d) {
    return with_shape([&](auto shape) { return insert_as<shape()>(d); });
  }

  TAMIS_INLINE bool may_contain(digest d) const {
    if (usual_ == usual_shape::split_512) [[likely]]
      return may_contain_as<split_512>(d);
    if (usual_ == usual_shape::split_256) return may_contain_as<split_256>(d);
    return may_contain_otherwise(*this, d.high, d.low);
  }

  status merge(const bloom1& other) {
    TAMIS_CHECK(fits(other));
    unite<detail::plain_access>(other);
    keys_ += other.keys_;
    return {};
  }

  // As small as it can be with a rate of at most `fpr`, for what it holds now: halved, or divided otherwise if the number of
  // its words is odd. By how much; 1 if no divisor up to 64 will do. No key is lost.
  result<std::uint64_t> fold(double fpr) { return detail::fold_within(*this, fpr); }
  std::uint64_t cells() const { return words_.blocks(); }
  // Requires: by divides cells().
  result<bloom1> folded(std::uint64_t by) const {
    bloom1 smaller;
    TAMIS_TRY(smaller.words_, words_.folded(by));
    smaller.capacity_ = std::max(keys_, detail::divide_up(capacity_, by));
    smaller.keys_ = keys_;
    smaller.k_ = k_;
    smaller.split_ = split_;
    smaller.usual_ = usual_;
    return smaller;
  }

  // Without keys, of the same shape.
  result<bloom1> emptied() const {
    bloom1 made;
    TAMIS_TRY(made.words_, detail::block_words::make(words_.blocks(), words_.width()));
    made.capacity_ = capacity_;
    made.k_ = k_;
    made.split_ = split_;
    made.usual_ = usual_;
    return made;
  }

  std::uint64_t keys() const { return keys_; }
  std::uint64_t capacity() const { return capacity_; }
  double expected_fpr() const { return split_ ? words_.split_rate() : words_.rate(k_); }
  memory_bits bits() const { return {words_.bits()}; }
  option_list settings() const {
    return {{"word", std::to_string(words_.width())}, {"k", std::to_string(k_)}, {"split", split_ ? "yes" : "no"}};
  }

  // Shapes as types: see `formatted`, detail/any/model.hpp.
  template <class Use, class Other>
  std::invoke_result_t<Other> with_format(Use use, Other /*all shapes are types*/) const {
    if (split_) return words_.width() == 512 ? use(shape_constant<split_512>()) : use(shape_constant<split_256>());
    return words_.with_width([&](auto width) {
      if (k_ <= detail::places_per_seed) return use(shape_constant<detail::block_shape{width, false, true}>());
      return use(shape_constant<detail::block_shape{width}>());
    });
  }
  template <detail::block_shape S>
  TAMIS_INLINE bool may_contain_as(digest d) const {
    return accepts_as<S, detail::plain_access>(d);
  }

  // Batches (batch.hpp): the shape is chosen once, and a probe is found, prefetched and tested in separate steps.
  template <detail::block_shape S, class Access>
  struct view {
    struct probe {
      const std::uint32_t* block;
      std::uint64_t low;  // of the digest
    };

    TAMIS_INLINE bool may_contain(digest d) const { return test(locate(d)); }
    TAMIS_INLINE probe locate(digest d) const { return {first + detail::short_reduce(d.high, blocks) * (S.width / 32), d.low}; }
    TAMIS_INLINE void prefetch(const probe& p) const { detail::prefetch_read(p.block); }
    TAMIS_INLINE bool test(const probe& p) const {
      return detail::block_places({0, p.low}, k).template all_set<S, Access>(p.block);
    }

    const std::uint32_t* first;
    std::uint64_t blocks;
    unsigned k;
  };
  // with_view() for words that are read as Access says (detail/base/access.hpp).
  template <class Access, class Use>
  void with_view_by(Use use) const {
    with_shape([&](auto shape) { use(view<shape(), Access>{words_.block<shape().width>(0), words_.blocks(), k_}); });
  }
  template <class Use>
  void with_view(Use use) const {
    with_view_by<detail::plain_access>(use);
  }
  template <detail::block_shape S>
  struct updates {
    struct probe {
      std::uint32_t* block;
      std::uint64_t low;  // of the digest
    };

    TAMIS_INLINE probe locate(digest d) const { return {first + detail::short_reduce(d.high, blocks) * (S.width / 32), d.low}; }
    TAMIS_INLINE void prefetch(const probe& p) const { detail::prefetch_write(p.block); }
    TAMIS_INLINE insert_result insert(const probe& p) const {
      detail::block_places({0, p.low}, k).template set<S>(p.block);
      ++keys;
      return insert_result::inserted;
    }

    std::uint32_t* first;
    std::uint64_t blocks;
    unsigned k;
    std::uint64_t& keys;
  };
  template <class Use>
  void with_updates(Use use) {
    with_shape([&](auto shape) { use(updates<shape()>{words_.block<shape().width>(0), words_.blocks(), k_, keys_}); });
  }
  TAMIS_INLINE void prefetch_insert(digest d) const { words_.prefetch_for_write(words_.block_of(d)); }

  // What many threads may do at once, with atomic_access (lock_free.hpp); the keys are counted there.
  template <class Access>
  TAMIS_INLINE void add(digest d) {
    with_shape([&](auto shape) { add_as<shape(), Access>(d); });
  }
  template <class Access>
  TAMIS_INLINE bool accepts(digest d) const {
    return with_shape([&](auto shape) { return accepts_as<shape(), Access>(d); });
  }
  status fits(const bloom1& other) const {
    if (words_.width() == other.words_.width() && split_ == other.split_ && words_.blocks() == other.words_.blocks() &&
        k_ == other.k_)
      return {};
    return failure{"the two bloom1 filters have different shapes: " + shape() + " and " + other.shape()};
  }
  // Requires: fits(other).
  template <class Access>
  void unite(const bloom1& other) {
    words_.unite<Access>(other.words_);
  }
  template <class Access>
  bloom1 copied(std::uint64_t keys) const {
    bloom1 copy;
    copy.capacity_ = capacity_;
    copy.keys_ = keys;
    copy.k_ = k_;
    copy.split_ = split_;
    copy.usual_ = usual_;
    copy.words_ = words_.copied<Access>();
    return copy;
  }

  friend bool operator==(const bloom1&, const bloom1&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.capacity_, self.keys_, self.k_, self.split_, self.words_);
    if constexpr (!std::is_const_v<Self>) self.choose_shape();
  }
  static constexpr bool accepts_any_table = true;  // bits and counters have no wrong values
  status validate() const {
    if (detail::is_wrong(k_ < 1) || detail::is_wrong(k_ > detail::most_bloom1_places)) {
      return failure{"k is " + std::to_string(k_) + ", not 1 to 16"};
    }
    if (detail::is_wrong(split_ && k_ != detail::split_bloom1_places)) {
      return failure{"k is " + std::to_string(k_) + ", not 8 as in split words"};
    }
    return {};
  }

 private:
  struct plan {
    detail::bloom_shape shape;
    bool split = false;
    double rate = 0.0;  // when full
  };

  static result<plan> free_plan(const filter_params& params, unsigned width, unsigned k) {
    TAMIS_TRY(const detail::bloom_shape shape,
              params.fpr ? detail::bloom1_shape_for_rate(params.capacity, *params.fpr, width, k)
                         : detail::bloom1_shape_for_bits(params.capacity, *params.bits_per_key, width, k));
    return plan{shape, false, detail::bloom1_rate(shape.cells, width, params.capacity, shape.k)};
  }

  static result<plan> split_plan(const filter_params& params, unsigned width) {
    TAMIS_TRY(const detail::bloom_shape shape,
              params.fpr ? detail::split_bloom1_shape_for_rate(params.capacity, *params.fpr, width)
                         : detail::split_bloom1_shape_for_bits(params.capacity, *params.bits_per_key, width));
    return plan{shape, true, detail::split_bloom1_rate(shape.cells, width, params.capacity)};
  }

  // The split plan, if it asks for at most 5 % more memory and has at most a tenth more false positives.
  static result<plan> faster_if_as_small(const result<plan>& free, const result<plan>& split) {
    if (!free || !split) return free ? free : split;
    const bool small = static_cast<double>(split->shape.cells) <= 1.05 * static_cast<double>(free->shape.cells);
    return small && split->rate <= 1.1 * free->rate ? split : free;
  }

  // Calls `use` with the shape as a constant: one branch per call (or per batch) instead of a width in every shift.
  template <class Use>
  TAMIS_INLINE std::invoke_result_t<Use, shape_constant<split_512>> with_shape(Use use) const {
    if (usual_ == usual_shape::split_512) [[likely]]
      return use(shape_constant<split_512>());
    if (usual_ == usual_shape::split_256) return use(shape_constant<split_256>());
    return words_.with_width([&](auto width) { return use(shape_constant<detail::block_shape{width}>()); });
  }
  void choose_shape() {
    usual_ = usual_shape::none;
    if (split_) {
      usual_ = words_.width() == 512 ? usual_shape::split_512 : usual_shape::split_256;
    } else if (words_.width() == 512 && k_ <= detail::places_per_seed) {
      usual_ = usual_shape::free_512;
    }
  }

  TAMIS_INLINE std::uint64_t block_of(digest d) const { return detail::short_reduce(d.high, words_.blocks()); }
  template <detail::block_shape S, class Access>
  TAMIS_INLINE bool accepts_as(digest d) const {
    return detail::block_places(d, k_).all_set<S, Access>(words_.block<S.width>(block_of(d)));
  }
  // Out of line and pure: compilers then make loops of their own of the usual shapes, without a branch on them.
  [[gnu::pure]] TAMIS_NOINLINE static bool may_contain_otherwise(const bloom1& self, std::uint64_t high,
                                                                 std::uint64_t low) noexcept {
    if (self.usual_ == usual_shape::free_512) [[likely]]
      return self.may_contain_as<free_512>({high, low});
    return self.words_.with_width([&](auto width) {
      return self.accepts_as<detail::block_shape{width}, detail::plain_access>({high, low});
    });
  }

  template <detail::block_shape S, class Access>
  TAMIS_INLINE void add_as(digest d) {
    const detail::block_places places(d, k_);
    std::uint32_t* const block = words_.block<S.width>(block_of(d));
    if constexpr (Access::is_atomic) {
      places.set_atomically<S>(block);
    } else {
      places.set<S>(block);
    }
  }
  template <detail::block_shape S>
  TAMIS_INLINE insert_result insert_as(digest d) {
    add_as<S, detail::plain_access>(d);
    ++keys_;
    return insert_result::inserted;
  }

  std::string shape() const {
    return std::to_string(words_.blocks()) + " words of " + std::to_string(words_.width()) +
           " bits, k = " + std::to_string(k_) + (split_ ? ", split" : "");
  }

  friend detail::stored_access;
  bloom1() = default;

  std::uint64_t capacity_ = 0;
  std::uint64_t keys_ = 0;
  unsigned k_ = 0;
  bool split_ = false;
  usual_shape usual_ = usual_shape::none;  // follows from the others
  detail::block_words words_;
};

}  // namespace tamis::inline TAMIS_LEVEL
