#pragma once

// evergreen: a filter that grows, shrinks, adapts, deletes and counts. InfiniFilter shortens fingerprints when it grows and
// lengthens them when a key is seen again; the broom filter lengthens fingerprints when it was wrong. Both are one variable, if
// an entry is a prefix of its key's stream of bits, of which the place takes the first and slots hold the next:
//
//   digest   | root | path: which segment | quotient: c bits | x: r bits | more if it was wrong
//   grow                                        c + 1 bits ──► what was the first of x; the store says one more, or x is
//   shorter adapt                                                                  more bits ──► a longer prefix: fewer answers
//   are wrong
//
// A segment is a table of 2^c quotients with 34 to 64 slots for every 64 of them (detail/growing/segment.hpp). A full one gets
// four more slots a block, in a copy; at 64 it grows: it gets twice the quotients, or is cut in two, and takes its entries anew
// from the store. Without a store entries lose a bit, and new ones get more bits than the first ones had, so that the rate
// stays what was asked for. Nearly empty parts are joined.
//
// The invariant: all keys can be paired with entries so that every entry is a prefix of its key's stream. What each operation
// does to it is said there; docs/filters/evergreen.md has the proofs.

#include <algorithm>
#include <bit>
#include <cmath>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "tamis/concepts.hpp"
#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/base/shown.hpp"
#include "tamis/detail/growing/segment_renewal.hpp"
#include "tamis/detail/growing/segment_shift.hpp"
#include "tamis/detail/growing/segment_tree.hpp"
#include "tamis/detail/io/archive.hpp"
#include "tamis/detail/remote/adapt_work.hpp"

namespace tamis::inline TAMIS_LEVEL {

class evergreen {
 public:
  using options = evergreen_options;
  enum class fingerprints : std::uint8_t { growing, fixed };
  static constexpr unsigned narrowest = detail::pair_code::least_width;
  static constexpr unsigned widest = 24;
  static constexpr unsigned widest_alone = 30;  // of keys that come without a store
  static constexpr option_info option_table[] = {
      {"remainder", "4 to 24", "from the rate or the bits", "bits stored per key, r"},
      {"segment", "64 to 65536", "16384", "quotients of a segment, a power of two"},
      {"fingerprints", "growing or fixed", "growing", "do new keys get more bits where the filter has grown without a store?"},
  };
  static constexpr filter_info info{
      .id = "evergreen",
      .summary =
          "grows and shrinks in small steps, adapts, deletes and counts: entries are prefixes that get longer and shorter",
      .paper = "tamis; after InfiniFilter (SIGMOD 2023) and the broom filter (FOCS 2018)",
      .options = option_table,
  };

  static result<evergreen> create(const filter_params& params) {
    TAMIS_CHECK(check_params(info, params));
    TAMIS_TRY(const std::uint64_t asked, number_option(params, "remainder", 0, narrowest, widest));
    TAMIS_TRY(const std::uint64_t quotients, number_option(params, "segment", 16384, 64, 65536));
    constexpr std::string_view kinds[] = {"growing", "fixed"};
    TAMIS_TRY(const std::string kind, choice_option(params, "fingerprints", "growing", kinds));
    if (!std::has_single_bit(quotients)) {
      return failure{"option segment: " + std::to_string(quotients) + " is not a power of two"};
    }
    evergreen made;
    made.segment_bits_ = static_cast<std::uint32_t>(std::countr_zero(quotients));
    TAMIS_TRY(const table_of_roots shape, shape_for(params, static_cast<unsigned>(asked), made.segment_bits_));
    made.width_ = shape.width;
    made.first_quotient_bits_ = shape.quotient_bits;
    made.fingerprints_ = kind == "fixed" ? fingerprints::fixed : fingerprints::growing;
    // A few thousand keys may have more bits: without a store they then last for many more doublings.
    made.small_width_ = params.fpr && asked == 0 ? std::min(shape.width + 6, widest) : shape.width;
    made.first_alone_ = first_alone(shape.width, made.width_of(shape.quotient_bits), params.fpr);
    if (shape.roots >> 32 != 0) return failure{"a filter for " + std::to_string(params.capacity) + " keys cannot be addressed"};
    TAMIS_CHECK(made.make_roots(shape.roots));
    return made;
  }

