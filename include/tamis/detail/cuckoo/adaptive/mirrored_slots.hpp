#pragma once

// The table of the adaptive cuckoo filters: k tables of N bins of b slots, packed, and beside it the digest of the key in every
// slot.
//
//   table 0                     table 1                           table k - 1
//   │ bin 0 │ bin 1 │ … │ N-1 │ │ bin 0 │ bin 1 │ …      …       │ bin 0 │ … │ N-1 │       place = table · N + bin
//     └ b slots of s + f bits:  │ selector │ fingerprint, 1 to 2^f - 1 │      0 = empty
//
// A key has one bin in every table, by k independent hashes, so a key can be moved only by whoever knows its digest. Which of
// its fingerprints a key has in a slot is the filter's choice:
//
//   struct numbering { static constexpr unsigned number(unsigned offset, std::uint64_t selector); }     0 to 15
//
// The mirror's notes say which tables a key has left because it collided there: bit t for table t. Chains of moves do not take
// it back as long as there is another way; else the slot that it left, which is empty now, would be the next chain's nearest
// end.
//
// Labels, if there are any, lead searches for room (detail/cuckoo/adaptive/guided_search.hpp). They stand in RAM wherever the
// mirror is.
//
// New hashes are the next 128 bits of every digest's endless stream: `generation` counts how often.

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/bits/packed_array.hpp"
#include "tamis/detail/cuckoo/adaptive/acf_probe.hpp"
#include "tamis/detail/cuckoo/adaptive/distance_hints.hpp"
#include "tamis/detail/cuckoo/adaptive/guided_search.hpp"
#include "tamis/detail/cuckoo/adaptive/slot_fingerprints.hpp"
#include "tamis/detail/cuckoo/adaptive/undo_log.hpp"
#include "tamis/detail/cuckoo/room_search.hpp"
#include "tamis/detail/hash/bit_stream.hpp"
#include "tamis/detail/hash/derived_words.hpp"
#include "tamis/detail/hash/place.hpp"
#include "tamis/detail/math/acf.hpp"
#include "tamis/detail/remote/slot_mirror.hpp"
#include "tamis/detail/simd/gather4.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

template <class Numbering>
class mirrored_slots {
  static constexpr bool by_offset = Numbering::number(1, 0) != 0;  // otherwise by selector, or always the same

 public:
  mirrored_slots() = default;

  static result<mirrored_slots> make(const acf_shape& shape, mirror_place where, bool labelled) {
    const auto places = checked_multiply(shape.bins, shape.k);
    const auto slots = places ? checked_multiply(*places, shape.b) : places;
    if (!slots) return failure{"a table of 2^64 slots or more cannot be addressed"};
    mirrored_slots made;
    made.shape_ = shape;
    TAMIS_TRY(made.values_, packed_array<dynamic_width>::make(*slots, shape.fingerprint + shape.selector));
    TAMIS_TRY(made.mirror_, slot_mirror::make(*slots, where));
    if (labelled) {
      TAMIS_TRY(made.labels_, distance_hints::make(*places));
    }
    made.prepare();
    return made;
  }
  // As many slots, without keys.
  result<mirrored_slots> emptied() const { return make(shape_, mirror_.place(), labels_.any()); }
  // For slots that were read from a file.
  status make_labels() {
    TAMIS_TRY(labels_, distance_hints::make(shape_.bins * shape_.k));
    for (std::uint64_t place = 0; place < shape_.bins * shape_.k; ++place) labels_.set(place, empty_offset(place) ? 0 : 1);
    return {};
  }

  const acf_shape& shape() const { return shape_; }
  std::uint64_t slots() const { return values_.size(); }
  std::uint64_t fast_bits() const { return values_.bits(); }
  std::uint64_t slow_bits() const { return mirror_.bits() + labels_.bits(); }
  mirror_place where() const { return mirror_.place(); }
  std::uint32_t generation() const { return generation_; }

  // ── where a key is ──

  // The 128 bits that the hashes of this generation are made of.
  TAMIS_INLINE digest words(digest d) const { return words_of(d, generation_); }
  TAMIS_INLINE static std::uint64_t place(digest words, unsigned table, std::uint64_t bins) {
    const digest four = table < 4 ? words : digest{key_word(words, 2), key_word(words, 3)};
    const std::uint32_t quarter = quarter_of(four, table % 4);
    if (bins <= most_places_by_quarter) return table * bins + reduce_short(32, quarter, bins);
    const std::uint64_t more = half_of(key_word(words, 4 + table / 2), table % 2);
    return table * bins + reduce(std::uint64_t{quarter} << 32 | more, bins);
  }
  TAMIS_INLINE std::uint64_t place(digest words, unsigned table) const { return place(words, table, shape_.bins); }
  TAMIS_INLINE std::uint64_t fingerprint(digest words, unsigned number) const { return fingerprints_(words, number); }
  unsigned table_of(std::uint64_t place) const { return static_cast<unsigned>(place / shape_.bins); }

