#pragma once

// The d-left counting Bloom filter (Bonomi, Mitzenmacher, Panigrahy, Singh and Varghese, "An improved construction for counting
// Bloom filters", ESA 2006; a baseline of the ASCF paper): d = 4 sub-tables, and a key is one cell in one of its four buckets.
//
//   sub-table 0      1         2         3          a bucket: 8 cells of a remainder and a 2-bit counter
//   ┌─────────┬─────────┬─────────┬─────────┐       ┌──────┬─┬──────┬─┬─ … ─┬──────┬─┐
//   │   b0    │    b1   │ b2      │      b3 │       │  r   │2│  r'  │1│     │  0   │0│      0 = empty
//   └─────────┴─────────┴─────────┴─────────┘       └──────┴─┴──────┴─┴─ … ─┴──────┴─┘
//
// Where the places come from matters for deletes: (b0, r), …, (b3, r) are four permutations of *one* hash value, b_i = b +
// H_i(r), so two keys that share a cell in one sub-table share their cells in all of them, and a delete cannot hit another
// key's cell. An insert raises the counter of a cell with its remainder (a full counter means another cell), or takes a cell of
// the emptiest bucket, the leftmost of equals.

#include <array>
#include <string>

#include "tamis/concepts.hpp"
#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/base/random.hpp"
#include "tamis/detail/cuckoo/buckets.hpp"
#include "tamis/detail/hash/place.hpp"
#include "tamis/detail/io/archive.hpp"
#include "tamis/detail/math/cuckoo.hpp"

namespace tamis::inline TAMIS_LEVEL {

class dleft {
 public:
  using options = fingerprint_options;
  static constexpr unsigned subtables = 4;
  static constexpr unsigned counter_bits = 2;
  static constexpr std::uint64_t top_count = 3;
  static constexpr unsigned least_remainder_bits = 6;
  static constexpr unsigned most_remainder_bits = detail::most_slot_bits - counter_bits;

  static constexpr option_info option_table[] = {
      {"fingerprint", "6 to 30", "what fpr or bits per key need", "bits of a remainder"}};
  static constexpr filter_info info{
      .id = "dleft",
      .summary = "d-left counting Bloom filter: remainders with counters in one of four buckets",
      .paper =
          "Bonomi, Mitzenmacher, Panigrahy, Singh, Varghese: An improved construction for counting Bloom filters (ESA 2006)",
      .options = option_table,
  };

  static result<dleft> create(const filter_params& params) {
    TAMIS_CHECK(check_params(info, params));
    TAMIS_TRY(const std::uint64_t width, number_option(params, "fingerprint", 0, least_remainder_bits, most_remainder_bits));
    detail::bucket_wish wish{params.capacity, params.fpr, params.bits_per_key, std::nullopt};
    if (width != 0) wish.width = static_cast<unsigned>(width);
    TAMIS_TRY(const detail::bucket_shape shape, detail::dleft_shape(wish));
    dleft made;
    TAMIS_TRY(made.table_, detail::buckets::make(shape.buckets * table_buckets, shape.width + counter_bits));
    made.buckets_ = shape.buckets;
    made.capacity_ = params.capacity;
    return made;
  }

  [[nodiscard]] insert_result insert(digest d) {
    return table_.with_access([&](const auto& table) {
      const key_places key = places(d);
      detail::slot_place place = find_raisable(table, key);
      if (place.exists) {
        table.set(place.bucket, place.offset, table.get(place.bucket, place.offset) + 1);
      } else if (place = find_emptiest(table, key); place.exists) {
        table.set(place.bucket, place.offset, key.remainder << counter_bits | 1);
        ++cells_;
      } else {
        return insert_result::full;
      }
      ++keys_;
      return insert_result::inserted;
    });
  }

  bool may_contain(digest d) const {
    return table_.with_access(
        [&](const auto& table) { return any_cell(table, places(d), [](detail::slot_place, std::uint64_t) { return true; }); });
  }

  erase_result erase(digest d) {
    return table_.with_access([&](const auto& table) {
      const bool found = any_cell(table, places(d), [&](detail::slot_place place, std::uint64_t cell) {
        const bool last = (cell & top_count) == 1;
        table.set(place.bucket, place.offset, last ? 0 : cell - 1);
        cells_ -= last;
        return true;
      });
      keys_ -= found;
      return found ? erase_result::erased : erase_result::absent;
    });
  }

  std::uint64_t count(digest d) const {
    return table_.with_access([&](const auto& table) {
      std::uint64_t sum = 0;
      any_cell(table, places(d), [&](detail::slot_place, std::uint64_t cell) {
        sum += cell & top_count;
        return false;
      });
      return sum;
    });
  }

  // Without keys, of the same shape.
  result<dleft> emptied() const {
    dleft made;
    TAMIS_TRY(made.table_, detail::buckets::make(table_.count(), table_.width()));
    made.buckets_ = buckets_;
    made.capacity_ = capacity_;
    return made;
  }