  TAMIS_INLINE bool may_contain(digest d) const {
    const probe p = locate(d);
    const detail::segment_shape& shape = tree_[p.segment].shape();
    if (shape.format == detail::slot_format::uniform) [[likely]] {
      if (shape.width == 7) return test<7, detail::slot_format::uniform>(p, [d] { return d; });
      if (shape.width == 8) return test<8, detail::slot_format::uniform>(p, [d] { return d; });
    }
    return test_rare(p, d);
  }
  // How many entries match: at least as many as copies of the key are in.
  std::uint64_t count(digest d) const {
    const detail::uint128 stream = tree_.places().stream_of(d).stream;
    const detail::segment& s = tree_[locate(d).segment];
    return s.table().count(s.quotient_of(stream), s.behind_place(stream));
  }

  // Adds an entry that is a prefix of the key, so they make a pair. Where a segment grows, its entries lose a bit.
  [[nodiscard]] insert_result insert(digest d) { return insert_with(d, nullptr); }
  // The same; a segment that grows takes its entries anew from the store, which holds all keys of this filter, and may or may
  // not hold `d` already.
  template <remote R>
  [[nodiscard]] insert_result insert(digest d, const R& stored) {
    const remote_ref ref(stored);
    return insert_with(d, &ref);
  }

  // Takes out the longest match.
  erase_result erase(digest d) {
    const detail::uint128 stream = tree_.places().stream_of(d).stream;
    detail::segment& s = tree_[locate(d).segment];
    const std::uint64_t quotient = s.quotient_of(stream);
    const detail::uint128 behind = s.behind_place(stream);
    const bool erased = with_slots(s.shape(), [&]<unsigned Width, detail::slot_format Format>() TAMIS_INLINE_LAMBDA {
      return s.table().template erase<Width, Format>(quotient, behind);
    });
    if (!erased) return erase_result::absent;
    if (keys_ != 0) [[likely]] {
      --keys_;
    } else {
      --copies_;  // nothing was in, and a copy of what had been there looked like this key
    }
    try {
      tree_.step_down(s);
      if (s.shape().depth != 0 && s.table().table().used() < s.limit_of_all_slots() / 4) [[unlikely]]
        join(place_of(d));
    } catch (const std::bad_alloc&) {
      // The key is out, and memory can be given back another time.
    }
    return erase_result::erased;
  }

  // After a true positive: where entries have lost bits, the longest match gets back what a plain one can have. It may be taken
  // for this key's: see docs/filters/evergreen.md.  Requires: the key is in.
  void rejuvenate(digest d) {
    const detail::uint128 stream = tree_.places().stream_of(d).stream;
    detail::segment& s = tree_[locate(d).segment];
    s.table().rejuvenate(s.quotient_of(stream), s.behind_place(stream));
  }

  // Pairs the entries that extend the shortest match with the keys of the store there, and lengthens those that match `d` by
  // bits of their own keys until they do not. Entries without a key are dropped. If a key there has no entry, filter and store
  // have gone apart: nothing is changed, the answer is `unfixable`, and missing() goes up.
  template <remote R>
  adapt_result adapt(digest d, const R& stored) {
    return adapt_with(d, remote_ref(stored));
  }
  std::uint64_t missing() const { return missing_; }

  // Takes the entries of all aged segments anew. The store holds all keys of this filter. Answers how many segments it was
  // asked for.
  template <remote R>
  std::uint64_t rejuvenate_all(const R& stored) {
    return rejuvenate_all_with(remote_ref(stored));
  }
  // Every segment grows once without a store. Segments that are full do that by themselves when a key comes.
  status expand();
  // All entries of both. An error if one of them has grown so much more that entries of the other one are too short for it.
  status merge(const evergreen& other);
  // Then renews what is aged. The remote holds all keys of both.
  template <remote R>
  status merge(const evergreen& other, const R& stored) {
    evergreen merged = *this;  // renewing may fail
    TAMIS_CHECK(merged.merge(other));
    merged.rejuvenate_all(stored);
    *this = std::move(merged);
    return {};
  }