  // ── one slot ──

  TAMIS_INLINE bool is_empty(slot_at at) const { return values_.get(index(at)) == 0; }
  std::uint64_t selector(slot_at at) const { return values_.get(index(at)) >> shape_.fingerprint; }
  digest key(slot_at at) const { return mirror_[index(at)]; }
  unsigned left(slot_at at) const { return mirror_.note(index(at)); }

  TAMIS_INLINE bool matches(digest words, slot_at at) const {
    const std::uint64_t value = values_.get(index(at));
    const unsigned number = Numbering::number(at.slot, value >> shape_.fingerprint);
    return value != 0 && (value & low_mask(fingerprints_.bits)) == fingerprint(words, number);
  }

  void write(slot_at at, digest d, std::uint64_t selector = 0, unsigned left = 0) {
    const std::uint64_t slot = index(at);
    values_.set(slot, selector << shape_.fingerprint | fingerprint(words(d), Numbering::number(at.slot, selector)));
    mirror_.set(slot, d, static_cast<std::uint8_t>(left));
    if (labels_.any() && shape_.b == 1 && labels_[at.place] == 0) labels_.set(at.place, 1);
  }
  void clear(slot_at at) {
    values_.set(index(at), 0);
    mirror_.set(index(at), {});
    if (labels_.any()) labels_.set(at.place, 0);
  }
  void remember(slot_at at, undo_log& log) const {
    const std::uint64_t slot = index(at);
    const std::uint64_t value = values_.get(slot);
    if (value == 0) return log.add({slot, 0, {}, 0});  // without waiting for the mirror, which says the same
    log.add({slot, value, mirror_[slot], mirror_.note(slot)});
  }
  void take_back(const undo_log& log) {
    for (std::uint64_t i = log.size(); i-- != 0;) {
      const undo_log::entry& was = log[i];
      values_.set(was.slot, was.value);
      mirror_.set(was.slot, was.key, was.left);
      if (labels_.any()) labels_.set(was.slot / shape_.b, was.value == 0 ? 0 : 1);
    }
  }

  TAMIS_INLINE std::optional<unsigned> empty_offset(std::uint64_t place) const {
    for (unsigned offset = 0; offset < shape_.b; ++offset) {
      if (is_empty({place, offset})) return offset;
    }
    return std::nullopt;
  }

  // ── lookups ──

  // Of any shape, slot by slot. Fingerprints by offset are made before the slots are read.
  struct any_view {
    struct probe {
      digest words;
      std::array<std::uint64_t, most_acf_tables> places;
      std::array<std::uint64_t, most_acf_slots> values;
    };
    const mirrored_slots& table;

    TAMIS_INLINE unsigned k() const { return table.shape_.k; }
    TAMIS_INLINE unsigned b() const { return table.shape_.b; }

    TAMIS_INLINE probe locate(digest d) const {
      probe p;
      p.words = table.words(d);
      for (unsigned t = 0; t < k(); ++t) p.places[t] = table.place(p.words, t);
      for (unsigned n = 0; n < b() && by_offset; ++n) p.values[n] = table.fingerprint(p.words, n);
      return p;
    }
    TAMIS_INLINE void prefetch(const probe& p) const {
      for (unsigned t = 0; t < k(); ++t) table.values_.prefetch(p.places[t] * b());
    }
    // No branch between the slots: it would be mispredicted for most of the keys that are in.
    TAMIS_INLINE bool test(const probe& p) const { return matching(p) != 0; }
    // Which slots of the key match: bit t·b + offset.
    TAMIS_INLINE std::uint64_t matching(const probe& p) const {
      std::uint64_t found = 0;
      for (unsigned t = 0; t < k(); ++t) {
        for (unsigned offset = 0; offset < b(); ++offset) {
          const slot_at at{p.places[t], offset};
          const bool same = by_offset ? table.values_.get(table.index(at)) == p.values[offset] : table.matches(p.words, at);
          found |= std::uint64_t{same} << (t * b() + offset);
        }
      }
      return found;
    }
    TAMIS_INLINE slot_at slot(const probe& p, unsigned bit) const { return {p.places[bit / b()], bit % b()}; }
  };

