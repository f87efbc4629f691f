#pragma once

// What all cuckoo filters share (Fan, Andersen, Kaminsky and Mitzenmacher, "Cuckoo filter: practically better than Bloom",
// CoNEXT 2014): a key is a fingerprint in one of two buckets of four slots, and either bucket can be computed from the other
// and the fingerprint, so that a fingerprint can be moved although its key is gone.
//
//   digest.high ──► first bucket ◄── fingerprint ──► second bucket
//        │          ┌────┬────┬────┬────┐            ┌────┬────┬────┬────┐
//        │          │ a7 │    │ 3c │    │            │ a7 │ 11 │ f0 │ 5e │       0 = empty
//        ▼          └────┴────┴────┴────┘            └────┴────┴────┴────┘
//   f other bits ──► fingerprint, 1 to 2^f - 1
//
// One word of the digest is enough for both, and a compiler that sees the hash leaves out the other one. Bucket and fingerprint
// are made side by side, neither waits for the other. In tables of more than 2^(64 - f) buckets they share bits; the rate says
// so.
//
// The filters differ only in where the two buckets are. That is their addressing:
//
//   static constexpr filter_info info
//   static std::uint64_t allowed(m)            the smallest number of buckets from m on that it can work with
//   addressing(m, f)
//   first(word) → bucket                       uniform
//   other_bits(word, count) → bits             `count` bits, at most 32, that `first` makes no use of
//   second(first, fingerprint) → bucket        for a bucket that `first` gave; never the same bucket
//   alternate(bucket, fingerprint) → bucket    for either bucket: the other one
//   visit, fits(m) → status                    saved, and checked when it is loaded
//
// If these are templates of their word, which may be eight words (detail/simd/u64x8.hpp), batches of lookups look for eight
// keys at once.

#include <algorithm>
#include <bit>
#include <string>
#include <type_traits>

#include "tamis/concepts.hpp"
#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/cuckoo/cuckoo_search.hpp"
#include "tamis/detail/hash/place.hpp"
#include "tamis/detail/io/archive.hpp"
#include "tamis/detail/math/cuckoo.hpp"
#include "tamis/detail/simd/bucket_compare_x8.hpp"
#include "tamis/detail/simd/short_reduce.hpp"
#include "tamis/detail/simd/u64x8.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

inline constexpr option_info cuckoo_option_table[] = {
    {"fingerprint", "4 to 32", "what fpr or bits per key need", "bits of a fingerprint"}};

// What the formulas of the addressings are made of, for one word and for eight (detail/simd/u64x8.hpp).

