#pragma once

// evergreen in front of a store: it follows its keys in steps of a sixteenth, and every segment that grows takes its entries
// anew from the store. So all plain entries have r bits, fixes stay fixes, and memory goes up and down with the keys.
//
//   digest   | root | path: which segment | quotient: c bits | x: r bits | more if it was wrong
//
// A segment is a table of 2^c quotients with 34 to 64 slots for every 64 of them (detail/growing/uniform_segment.hpp). A full
// one gets four more slots a block, in a copy, without the store; at 64 it grows: it gets twice the quotients, or is cut in
// two. Without a store it refuses then, unless expand() takes a bit from every entry, which a store can give back. Nearly empty
// parts are joined. The invariant and its proofs are those of evergreen (docs/filters/evergreen.md).

#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "tamis/concepts.hpp"
#include "tamis/detail/base/shown.hpp"
#include "tamis/detail/growing/segment_renewal.hpp"
#include "tamis/detail/growing/segment_shift.hpp"
#include "tamis/detail/growing/segment_tree.hpp"
#include "tamis/detail/io/archive.hpp"
#include "tamis/detail/remote/adapt_work.hpp"

namespace tamis::inline TAMIS_LEVEL {

class evergreen_stored {
 public:
  using options = evergreen_stored_options;
  static constexpr unsigned narrowest = detail::pair_code::least_width + 1;  // expand() can take a bit
  static constexpr unsigned widest = 24;
  static constexpr option_info option_table[] = {
      {"remainder", "5 to 24", "from the rate or the bits", "bits stored per key"},
      {"segment", "64 to 65536", "16384", "quotients of a segment, a power of two"},
  };
  static constexpr filter_info info{
      .id = "evergreen-stored",
      .summary = "evergreen in front of a store: grows in small steps, adapts, deletes and counts",
      .paper = "tamis; after InfiniFilter (SIGMOD 2023) and the broom filter (FOCS 2018)",
      .options = option_table,
  };

  static result<evergreen_stored> create(const filter_params& params) {
    TAMIS_CHECK(check_params(info, params));
    TAMIS_TRY(const std::uint64_t asked, number_option(params, "remainder", 0, narrowest, widest));
    TAMIS_TRY(const std::uint64_t segment, number_option(params, "segment", 16384, 64, 65536));
    if (!std::has_single_bit(segment)) {
      return failure{"option segment: " + std::to_string(segment) + " is not a power of two"};
    }
    evergreen_stored made;
    made.segment_bits_ = static_cast<std::uint32_t>(std::countr_zero(segment));
    TAMIS_TRY(const table_of_roots shape, shape_for(params, static_cast<unsigned>(asked), made.segment_bits_));
    made.width_ = shape.width;
    if (shape.roots >> 32 != 0) return failure{"a filter for " + std::to_string(params.capacity) + " keys cannot be addressed"};
    detail::table_list<detail::uniform_segment> segments;
    segments.reserve(shape.roots);
    for (std::uint64_t i = 0; i < shape.roots; ++i) {
      TAMIS_TRY(detail::uniform_segment root,
                detail::uniform_segment::make({0, shape.cell_bits, shape.width}, 0));  // memory follows the keys
      segments.push_back(std::move(root));
    }
    made.tree_ = detail::segment_tree(shape.roots, std::move(segments));
    return made;
  }

  TAMIS_INLINE bool may_contain(digest d) const {
    switch (width()) {
      case 7: return test<7>(locate(d), [&] { return d; });
      case 8: return test<8>(locate(d), [&] { return d; });
      default: return test<0>(locate(d), [&] { return d; });
    }
  }
  // How many entries match: at least as many as copies of the key are in.
  std::uint64_t count(digest d) const {
    const detail::uint128 stream = tree_.places().stream_of(d).stream;
    const detail::uniform_segment& s = tree_[locate(d).segment];
    return s.table().count(s.quotient_of(stream), s.behind_place(stream));
  }

  // Adds an entry that is a prefix of the key. A segment that has all its slots is full without a store.
  insert_result insert(digest d) { return insert_with(d, nullptr); }
  // The same; the store holds all keys of this filter, and may or may not hold `d` already.
  template <remote R>
  insert_result insert(digest d, const R& stored) {
    const remote_ref ref(stored);
    return insert_with(d, &ref);
  }

  // Takes out the longest match.
  erase_result erase(digest d) {
    const detail::uint128 stream = tree_.places().stream_of(d).stream;
    detail::uniform_segment& s = tree_[locate(d).segment];
    const std::uint64_t quotient = s.quotient_of(stream);
    const detail::uint128 behind = s.behind_place(stream);
    const unsigned width = s.shape().width;
    const bool erased = width == 7   ? s.table().erase<7>(quotient, behind)
                        : width == 8 ? s.table().erase<8>(quotient, behind)
                                     : s.table().erase(quotient, behind);
    if (!erased) return erase_result::absent;
    --keys_;
    try {
      s.step_down();
      if (s.shape().depth != 0 && s.table().table().used() < s.limit_of_all_slots() / 4) [[unlikely]]
        join(place_of(d));
    } catch (const std::bad_alloc&) {
      // The key is out, and memory can be given back another time.
    }
    return erase_result::erased;
  }