  // The view of the table that is best for its shape.
  template <class Use>
  TAMIS_INLINE auto with_view(Use use) const {
    return with_probe(constants_.way, generation_, use, [&] { return use(any_view{*this}); });
  }

  TAMIS_INLINE bool may_contain(digest d) const {
    const auto ask = [d](const auto& v) { return v.test(v.locate(d)); };
    return with_probe(first_way_, 0, ask, [&] { return may_contain_slowly(d); });
  }
  TAMIS_INLINE void prefetch(digest d) const {
    with_view([d](const auto& v) { v.prefetch(v.locate(d)); });
  }

  // The first slot among those of the key for which this holds.
  template <class Wanted>
  TAMIS_INLINE std::optional<slot_at> find(digest words, Wanted wanted) const {
    return with_shape([&](auto shape) -> std::optional<slot_at> {
      for (unsigned table = 0; table < shape.k; ++table) {
        const std::uint64_t at = place(words, table);
        for (unsigned offset = 0; offset < shape.b; ++offset) {
          if (wanted(slot_at{at, offset})) return slot_at{at, offset};
        }
      }
      return std::nullopt;
    });
  }
  std::optional<slot_at> find_key(digest d) const {
    const digest w = words(d);
    return find(w, [&](slot_at at) { return matches(w, at) && key(at) == d; });
  }

  // ── updates ──

  // False, and nothing changed, if no chain of moves makes room.
  bool insert(digest d) {
    const digest w = words(d);
    std::array<std::uint64_t, most_acf_tables> roots;
    for (unsigned table = 0; table < shape_.k; ++table) {
      roots[table] = place(w, table);
      if (const auto offset = empty_offset(roots[table])) {
        write({roots[table], *offset}, d);
        return true;
      }
    }
    const auto room = make_room(std::span(roots).first(shape_.k), nowhere, nullptr);
    if (room) write(*room, d);
    return room.has_value();
  }

  // Frees a slot of one of these places by moving keys on, never into the place `avoided`; the caller overwrites it. None if
  // there is no way to, or none among as many bins as searches look at.
  TAMIS_NOINLINE std::optional<slot_at> make_room(std::span<const std::uint64_t> roots, std::uint64_t avoided, undo_log* log) {
    return with_shape([&](auto shape) -> std::optional<slot_at> {
      movable<decltype(shape)> movers(shape, *this, log);
      if constexpr (Numbering::has_path) {
        guided_search search;  // its 3 KiB stay uninitialised
        const auto at = labels_.any() ? search.make_room(movers, roots, avoided) : std::nullopt;
        if (at) return at;
      }
      room_search<decltype(movers)> search;  // and its 66 KiB
      const auto at = search.make_room(movers, roots, avoided);
      if (at) return at;
      movers.anywhere = true;
      return search.make_room(movers, roots, avoided);
    });
  }

  // Where the key could be, in every table.
  template <class Shape, class Visit>
  TAMIS_INLINE static void for_each_place(Shape shape, std::uint64_t bins, digest words, Visit visit) {
    for (unsigned table = 0; table < shape.k; ++table) visit(table, place(words, table, bins));
  }

  // What searches see of the table. Its pointers are copies, which the compiler keeps in registers.
  template <class Shape>
  class movable {
   public:
    // At a load of 0.95 with k = 4, b = 1 a search needs about 90 places, and the keys of 30.
    static constexpr unsigned most_visits = 4000;
    static constexpr unsigned seen_bits = 16384;
    static constexpr bool looks_in_turn = false;  // values are small and near, the keys are not

    bool anywhere = false;  // also by moves into tables that a key has left

    movable(Shape shape, mirrored_slots& table, undo_log* log)
        : shape_(shape),
          bins_(table.shape_.bins),
          generation_(table.generation_),
          keys_(table.mirror_.all()),
          labels_(table.labels_.all()),
          table_(table),
          log_(log) {}

    TAMIS_INLINE unsigned k() const { return shape_.k; }
    TAMIS_INLINE unsigned b() const { return shape_.b; }
    TAMIS_INLINE bool is_empty(slot_at at) const { return table_.values_.get(index(at)) == 0; }
    TAMIS_INLINE std::optional<unsigned> empty_slot(std::uint64_t place) const {
      for (unsigned offset = 0; offset < shape_.b; ++offset) {
        if (is_empty({place, offset})) return offset;
      }
      return std::nullopt;
    }
    TAMIS_INLINE void prefetch(std::uint64_t place) const { keys_.prefetch(place * shape_.b); }