// A fingerprint's hash, for distances that are exclusive ors: one multiplication will do, if the constant is chosen so that the
// distances of short fingerprints are linearly independent: else they connect only a part of the table.
template <class Word>
TAMIS_INLINE constexpr Word xor_hash(Word fingerprint) {
  return multiply_short(fingerprint, 0x5bd1'e995);
}

// For distances that are added, any of the lower bits. Not linear in the fingerprint: with f·C instead, the sums and
// differences of additive addressing meet so often that tables of short fingerprints do not fill (f = 8: below 0.95). Of this
// one, H(f) - H(g) = (f - g)(2(f + g) + C), two differences are the same by chance only. With C odd it is a permutation of
// 2^k values for every k, so the distances of small tables are uniform as well (those of f² are not: seven of 32).
template <class Word>
TAMIS_INLINE constexpr Word additive_hash(Word fingerprint) {
  return multiply_short(fingerprint, fingerprint + fingerprint + 0x6a09'e667u);
}

template <class Addressing>
class cuckoo_filter {
 public:
  using options = fingerprint_options;
  static constexpr const filter_info& info = Addressing::info;

  static result<cuckoo_filter> create(const filter_params& params) {
    TAMIS_CHECK(check_params(info, params));
    TAMIS_TRY(const std::uint64_t width, number_option(params, "fingerprint", 0, least_slot_bits, most_slot_bits));
    bucket_wish wish{params.capacity, params.fpr, params.bits_per_key, std::nullopt};
    if (width != 0) wish.width = static_cast<unsigned>(width);
    TAMIS_TRY(const bucket_shape shape, cuckoo_shape(wish, Addressing::allowed));
    cuckoo_filter made;
    TAMIS_TRY(made.table_, buckets::make(shape.buckets, shape.width));
    made.addressing_ = Addressing(shape.buckets, shape.width);
    made.capacity_ = params.capacity;
    return made;
  }

  // `full` if both buckets are full and no chain of moves makes room; always so for a ninth key with the same two buckets and
  // the same fingerprint.
  [[nodiscard]] insert_result insert(digest d) {
    return table_.with_access(
        [](auto table, auto* self, auto high, auto low) {
          const updates<decltype(table)> change{{table, self->addressing_}, *self};
          return change.insert(change.locate({high, low}));
        },
        this, d.high, d.low);
  }

  TAMIS_INLINE bool may_contain(digest d) const {
    return table_.read(
        [](auto table, auto* self, auto high, auto low) {
          const view probes{table, self->addressing_};
          return probes.test(probes.locate({high, low}));
        },
        this, d.high, d.low);
  }

  // Widths as types: see `formatted`, detail/any/model.hpp. 0 is any but the usual ones.
  template <class Use, class Other>
  std::invoke_result_t<Other> with_format(Use use, Other /*all widths have a format*/) const {
    switch (table_.width()) {
      case 8: return use(std::integral_constant<unsigned, 8>());
      case 12: return use(std::integral_constant<unsigned, 12>());
      case 16: return use(std::integral_constant<unsigned, 16>());
      default: return use(std::integral_constant<unsigned, 0>());
    }
  }
  template <unsigned Width>
  TAMIS_INLINE bool may_contain_as(digest d) const {
    return table_.template read_as<Width>(
        [](auto table, auto* self, auto high, auto low) {
          const view probes{table, self->addressing_};
          return probes.test(probes.locate({high, low}));
        },
        this, d.high, d.low);
  }

  erase_result erase(digest d) {
    return table_.with_access(
        [](auto table, auto* self, auto high, auto low) {
          const updates<decltype(table)> change{{table, self->addressing_}, *self};
          return change.erase(change.locate({high, low}));
        },
        this, d.high, d.low);
  }

  // Equal fingerprints in the two buckets: the copies of the key and those of keys that look like it.
  std::uint64_t count(digest d) const {
    return table_.with_access([this, d](const auto& table) -> std::uint64_t {
      const view probes{table, addressing_};
      const auto at = probes.locate(d);
      return popcount(probes.pair(at).equal(at.fingerprint));
    });
  }

  // Without keys, of the same shape.
  result<cuckoo_filter> emptied() const {
    cuckoo_filter made;
    TAMIS_TRY(made.table_, buckets::make(table_.count(), table_.width()));
    made.addressing_ = addressing_;
    made.capacity_ = capacity_;
    return made;
  }

  std::uint64_t keys() const { return keys_; }  // each occupies one slot
  std::uint64_t capacity() const { return capacity_; }
  double expected_fpr() const {
    return cuckoo_rate(static_cast<double>(table_.count()), table_.width(), static_cast<double>(keys_));
  }
  memory_bits bits() const { return {table_.bits()}; }
  option_list settings() const { return {{"fingerprint", std::to_string(table_.width())}}; }

  std::uint64_t slots() const { return table_.slots(); }

  // Batches (batch.hpp): the width is chosen once, and a probe is found, prefetched and tested in separate steps.
  template <class Word>
  struct probe_of {
    Word first;
    Word second;
    Word fingerprint;
  };
  using probe = probe_of<std::uint64_t>;

  template <class Table>
  struct view {
    template <class Word>
    TAMIS_INLINE probe_of<Word> locate_word(Word word) const {
      const Word bucket = addressing.first(word);
      const Word fingerprint = fingerprint_of(word);
      return {bucket, addressing.second(bucket, fingerprint), fingerprint};
    }
    // Not 0, which means empty. Of f bits 0 becomes 1; with short ones, 1 would be twice as frequent as others by too much, and
    // they are made uniform by a multiplication.
    template <class Word>
    TAMIS_INLINE Word fingerprint_of(Word word) const {
      const unsigned width = table.lanes().width();
      if constexpr (Table::lanes_type::fixed_width == dynamic_width) {
        if (width < least_remapped_width) return 1 + (addressing.other_bits(word, 24) * table.lanes().slot_mask() >> 24);
      }
      return at_least_one(addressing.other_bits(word, width));
    }
    TAMIS_INLINE probe locate(digest d) const { return locate_word(d.high); }
    TAMIS_INLINE void prefetch(const probe& p) const {
      table.prefetch(p.first);
      table.prefetch(p.second);
    }
    TAMIS_INLINE bucket_pair<Table> pair(const probe& p) const { return {table, p.first, p.second}; }
    // No branch after the first bucket: it would be mispredicted for half of the keys that are in.
    TAMIS_INLINE bool test(const probe& p) const { return pair(p).any_equal(p.fingerprint); }

    // The same for eight keys, without prefetching, where there are vectors of them.
    static constexpr bool has_eights =
        has_bucket_compare_x8<Table::lanes_type::fixed_width> && requires(const Addressing& places, u64x8 words) {
      places.second(places.first(words), places.other_bits(words, 1));
    };
    TAMIS_INLINE probe_of<u64x8> locate(u64x8 words) const requires has_eights { return locate_word(words); }
    TAMIS_INLINE unsigned test(const probe_of<u64x8>& p) const requires has_eights {
      return bucket_compare_x8<Table::lanes_type::fixed_width>(table.first_byte(0), p.first, p.second).any_equal(p.fingerprint);
    }
    TAMIS_INLINE bool eights_pay() const { return is_near; }

    Table table;
    const Addressing& addressing;
    bool is_near = false;  // the table is so small that nothing has to be asked for ahead
  };
  template <class Table, class... More>
  view(Table, More...) -> view<Table>;

  template <class Use>
  void with_view(Use use) const {
    table_.with_access([&](const auto& table) { use(view{table, addressing_, !is_far()}); });
  }

  // The same for batches of inserts and erases.
  template <class Table>
  struct updates : view<Table> {
    TAMIS_INLINE insert_result insert(const probe& p) const {
      const unsigned empty = this->pair(p).empty();
      if (empty != 0) {
        flip(p, slot_of_emptier_bucket[empty]);
      } else {
        const slot_place place = cuckoo_make_room(
            this->table, p.first, p.second,
            [&places = self.addressing_](auto bucket, auto fingerprint) { return places.alternate(bucket, fingerprint); });
        if (!place.exists) return insert_result::full;
        this->table.set(place.bucket, place.offset, p.fingerprint);
      }
      ++self.keys_;
      return insert_result::inserted;
    }
    // If both buckets are full, the search will read where their fingerprints can go.
    TAMIS_INLINE void prefetch_more(const probe& p) const {
      if (!self.searches_wait() || this->pair(p).empty() != 0) return;
      for (const std::uint64_t bucket : {p.first, p.second}) {
        const auto slots = this->table.load(bucket);
        for (unsigned slot = 0; slot < slots_per_bucket; ++slot) {
          const std::uint64_t fingerprint = this->table.lanes().get(slots, slot * this->table.lanes().width());
          this->table.prefetch(this->addressing.alternate(bucket, fingerprint));
        }
      }
    }
    TAMIS_INLINE erase_result erase(const probe& p) const {
      const unsigned marks = this->pair(p).marks(p.fingerprint);
      if (marks == 0) return erase_result::absent;
      flip(p, static_cast<unsigned>(std::countr_zero(marks)) / bucket_pair<Table>::marks_per_slot);
      --self.keys_;
      return erase_result::erased;
    }

    // Slot 0 to 7 of the pair, which is empty or holds the fingerprint.
    TAMIS_INLINE void flip(const probe& p, unsigned slot) const {
      // A choice, not a branch to two copies of the rest: it would be mispredicted for half of the keys.
      const std::uint64_t bucket = in_register(slot < slots_per_bucket ? p.first : p.second);
      this->table.flip(bucket, slot % slots_per_bucket * this->table.lanes().width(), p.fingerprint);
    }

    cuckoo_filter& self;
  };

  template <class Use>
  void with_updates(Use use) {
    table_.with_access([&](auto table) { use(updates<decltype(table)>{{table, addressing_}, *this}); });
  }

  friend bool operator==(const cuckoo_filter&, const cuckoo_filter&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.capacity_, self.keys_, self.addressing_, self.table_);
  }
  // A slot of any content is empty or a fingerprint, which has its other bucket in the table.
  static constexpr bool accepts_any_table = true;
  status validate_fields() const { return addressing_.fits(table_.count()); }
  status validate() const {
    TAMIS_CHECK(validate_fields());
    if (const std::uint64_t occupied = table_.occupied(); is_wrong(occupied != keys_)) {
      return failure{std::to_string(occupied) + " slots are occupied, but there are " + std::to_string(keys_) + " keys"};
    }
    return {};
  }

 private:
  // Searches are frequent, and what they read is far away: only then does looking ahead for them pay.
  TAMIS_INLINE bool searches_wait() const { return keys_ > table_.slots() / 4 * 3 && is_far(); }
  TAMIS_INLINE bool is_far() const { return table_.bits() > far_bits; }
  static constexpr std::uint64_t far_bits = std::uint64_t{8} << 22;  // 4 MiB

  friend stored_access;
  cuckoo_filter() = default;

  std::uint64_t capacity_ = 0;
  std::uint64_t keys_ = 0;
  Addressing addressing_;
  buckets table_;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