  template <remote R>
  adapt_result adapt(digest d, const R& stored) {
    return adapt_with(d, remote_ref(stored));
  }
  std::uint64_t missing() const { return missing_; }

  // Gives all entries r bits again where they have lost some. The store holds all keys of this filter. Answers how many
  // segments it was asked for.
  template <remote R>
  std::uint64_t rejuvenate_all(const R& stored) {
    return rejuvenate_all_with(remote_ref(stored));
  }
  // Every segment grows once without a store, and gives up a bit of every entry for it.
  status expand();
  // All entries of both. Where this filter's quotients have more bits than the other one's, entries become shorter.
  status merge(const evergreen_stored& other);
  // Then gives them their bits again. The remote holds all keys of both.
  template <remote R>
  status merge(const evergreen_stored& other, const R& stored) {
    TAMIS_CHECK(merge(other));
    rejuvenate_all(stored);
    return {};
  }

  const detail::segment_tree& tree() const { return tree_; }
  // Calls visit(prefix) for all entries, in the order of their digests.
  template <class Visit>
  void for_each(Visit visit) const {
    tree_.for_each([&](std::uint64_t place, const detail::uniform_segment& s) {
      const detail::stream_prefix under = tree_.prefix_at(place);
      const unsigned place_bits = s.shape().place_bits();
      s.table().for_each([&](std::uint64_t quotient, const detail::run_entry& e) {
        const detail::uint128 own = static_cast<detail::uint128>(quotient) << (128 - s.shape().cell_bits) >> under.length;
        visit(detail::stream_prefix{under.root, under.bits | own | e.bits >> place_bits,
                                    place_bits + s.table().code().length(e.level)});
      });
    });
  }

  std::uint64_t keys() const { return keys_; }
  // Keys at which all segments are about to take all their slots and grow.
  std::uint64_t capacity() const {
    std::uint64_t all = 0;
    for (const detail::uniform_segment& s : tree_.segments())
      all += s.shape().quotients() * detail::uniform_segment::fullest / 100;
    return all;
  }
  double expected_fpr() const {
    double accepted = 0;
    for (const detail::uniform_segment& s : tree_.segments()) {
      const auto long_ones = static_cast<double>(s.table().lengthened());
      const double plain = static_cast<double>(s.table().entries()) - long_ones;
      const auto bits = static_cast<int>(s.shape().place_bits() + s.shape().width);
      accepted += std::ldexp(plain, -bits) + std::ldexp(long_ones, -bits - static_cast<int>(s.shape().width) + 2);
    }
    return std::min(1.0, accepted / static_cast<double>(tree_.places().roots()));
  }
  memory_bits bits() const {
    std::uint64_t all = tree_.bits();
    for (const detail::uniform_segment& s : tree_.segments()) all += s.bits();
    return {all};
  }
  option_list settings() const {
    return {{"remainder", std::to_string(width())}, {"segment", std::to_string(std::uint64_t{1} << segment_bits_)}};
  }

  // Batches (batch.hpp).
  struct probe {
    std::uint32_t segment;
    std::uint64_t quotient;
    std::uint64_t x;
  };
  template <unsigned Width>
  struct view {
    const evergreen_stored& f;

    TAMIS_INLINE probe locate(digest d) const { return f.locate(d); }
    TAMIS_INLINE void prefetch(const probe& p) const { f.tree_[p.segment].table().table().prefetch(p.quotient); }
    template <class Again>
    TAMIS_INLINE bool test(const probe& p, Again again) const {
      return f.test<Width>(p, again);
    }
  };
  template <class Use>
  void with_view(Use use) const {
    switch (width()) {
      case 7: return use(view<7>{*this});
      case 8: return use(view<8>{*this});
      default: return use(view<0>{*this});
    }
  }