    // Every place of the key of a slot of table `own`, and those where the key may go, by their labels: not where it is, and
    // not in tables that it has left.
    TAMIS_INLINE labelled_ways ways(slot_at at, unsigned own, std::uint64_t* places) const {
      const unsigned open = ~(keys_.note(index(at)) | 1u << own);
      if constexpr (std::is_same_v<Shape, usual_shape>) {
        if (bins_ <= most_places_by_quarter) {
          const gather4 all(words(at), four_tables(bins_));
          all.copy_to(places);
          const four_values labels = all.read(labels_.data(), packed_values(2));
          const unsigned odd = labels.with_bit<0>() & open;
          const unsigned high = labels.with_bit<1>() & open;
          return {~(odd | high) & open & 0xf, odd & ~high, high & ~odd, odd & high};
        }
      }
      labelled_ways found{};
      mirrored_slots::for_each_place(shape_, bins_, words(at), [&](unsigned t, std::uint64_t place) {
        places[t] = place;
        found[labels_[place]] |= std::uint64_t{open >> t & 1} << t;
      });
      return found;
    }
    // Where else the keys of the bin could be.
    template <class Visit>
    TAMIS_INLINE void for_each_move(std::uint64_t place, Visit visit) const {
      for (unsigned offset = 0; offset < shape_.b; ++offset) {
        const slot_at at{place, offset};
        const unsigned closed = anywhere ? 0 : keys_.note(index(at));
        mirrored_slots::for_each_place(shape_, bins_, words(at), [&](unsigned t, std::uint64_t other) {
          if (other != place && (closed >> t & 1) == 0) visit(other, offset);
        });
      }
    }

    void move(slot_at from, slot_at to) {
      if (log_ != nullptr) table_.remember(to, *log_);
      table_.write(to, keys_[index(from)], 0, keys_.note(index(from)));
      if (table_.labels_.any() && shape_.b == 1) relabel(to.place);
    }
    TAMIS_INLINE unsigned label(std::uint64_t place) const { return labels_[place]; }
    TAMIS_INLINE void set_label(std::uint64_t place, unsigned label) { labels_.set(place, label); }

   private:
    TAMIS_INLINE std::uint64_t index(slot_at at) const { return at.place * shape_.b + at.slot; }
    TAMIS_INLINE digest words(slot_at at) const { return words_of(keys_[index(at)], generation_); }
    // One move more than from the nearest of the bins where its key could be.
    void relabel(std::uint64_t place) {
      std::array<std::uint64_t, most_acf_tables> places;
      set_label(place, guided_search::label_before(ways({place, 0}, table_.table_of(place), places.data())));
    }

    Shape shape_;
    std::uint64_t bins_;
    std::uint32_t generation_;
    slot_mirror::view keys_;
    distance_hints::view labels_;
    mirrored_slots& table_;
    undo_log* log_;  // of the adaptation that the moves belong to, or nullptr
  };

  // All keys, and one more, by new hashes in a table of the same size. Nothing if some tries do not find a place for every key.
  std::optional<mirrored_slots> rebuilt(digest added) const {
    constexpr std::uint32_t tries = 8;
    for (std::uint32_t next = 1; next <= tries; ++next) {
      auto fresh = emptied();
      if (!fresh) return std::nullopt;
      fresh->generation_ = generation_ + next;
      fresh->prepare();
      if (fresh->insert_all(*this) && fresh->insert(added)) return *std::move(fresh);
    }
    return std::nullopt;
  }

  std::uint64_t occupied() const {
    std::uint64_t count = 0;
    for (std::uint64_t slot = 0; slot < slots(); ++slot) count += values_.get(slot) != 0;
    return count;
  }