  std::uint64_t keys() const { return keys_; }
  std::uint64_t capacity() const { return capacity_; }
  double expected_fpr() const {
    return detail::dleft_rate(static_cast<double>(buckets_), remainder_bits(), static_cast<double>(cells_));
  }
  memory_bits bits() const { return {table_.bits()}; }
  option_list settings() const { return {{"fingerprint", std::to_string(remainder_bits())}}; }

  TAMIS_INLINE void prefetch(digest d) const {
    for (const std::uint64_t bucket : places(d).bucket) table_.prefetch(bucket);
  }

  friend bool operator==(const dleft&, const dleft&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.capacity_, self.keys_, self.cells_, self.buckets_, self.table_);
  }
  status validate() const {
    if (detail::is_wrong(table_.count() % table_buckets != 0) || detail::is_wrong(table_.count() / table_buckets != buckets_) ||
        detail::is_wrong(table_.width() < least_remainder_bits + counter_bits)) {
      return failure{"the table does not fit 4 x " + std::to_string(buckets_) + " buckets"};
    }
    std::uint64_t keys = 0;
    std::uint64_t cells = 0;
    const bool sound = table_.with_access([&](const auto& table) {
      const auto& lanes = table.lanes();
      const auto low = lanes.repeat(1);
      const auto high = lanes.repeat(2);
      bool all = true;
      for (std::uint64_t bucket = 0; bucket < table_.count(); ++bucket) {
        const auto four = table.load(bucket);
        const auto empty = lanes.empty(four);
        all &= !detail::is_wrong(empty != lanes.empty(four & (low | high))) &&
               !detail::is_wrong(empty != lanes.empty(four & ~(low | high)));
        cells += detail::slots_per_bucket - lanes.how_many(empty);
        keys += lanes.how_many(four & low) + std::uint64_t{2} * lanes.how_many(four & high);
      }
      return all;
    });
    if (!sound) return failure{"a cell has a counter without a remainder, or a remainder without a counter"};
    if (detail::is_wrong(keys != keys_) || detail::is_wrong(cells != cells_))
      return failure{"the counters add up to " + std::to_string(keys) + ", not to its keys"};
    return {};
  }

 private:
  // A bucket of eight cells is two neighbours of the table of four-slot buckets.
  static constexpr unsigned halves = 2;
  static constexpr unsigned table_buckets = subtables * halves;

  struct key_places {
    std::array<std::uint64_t, subtables> bucket;  // first halves, in the whole table
    std::uint64_t remainder;
  };

  unsigned remainder_bits() const { return table_.width() - counter_bits; }

  TAMIS_INLINE key_places places(digest d) const {
    key_places key{};
    key.remainder = 1 + detail::reduce(d.low, (std::uint64_t{1} << remainder_bits()) - 1);
    const std::uint64_t base = detail::reduce(d.high, buckets_);
    for (unsigned i = 0; i < subtables; ++i) {
      const std::uint64_t sum = base + detail::reduce(detail::mix64(key.remainder * subtables + i), buckets_);
      key.bucket[i] = (i * buckets_ + (sum < buckets_ ? sum : sum - buckets_)) * halves;
    }
    return key;
  }

  // Calls `use(place, cell)` for the cells with the key's remainder until it says true; false if it never does.
  template <class Table, class Use>
  TAMIS_INLINE static bool any_cell(const Table& table, const key_places& key, Use use) {
    const auto& lanes = table.lanes();
    const auto pattern = lanes.repeat(key.remainder << counter_bits);
    for (const std::uint64_t bucket : key.bucket) {
      for (unsigned half = 0; half < halves; ++half) {
        auto same = lanes.equal(table.load(bucket + half), pattern, lanes.repeat(top_count));
        for (; same != 0; same &= same - 1) {
          const detail::slot_place place{bucket + half, lanes.first(same), true};
          if (use(place, table.get(place.bucket, place.offset))) return true;
        }
      }
    }
    return false;
  }

  template <class Table>
  static detail::slot_place find_raisable(const Table& table, const key_places& key) {
    detail::slot_place place{0, 0, false};
    any_cell(table, key, [&](detail::slot_place found, std::uint64_t cell) {
      if ((cell & top_count) != top_count) place = found;
      return place.exists;
    });
    return place;
  }

  template <class Table>
  static detail::slot_place find_emptiest(const Table& table, const key_places& key) {
    const auto& lanes = table.lanes();
    unsigned most_empty = 0;
    detail::slot_place place{0, 0, false};
    for (const std::uint64_t bucket : key.bucket) {
      const auto low = lanes.empty(table.load(bucket));
      const auto high = lanes.empty(table.load(bucket + 1));
      const unsigned empty = lanes.how_many(low) + lanes.how_many(high);
      if (empty <= most_empty) continue;
      most_empty = empty;
      place = {bucket + (low == 0), lanes.first(low != 0 ? low : high), true};
    }
    return place;
  }

  friend detail::stored_access;
  dleft() = default;

  std::uint64_t capacity_ = 0;
  std::uint64_t keys_ = 0;
  std::uint64_t cells_ = 0;    // occupied ones
  std::uint64_t buckets_ = 0;  // of one sub-table
  detail::buckets table_;
};

}  // namespace tamis::inline TAMIS_LEVEL