  friend bool operator==(const evergreen_stored& a, const evergreen_stored& b) {
    return a.keys_ == b.keys_ && a.segment_bits_ == b.segment_bits_ && a.width_ == b.width_ && a.tree_ == b.tree_;
  }
  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.segment_bits_, self.width_, self.tree_);
    if constexpr (!std::is_const_v<Self>) {
      if (!archive.ok()) return;
      for (const detail::uniform_segment& s : self.tree_.segments()) self.keys_ += s.table().entries();
    }
  }
  status validate() const {
    if (segment_bits_ < 6 || segment_bits_ > 16 || width_ < detail::pair_code::least_width || width_ > widest) {
      return failure{"its settings are out of range"};
    }
    for (const detail::uniform_segment& s : tree_.segments()) {
      const detail::uniform_shape& shape = s.shape();
      // Segments are cut when they are large, not before.
      if (shape.width > width_ || shape.cell_bits > segment_bits_ || (shape.depth != 0 && shape.cell_bits != segment_bits_)) {
        return failure{"a segment has a shape that cannot be"};
      }
    }
    return {};
  }

 private:
  friend detail::stored_access;
  evergreen_stored() = default;

  struct table_of_roots {
    std::uint64_t roots;
    std::uint32_t cell_bits;
    std::uint32_t width;
    std::uint64_t keys_each;
  };
  static constexpr double planned = 0.92;  // keys per quotient when it is new: chance shall not cut a segment at once
  static table_of_roots roots_for(std::uint64_t capacity, unsigned width, unsigned segment_bits) {
    unsigned cell_bits = detail::uniform_segment::least_cell_bits;
    while (cell_bits < segment_bits && std::ldexp(planned, static_cast<int>(cell_bits)) < static_cast<double>(capacity))
      ++cell_bits;
    const auto roots =
        static_cast<std::uint64_t>(std::ceil(static_cast<double>(capacity) / std::ldexp(planned, static_cast<int>(cell_bits))));
    const double each = static_cast<double>(capacity) / static_cast<double>(roots);
    return {roots, cell_bits, width, static_cast<std::uint64_t>(each + 2 * std::sqrt(each))};
  }
  static double bits_of(const table_of_roots& shape) {
    const detail::uniform_shape one{0, shape.cell_bits, shape.width};
    const detail::spacing s(detail::uniform_segment::slots_for(one, shape.keys_each));
    const auto blocks = detail::spaced_table::blocks_of(one.quotients(), one.spare(s.slots()), s).value();
    const auto bytes = detail::block_memory::bytes_of(detail::block_layout(s, shape.width), blocks).value();
    return static_cast<double>(shape.roots) * 8.0 * static_cast<double>(bytes + sizeof(detail::uniform_segment) + 4);
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

  unsigned width() const { return width_; }

  TAMIS_INLINE probe locate(digest d) const {
    const detail::word_placed p = detail::place_of_word(d.high, tree_.places().roots());
    const auto segment = static_cast<std::uint32_t>(tree_.segment_at(tree_.place_of(p)));
    const detail::uniform_shape& shape = tree_[segment].shape();
    // Paths, quotients and remainders have at most 62 bits together.
    return {segment, p.rest << shape.depth >> (64 - shape.cell_bits), p.rest << shape.place_bits() >> (64 - shape.width)};
  }
  template <unsigned Width, class Again>
  TAMIS_INLINE bool test(const probe& p, Again again) const {
    const detail::uniform_segment& s = tree_[p.segment];
    if constexpr (Width != 0) {
      if (s.shape().width != Width) [[unlikely]]
        return test_narrow(p, again());
    }
    return s.table().contains<Width>(p.quotient, p.x, [&] { return s.behind_place(tree_.places().stream_of(again()).stream); });
  }
  // A segment whose entries have lost bits.
  TAMIS_NOINLINE bool test_narrow(const probe& p, digest d) const {
    return test<0>(p, [d] { return d; });
  }
  std::uint64_t place_of(digest d) const { return tree_.place_of(detail::place_of_word(d.high, tree_.places().roots())); }

  TAMIS_INLINE insert_result insert_with(digest d, const remote_ref* stored) {
    const probe p = locate(d);
    detail::uniform_segment& s = tree_[p.segment];
    if (s.is_full() || !insert_at(s, p)) [[unlikely]] {
      if (!insert_growing(d, stored)) return insert_result::full;
    }
    ++keys_;
    return insert_result::inserted;
  }
  TAMIS_INLINE static bool insert_at(detail::uniform_segment& s, const probe& p) {
    switch (s.shape().width) {
      case 7: return s.table().insert<7>(p.quotient, p.x);
      case 8: return s.table().insert<8>(p.quotient, p.x);
      default: return s.table().insert<0>(p.quotient, p.x);
    }
  }
  bool insert_growing(digest d, const remote_ref* stored);
  // How the segment at a place can grow; `none` if it cannot.
  detail::segment_growth_kind growth_of(std::uint64_t place) const;
  // The segment at a place grows and takes its entries anew from the store. False, and nothing has changed, if it cannot.
  bool grow(std::uint64_t place, const remote_ref& stored, const digest* pending);
  bool renew(std::uint64_t place, const remote_ref& stored, const digest* pending, detail::segment_growth_kind kind);
  // It grows without the store: a bit of every entry goes into the quotient. False, and nothing has changed, if it cannot.
  bool grow_alone(std::uint64_t place);
  void join(std::uint64_t place);
  bool add(const detail::stream_prefix& p);
  std::uint64_t rejuvenate_all_with(const remote_ref& stored);
  using stream_list = detail::short_list<detail::uint128, 24>;
  // The streams of the stored keys under a prefix, in order. What an adapt may cost is bounded: false says that they are more.
  bool read_keys(const detail::stream_prefix& under, const remote_ref& stored, stream_list& streams) const;
  adapt_result adapt_with(digest d, const remote_ref& stored);

  std::uint32_t segment_bits_ = 14;
  std::uint32_t width_ = 8;  // r; segments that grew without a store have less
  detail::segment_tree tree_;
  std::uint64_t keys_ = 0;
  std::uint64_t missing_ = 0;
};

}  // namespace tamis::inline TAMIS_LEVEL

#include "tamis/detail/growing/evergreen_stored-inl.hpp"  // growing, shrinking, merging and adapting