  const detail::segment_tree& tree() const { return tree_; }
  // Calls visit(prefix) for all entries, in the order of their digests.
  template <class Visit>
  void for_each(Visit visit) const {
    tree_.for_each([&](std::uint64_t place, const detail::segment& s) {
      const detail::stream_prefix under = tree_.prefix_at(place);
      const unsigned place_bits = s.shape().place_bits();
      s.table().for_each([&](std::uint64_t quotient, const detail::run_entry& e) {
        const detail::uint128 own = static_cast<detail::uint128>(quotient) << (128 - s.shape().quotient_bits) >> under.length;
        visit(detail::stream_prefix{under.root, under.bits | own | e.bits >> place_bits,
                                    place_bits + s.table().code().length(e)});
      });
    });
  }

  // Keys that went in and were not erased: never less than there are. Those that went in twice count twice until adapt or
  // growth drops the second entry, and go on to do so if that is taken for a copy.
  std::uint64_t keys() const { return keys_; }
  // Entries that growth without a store has made of voids, and no key is counted for: keys() and copies() are all entries. What
  // is dropped is taken for copies first, wherever those are, so that a key never goes uncounted.
  std::uint64_t copies() const { return copies_; }
  // Keys at which all segments are about to take all their slots and grow.
  std::uint64_t capacity() const {
    std::uint64_t all = 0;
    for (const detail::segment& s : tree_.segments()) all += s.shape().quotients() * detail::segment::fullest / 100;
    return all;
  }
  double expected_fpr() const {
    double accepted = 0;
    for (const detail::segment& s : tree_.segments()) accepted += s.accepted();
    return std::min(1.0, accepted / static_cast<double>(tree_.places().roots()));
  }
  memory_bits bits() const {
    std::uint64_t all = tree_.bits();
    for (const detail::segment& s : tree_.segments()) all += s.bits();
    return {all};
  }
  option_list settings() const {
    return {{"remainder", std::to_string(width_)},
            {"segment", std::to_string(std::uint64_t{1} << segment_bits_)},
            {"fingerprints", fingerprints_ == fingerprints::fixed ? "fixed" : "growing"}};
  }

  // Without keys, as it was before it grew.
  result<evergreen> emptied() const {
    evergreen made;
    made.segment_bits_ = segment_bits_;
    made.width_ = width_;
    made.small_width_ = small_width_;
    made.first_quotient_bits_ = first_quotient_bits_;
    made.first_alone_ = first_alone_;
    made.fingerprints_ = fingerprints_;
    TAMIS_CHECK(made.make_roots(tree_.places().roots()));
    return made;
  }

  // Batches (batch.hpp).
  struct probe {
    std::uint32_t segment;
    std::uint64_t quotient;
    std::uint64_t x;
  };
  // Of a filter most of whose segments have these slots.
  template <unsigned Width, detail::slot_format Format>
  struct view {
    const evergreen& f;

    TAMIS_INLINE probe locate(digest d) const { return f.locate(d); }
    TAMIS_INLINE void prefetch(const probe& p) const { f.tree_[p.segment].table().table().prefetch(p.quotient); }
    template <class Again>
    TAMIS_INLINE bool test(const probe& p, Again again) const {
      const detail::segment_shape& shape = f.tree_[p.segment].shape();
      if constexpr (Width != 0) {
        if (shape.width == Width && shape.format == Format) [[likely]]
          return f.test<Width, Format>(p, again);
      }
      return f.test_rare(p, again());
    }
  };
  template <class Use>
  void with_view(Use use) const {
    with_slots(tree_[tree_.latest()].shape(),
               [&]<unsigned Width, detail::slot_format Format>() TAMIS_INLINE_LAMBDA { use(view<Width, Format>{*this}); });
  }

  TAMIS_INLINE void prefetch(digest d) const {
    const probe p = locate(d);
    tree_[p.segment].table().table().prefetch(p.quotient);
  }
  TAMIS_INLINE void prefetch_insert(digest d) const { prefetch(d); }