  friend bool operator==(const mirrored_slots& a, const mirrored_slots& b) {
    return a.shape_ == b.shape_ && a.generation_ == b.generation_ && a.values_ == b.values_ && a.mirror_ == b.mirror_;
  }

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.shape_.k, self.shape_.b, self.shape_.fingerprint, self.shape_.selector, self.shape_.bins, self.generation_,
            self.values_, self.mirror_);
    if constexpr (!std::is_const_v<Self>) {
      if (self.validate_shape()) self.prepare();
    }
  }
  // The fields agree, and so do the two memories: every key stands in one of its bins, with its own fingerprint.
  status validate() const {
    TAMIS_CHECK(validate_shape());
    for (std::uint64_t place = 0; place < shape_.bins * shape_.k; ++place) {
      for (unsigned offset = 0; offset < shape_.b; ++offset) {
        if (!is_wrong(!agree({place, offset}))) continue;
        return failure{"slot " + std::to_string(index({place, offset})) + " of " + std::to_string(slots()) +
                       ": the filter and its mirror disagree"};
      }
    }
    return {};
  }

 private:
  TAMIS_INLINE std::uint64_t index(slot_at at) const { return at.place * shape_.b + at.slot; }

  void prepare() {
    fingerprints_ = slot_fingerprints::of(shape_);
    constants_ = probe_constants::of(shape_, by_offset);
    first_way_ = generation_ == 0 ? constants_.way : probe_kind::none;
  }
  template <class Use, class Otherwise>
  TAMIS_INLINE auto with_probe(probe_kind way, std::uint32_t generation, Use use, Otherwise otherwise) const {
    if constexpr (by_offset) {
      if (way == probe_kind::bins_of_four) return use(bin_probe{constants_, values_.data(), generation});
    } else if constexpr (Numbering::has_selector) {
      if (way == probe_kind::two_values) return use(slot_probe<2>{constants_, values_.data(), generation});
      if (way == probe_kind::four_values) return use(slot_probe<4>{constants_, values_.data(), generation});
    } else {
      if (way == probe_kind::one_value) return use(slot_probe<1>{constants_, values_.data(), generation});
      if (way == probe_kind::one_long_value) return use(slot_probe<1, 32>{constants_, values_.data(), generation});
    }
    return otherwise();
  }
  // Apart, so that the compiler keeps what a probe needs in registers.
  TAMIS_NOINLINE bool may_contain_slowly(digest d) const {
    return with_view([d](const auto& v) { return v.test(v.locate(d)); });
  }

  // The shape as constants where it is the usual one.
  struct usual_shape {
    static constexpr unsigned k = 4;
    static constexpr unsigned b = 1;
  };
  template <class Use>
  TAMIS_INLINE auto with_shape(Use use) const {
    if (shape_.k == usual_shape::k && shape_.b == usual_shape::b) return use(usual_shape());
    return use(shape_);
  }

  bool insert_all(const mirrored_slots& other) {
    for (std::uint64_t slot = 0; slot < other.slots(); ++slot) {
      if (other.values_.get(slot) != 0 && !insert(other.mirror_[slot])) return false;
    }
    return true;
  }

  bool agree(slot_at at) const {
    const digest d = key(at);
    if (is_empty(at)) return d == digest{} && left(at) == 0;
    if (left(at) >> shape_.k != 0) return false;
    const digest w = words(d);
    return place(w, table_of(at.place)) == at.place && matches(w, at);
  }

  status validate_shape() const {
    const auto outside = [](std::uint64_t value, std::uint64_t least, std::uint64_t most) {
      return value < least || value > most;
    };
    const auto bad = [](const char* what, std::uint64_t value) {
      return failure{"a table with " + std::to_string(value) + " " + what + " is not possible"};
    };
    if (is_wrong(outside(shape_.k, least_acf_tables, most_acf_tables))) return bad("places of a key", shape_.k);
    if (is_wrong(outside(shape_.b, 1, most_acf_slots))) return bad("slots in a bin", shape_.b);
    if (is_wrong(outside(shape_.fingerprint, least_acf_fingerprint, most_acf_fingerprint))) {
      return bad("bits of a fingerprint", shape_.fingerprint);
    }
    if (is_wrong(shape_.selector > most_acf_selector)) return bad("bits of a selector", shape_.selector);
    const auto places = checked_multiply(shape_.bins, shape_.k);
    const auto wanted = places ? checked_multiply(*places, shape_.b) : places;
    if (is_wrong(wanted == 0) || is_wrong(wanted != values_.size()) || is_wrong(mirror_.size() != values_.size()) ||
        is_wrong(values_.width() != shape_.fingerprint + shape_.selector)) {
      return failure{"its slots, its mirror and its shape do not have the same size"};
    }
    return {};
  }

  friend struct label_access;  // for tests

  acf_shape shape_;
  std::uint32_t generation_ = 0;
  slot_fingerprints fingerprints_;
  probe_constants constants_;
  probe_kind first_way_ = probe_kind::none;  // while the hashes are those of generation 0
  packed_array<dynamic_width> values_;
  slot_mirror mirror_;
  distance_hints labels_;  // if searches are guided
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
