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

#include <algorithm>
#include <string>

#include "tamis/filter/concepts.hpp"
#include "tamis/io/archive.hpp"
#include "tamis/math/bloom.hpp"
#include "tamis/table/block_words.hpp"

namespace tamis::inline TAMIS_LEVEL {

class bloom1 {
 public:
  static constexpr option_info options[] = {
      {"word", "32, 64, 128, 256 or 512", "512", "bits of the word that holds a key"},
      {"k", "1 to 16", "best for the size", "bits that a key sets in its word"},
  };
  static constexpr filter_info info{
      .id = "bloom1",
      .summary = "Bloom filter with one memory access per lookup",
      .paper = "Qiao, Li, Chen: One memory access Bloom filters and their generalization (INFOCOM 2011)",
      .options = options,
  };

  static result<bloom1> create(const filter_params& params) {
    TAMIS_CHECK(check_params(info, params));
    constexpr std::string_view widths[] = {"32", "64", "128", "256", "512"};
    TAMIS_TRY(const std::string word, choice_option(params, "word", "512", widths));
    TAMIS_TRY(const std::uint64_t k, number_option(params, "k", 0, 1, most_bloom1_places));
    const auto width = static_cast<unsigned>(std::stoul(word));
    TAMIS_TRY(const bloom_shape shape,
              params.fpr ? bloom1_shape_for_rate(params.capacity, *params.fpr, width, static_cast<unsigned>(k))
                         : bloom1_shape_for_bits(params.capacity, *params.bits_per_key, width, static_cast<unsigned>(k)));
    bloom1 made;
    TAMIS_TRY(made.words_, block_words::make(shape.cells, width));
    made.capacity_ = params.capacity;
    made.k_ = shape.k;
    return made;
  }

  insert_result insert(digest d) {
    return words_.with_width([&](auto width) { return insert_as<width>(d); });
  }

  bool contains(digest d) const {
    return words_.with_width(
        [&](auto width) { return block_places(d, k_).all_set<width>(words_.block<width>(words_.block_of(d))); });
  }

  status merge(const bloom1& other) {
    if (words_.width() != other.words_.width() || words_.blocks() != other.words_.blocks() || k_ != other.k_) {
      return error{"the two bloom1 filters have different shapes: " + shape() + " and " + other.shape()};
    }
    words_.unite(other.words_);
    keys_ += other.keys_;
    return {};
  }

  std::uint64_t keys() const { return keys_; }
  std::uint64_t capacity() const { return capacity_; }
  double expected_fpr() const { return words_.rate(k_); }
  memory_bits bits() const { return {words_.bits()}; }
  option_list settings() const { return {{"word", std::to_string(words_.width())}, {"k", std::to_string(k_)}}; }

  // Batches (batch/pipeline.hpp): the width is chosen once, and a probe is found, prefetched and tested in separate steps.
  template <unsigned W>
  struct view {
    struct probe {
      const std::uint32_t* block;
      std::uint64_t low;  // of the digest
    };

    TAMIS_INLINE probe locate(digest d) const { return {first + reduce(d.high, blocks) * (W / 32), d.low}; }
    TAMIS_INLINE void prefetch(const probe& p) const { prefetch_read(p.block); }
    TAMIS_INLINE bool test(const probe& p) const { return block_places({0, p.low}, k).template all_set<W>(p.block); }

    const std::uint32_t* first;
    std::uint64_t blocks;
    unsigned k;
  };
  template <class Use>
  void with_view(Use use) const {
    words_.with_width([&](auto width) { use(view<width>{words_.block<width>(0), words_.blocks(), k_}); });
  }
  template <class Use>
  void with_inserter(Use use) {
    words_.with_width([&](auto width) { use([this](digest d) { return insert_as<decltype(width)::value>(d); }); });
  }
  TAMIS_INLINE void prefetch_insert(digest d) const { words_.prefetch_for_write(words_.block_of(d)); }

  friend bool operator==(const bloom1&, const bloom1&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.capacity_, self.keys_, self.k_, self.words_);
  }
  status validate() const {
    if (k_ < 1 || k_ > most_bloom1_places) return error{"k is " + std::to_string(k_) + ", not 1 to 16"};
    return {};
  }

 private:
  template <unsigned W>
  TAMIS_INLINE insert_result insert_as(digest d) {
    block_places(d, k_).set<W>(words_.block<W>(words_.block_of(d)));
    ++keys_;
    return insert_result::inserted;
  }

  std::string shape() const {
    return std::to_string(words_.blocks()) + " words of " + std::to_string(words_.width()) + " bits, k = " + std::to_string(k_);
  }

  friend stored_access;
  bloom1() = default;

  std::uint64_t capacity_ = 0;
  std::uint64_t keys_ = 0;
  unsigned k_ = 0;
  block_words words_;
};

}  // namespace tamis::inline TAMIS_LEVEL