  friend bool operator==(const evergreen& a, const evergreen& b) {
    return a.keys_ == b.keys_ && a.segment_bits_ == b.segment_bits_ && a.width_ == b.width_ &&
           a.small_width_ == b.small_width_ && a.first_quotient_bits_ == b.first_quotient_bits_ &&
           a.first_alone_ == b.first_alone_ && a.fingerprints_ == b.fingerprints_ && a.tree_ == b.tree_;
  }
  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.keys_, self.segment_bits_, self.width_, self.small_width_, self.first_quotient_bits_, self.first_alone_,
            self.fingerprints_, self.tree_);
    if constexpr (!std::is_const_v<Self>) {
      if (!archive.ok()) return;
      std::uint64_t entries = 0;
      for (const detail::segment& s : self.tree_.segments()) entries += s.table().entries();
      if (detail::is_wrong(self.keys_ > entries)) return archive.fail("it holds more keys than entries");
      self.copies_ = entries - self.keys_;
    }
  }
  status validate() const {
    using detail::is_wrong;
    if (is_wrong(segment_bits_ < 6) || is_wrong(segment_bits_ > 16) || is_wrong(width_ < narrowest) ||
        is_wrong(width_ > widest) || is_wrong(small_width_ < width_) || is_wrong(small_width_ > widest) ||
        is_wrong(first_quotient_bits_ < 6) || is_wrong(first_quotient_bits_ > segment_bits_) ||
        is_wrong(first_alone_ < width_) || is_wrong(first_alone_ > widest_alone) ||
        is_wrong(fingerprints_ > fingerprints::fixed)) {
      return failure{"its settings are out of range"};
    }
    for (const detail::segment& s : tree_.segments()) {
      const detail::segment_shape& shape = s.shape();
      const bool is_uniform = shape.format == detail::slot_format::uniform;
      // Segments are cut when they are large, not before.
      if (is_wrong(is_uniform && shape.width != width_of(shape.quotient_bits)) ||
          is_wrong(!is_uniform && shape.plain_length() < width_) ||
          is_wrong(!is_uniform && shape.plain_length() > widest_alone) ||
          is_wrong(shape.quotient_bits < first_quotient_bits_) || is_wrong(shape.quotient_bits > segment_bits_) ||
          is_wrong(shape.depth != 0 && shape.quotient_bits != segment_bits_)) {
        return failure{"a segment has a shape that cannot be"};
      }
    }
    return {};
  }

 private:
  friend detail::stored_access;
  evergreen() = default;

  struct table_of_roots {
    std::uint64_t roots;
    std::uint32_t quotient_bits;
    std::uint32_t width;
    std::uint64_t keys_each;
  };
  // Memory follows the keys from the first one on, so they have as few slots as segments can have.
  status make_roots(std::uint64_t roots) {
    const auto make_root = [&] { return detail::segment::make({0, first_quotient_bits_, width_of(first_quotient_bits_)}, 0); };
    // They fit one by one: whether all of them do has to be asked before the machine's memory is full.
    TAMIS_TRY(const detail::segment one, make_root());
    TAMIS_CHECK(detail::check_table_bytes(roots * (one.bits() / 8 + sizeof(detail::segment))));
    detail::table_list<detail::segment> segments;
    segments.reserve(roots);
    for (std::uint64_t i = 0; i < roots; ++i) {
      TAMIS_TRY(detail::segment root, make_root());
      segments.push_back(std::move(root));
    }
    tree_ = detail::segment_tree(roots, std::move(segments));
    return {};
  }
  static constexpr double planned = 0.92;  // keys per quotient when it is new: chance shall not cut a segment at once
  static table_of_roots roots_for(std::uint64_t capacity, unsigned width, unsigned segment_bits) {
    unsigned quotient_bits = detail::segment::least_quotient_bits;
    while (quotient_bits < segment_bits && std::ldexp(planned, static_cast<int>(quotient_bits)) < static_cast<double>(capacity))
      ++quotient_bits;
    const auto roots = static_cast<std::uint64_t>(
        std::ceil(static_cast<double>(capacity) / std::ldexp(planned, static_cast<int>(quotient_bits))));
    const double each = static_cast<double>(capacity) / static_cast<double>(roots);
    return {roots, quotient_bits, width, static_cast<std::uint64_t>(each + 2 * std::sqrt(each))};
  }
  static double bits_of(const table_of_roots& shape) {
    const detail::segment_shape one{0, shape.quotient_bits, shape.width};
    const detail::spacing s(detail::segment::slots_for(one, shape.keys_each));
    const auto blocks = detail::spaced_table::blocks_of(one.quotients(), one.spare(s.slots()), s).value();
    const auto bytes = detail::block_memory::bytes_of(detail::block_layout(s, shape.width), blocks).value();
    return static_cast<double>(shape.roots) * 8.0 * static_cast<double>(bytes + sizeof(detail::segment) + 4);
  }
  static result<table_of_roots> shape_for(const filter_params& params, unsigned asked, unsigned segment_bits) {
    if (params.fpr) {
      unsigned width = asked == 0 ? narrowest : asked;
      while (asked == 0 && width <= widest && std::ldexp(0.95, -static_cast<int>(width)) > *params.fpr) ++width;
      if (width > widest) return failure{"fpr " + detail::shown(*params.fpr) + " would need remainders of more than 24 bits"};
      return roots_for(params.capacity, width, segment_bits);
    }
    const double bits = *params.bits_per_key * static_cast<double>(params.capacity);
    for (unsigned width = asked == 0 ? widest : asked; width >= (asked == 0 ? narrowest : asked); --width) {
      const table_of_roots shape = roots_for(params.capacity, width, segment_bits);
      if (bits_of(shape) <= bits) return shape;
    }
    const double least = bits_of(roots_for(params.capacity, asked == 0 ? narrowest : asked, segment_bits));
    return failure{"bits per key " + std::to_string(*params.bits_per_key) + ": " + std::to_string(params.capacity) +
                   " keys need at least " + std::to_string(least / static_cast<double>(params.capacity))};
  }

  // Bits that keys get which come after the first doubling without a store. Every generation of them adds about a quarter of
  // 2^-bits, times its share of all doublings' octaves, to the rate for ever (plain_after_growth): five octaves, which are a
  // growth by 2^31, take what is left of the asked rate beside the first keys; if that is nearly nothing, a sixteenth more.
  // Where bits were asked for and no rate, the rate may become twice the first one.
  static std::uint32_t first_alone(unsigned width, unsigned first_width, std::optional<double> rate) {
    const double first = 2 * std::ldexp(1.0, -static_cast<int>(first_width));
    const double left = rate ? *rate / (0.95 / 2) - first : first;
    unsigned bits = width;
    while (bits < width + 4 && std::ldexp(5.0, -static_cast<int>(bits)) > left) ++bits;
    return bits;
  }

  // Of uniform slots in segments of 2^quotient_bits quotients.
  unsigned width_of(unsigned quotient_bits) const { return quotient_bits < segment_bits_ ? small_width_ : width_; }

  // Calls use<Width, Format>() for slots of this shape; Width is 0 where it is not one of the usual.
  template <class Use>
  TAMIS_INLINE static auto with_slots(const detail::segment_shape& shape, Use use)
      -> decltype(use.template operator()<0, detail::slot_format::uniform>()) {
    using enum detail::slot_format;
    if (shape.format == uniform) [[likely]] {
      switch (shape.width) {
        case 7: return use.template operator()<7, uniform>();
        case 8: return use.template operator()<8, uniform>();
        default: return use.template operator()<0, uniform>();
      }
    }
    switch (shape.width) {
      case 11: return use.template operator()<11, aged>();
      case 12: return use.template operator()<12, aged>();
      case 13: return use.template operator()<13, aged>();
      case 14: return use.template operator()<14, aged>();
      default: return use.template operator()<0, aged>();
    }
  }

  TAMIS_INLINE probe locate(digest d) const {
    const detail::word_placed p = detail::place_of_word(d.high, tree_.places().roots());
    const auto segment = static_cast<std::uint32_t>(tree_.segment_at(tree_.place_of(p)));
    const detail::segment_shape& shape = tree_[segment].shape();
    // Paths, quotients and slots have at most 62 bits together.
    return {segment, p.rest << shape.depth >> (64 - shape.quotient_bits), p.rest << shape.place_bits() >> (64 - shape.width)};
  }
  template <unsigned Width, detail::slot_format Format, class Again>
  TAMIS_INLINE bool test(const probe& p, Again again) const {
    const detail::segment& s = tree_[p.segment];
    return s.table().contains<Width, Format>(p.quotient, p.x,
                                             [&] { return s.behind_place(tree_.places().stream_of(again()).stream); });
  }
  TAMIS_NOINLINE bool test_rare(const probe& p, digest d) const {
    return with_slots(tree_[p.segment].shape(), [&]<unsigned Width, detail::slot_format Format>()
                                                    TAMIS_INLINE_LAMBDA { return test<Width, Format>(p, [d] { return d; }); });
  }
  std::uint64_t place_of(digest d) const { return tree_.place_of(detail::place_of_word(d.high, tree_.places().roots())); }

  TAMIS_INLINE insert_result insert_with(digest d, const remote_ref* stored) {
    const probe p = locate(d);
    detail::segment& s = tree_[p.segment];
    if (s.is_full() || !insert_at(s, p)) [[unlikely]] {
      if (!insert_growing(d, stored)) return insert_result::full;
    }
    ++keys_;
    return insert_result::inserted;
  }
  TAMIS_INLINE static bool insert_at(detail::segment& s, const probe& p) {
    return with_slots(s.shape(), [&]<unsigned Width, detail::slot_format Format>()
                                     TAMIS_INLINE_LAMBDA { return s.table().template insert<Width, Format>(p.quotient, p.x); });
  }
  bool insert_growing(digest d, const remote_ref* stored);
  // How the segment at a place can grow to slots of so many bits; `none` if it cannot.
  detail::segment_growth_kind growth_of(std::uint64_t place, unsigned slot_width) const;
  // What plain entries can have in a segment that has grown without the store.
  detail::plain_bits plain_after_growth(const detail::segment_shape& shape) const;
  // The segment at a place grows and takes its entries anew from the store. False, and nothing has changed, if it cannot.
  bool grow(std::uint64_t place, const remote_ref& stored, const digest* pending);
  bool renew(std::uint64_t place, const remote_ref& stored, const digest* pending, detail::segment_growth_kind kind);
  // It grows without the store: a bit of every entry goes into the quotient. An error, and nothing has changed, if it cannot.
  status grow_alone(std::uint64_t place);
  void join(std::uint64_t place);
  bool add(const detail::stream_prefix& p);
  bool add_at(const detail::stream_prefix& p);
  void forget(std::uint64_t dropped);
  std::uint64_t rejuvenate_all_with(const remote_ref& stored);
  template <class Visit>
  void for_each_key(const detail::stream_prefix& under, const remote_ref& stored, Visit visit) const;
  using stream_list = detail::short_list<detail::uint128, 24>;
  // The streams of the stored keys under a prefix, in order. What an adapt may cost is bounded: false says that they are more.
  bool read_keys(const detail::stream_prefix& under, const remote_ref& stored, stream_list& streams) const;
  adapt_result adapt_with(digest d, const remote_ref& stored);

  std::uint32_t segment_bits_ = 14;
  std::uint32_t width_ = 8;                // r
  std::uint32_t small_width_ = 8;          // r of segments that have not all their quotients yet
  std::uint32_t first_quotient_bits_ = 6;  // of a root when the filter was made
  std::uint32_t first_alone_ = 8;
  fingerprints fingerprints_ = fingerprints::growing;
  detail::segment_tree tree_;
  std::uint64_t keys_ = 0;
  std::uint64_t missing_ = 0;
  std::uint64_t copies_ = 0;  // not saved: it follows from the entries
};

}  // namespace tamis::inline TAMIS_LEVEL

#include "tamis/detail/growing/evergreen-inl.hpp"  // growing, shrinking, merging and adapting
