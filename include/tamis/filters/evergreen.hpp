#pragma once

// evergreen: a filter that grows, adapts, deletes and counts. InfiniFilter shortens fingerprints when it grows and lengthens
// them when a key is seen again; the broom filter lengthens fingerprints when it was wrong. Both are one variable, if an entry
// is a prefix of its key's stream of bits, of which the place takes the first and a slot holds the next:
//
//   stream   | which segment | which cell | 1 0 1 1 0 1 0 0 | 1 1 0 …        place: q bits, stored: F bits in a slot
//   grow                                ──► q + 1, stored F - 1                the same prefix: no answer changes
//   rejuvenate, adapt                              more bits ──►               a longer prefix: fewer answers are wrong
//
// The invariant: all keys can be paired with entries so that every entry is a prefix of its key's stream. What each operation
// does to it is said there; docs/filters/evergreen.md has the proofs. detail/growing/segment_trie.hpp holds the entries.

#include <array>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tamis/concepts.hpp"
#include "tamis/detail/growing/adapt_group.hpp"
#include "tamis/detail/growing/evergreen_shape.hpp"
#include "tamis/detail/growing/segment_trie.hpp"
#include "tamis/detail/io/archive.hpp"
#include "tamis/memory.hpp"

namespace tamis::inline TAMIS_LEVEL {

class evergreen {
 public:
  using options = evergreen_options;
  enum class fingerprints : std::uint8_t { automatic, fixed, growing };

  static constexpr option_info option_table[] = {
      {"fingerprint", "1 to 56", "from the rate or the bits", "bits stored per new key, F"},
      {"threshold", "50 to 95", "90", "slots in use, in percent of the cells, at which a segment grows"},
      {"generations", "0 to 16", "2", "with a remote: entries that are older than so many doublings are renewed"},
      {"fingerprints", "auto, fixed or growing", "auto", "whether F grows with the filter; auto: where there is no remote"},
      {"segment", "64 to 65536", "16384", "cells of a segment, a power of two"},
      {"growth", "even or flat", "even", "flat: segments fill at different times, so that memory grows steadily"},
  };
  static constexpr filter_info info{
      .id = "evergreen",
      .summary = "grows, adapts, deletes and counts: entries are prefixes that get shorter and longer",
      .paper = "tamis; after InfiniFilter (SIGMOD 2023) and the broom filter (FOCS 2018)",
      .options = option_table,
  };

  static result<evergreen> create(const filter_params& params);

  TAMIS_INLINE bool may_contain(digest d) const {
    const detail::segment_directory& segments = forest_.segments();
    const detail::lookup_way way = segments.way_of_digests();
    if (way != detail::lookup_way::any) [[likely]] {
      const std::uint64_t place = detail::place_of_word(d.high, segments.fine_places()).place;
      if (way == detail::lookup_way::plain) return may_contain_plain(place);
      const detail::segment_view& here = segments.view(segments.at_of(place));
      const detail::segment_view::answer found = here.contains_near(here.spot_of(place), place);
      if (found != detail::segment_view::answer::unsure) [[likely]]
        return found == detail::segment_view::answer::yes;
    }
    // The one way to what is rare, word by word: so the digest's second word is made only there (hasher.hpp).
    return may_contain_anyhow(d.high, d.low);
  }
  // How many entries match: at least as many as copies of the key are in.
  std::uint64_t count(digest d) const {
    const auto a = forest_.locate(d);
    return forest_[a].count(a.cell, a.following);
  }

  // Adds an entry that is a prefix of the key, so they make a pair.
  insert_result insert(digest d) {
    const auto place = forest_.find(d);
    forest_.prefetch_update(place);
    return insert_at(place, nullptr, nullptr);
  }
  // The same; old entries, and those that a growing segment has no bit of, are renewed from the remote. It holds all keys of
  // this filter, and may or may not hold `d` already.
  template <remote R>
  insert_result insert(digest d, const R& stored) {
    const remote_ref ref(stored);
    return insert_with(d, ref);
  }

  // Takes out the longest match. If it was another key's, then that key also matches what was this key's, which is shorter.
  erase_result erase(digest d) {
    const auto place = forest_.find(d);
    forest_.prefetch_update(place);
    return erase_at(place);
  }

  // After a true positive: the longest match gets all its F bits. By the same exchange it may be taken for this key's.
  // Requires: the key is in.
  void rejuvenate(digest d) {
    const auto a = forest_.locate(d);
    forest_[a].rejuvenate(a.cell, a.following);
    forest_.segments().note_entries(a.at);
  }
  // Renews all entries that are older than `generations` doublings. Answers how many cells were looked up.
  template <remote R>
  std::uint64_t rejuvenate_all(const R& stored, unsigned generations) {
    return rejuvenate_all_with(remote_ref(stored), generations);
  }

  // Pairs the entries below the shortest match with the keys of the remote there, and lengthens those that match `d` by bits of
  // their own keys until they do not. Entries without a key are dropped. If a key there has no entry, filter and remote have
  // gone apart: nothing is changed, the answer is `unfixable`, and missing() goes up.
  // `unfixable` also where it would cost more than detail/remote/adapt_work.hpp allows.
  template <remote R>
  adapt_result adapt(digest d, const R& stored) {
    detail::adapt_work work;
    return adapt(d, stored, work);
  }
  // The same, and says what it has cost.
  template <remote R>
  adapt_result adapt(digest d, const R& stored, detail::adapt_work& work) {
    work = {};
    return adapt_with(d, remote_ref(stored), work);
  }
  std::uint64_t missing() const { return missing_; }

  // Every segment grows once. Segments that are over their threshold do that by themselves when a key comes.
  status expand();
  // Joins segments that are nearly empty; answers how many times. Entries with all F bits in one slot lose the last of them, so
  // that what adapt had fixed there can come back.
  std::uint64_t contract() { return forest_.contract(limit(forest_.segment_bits()) * 3 / 4); }

  // All entries of both.
  status merge(const evergreen& other);
  // Then renews those that are older than `generations` doublings. The remote holds all keys of both.
  template <remote R>
  status merge(const evergreen& other, const R& stored) {
    TAMIS_CHECK(merge(other));
    rejuvenate_all(stored, generations_);
    return {};
  }

  // Calls visit(prefix, count) for all entries, in the order of their digests.
  template <class Visit>
  void for_each(Visit visit) const {
    forest_.for_each(visit);
  }
  const detail::segment_trie& forest() const { return forest_; }

  // Keys that went in and were not erased: never less than there are. Those that went in twice count twice until adapt drops
  // the second entry, and go on to do so if that is taken for a copy: see copies().
  std::uint64_t keys() const { return keys_; }
  // Entries that splits made and no key is counted for: keys() and copies() are all entries. What adapt drops it takes for
  // copies first, wherever those are, so that a key never goes uncounted.
  std::uint64_t copies() const { return copies_; }
  // Keys at which all segments have reached their threshold: then the filter is about to grow.
  std::uint64_t capacity() const {
    std::uint64_t all = 0;
    forest_.segments().for_each([&](std::uint64_t, const detail::prefix_segment& s) { all += limit(s.cell_bits()); });
    return all;
  }
  double expected_fpr() const { return forest_.accepted(); }
  memory_bits bits() const {
    std::uint64_t all = forest_.segments().bits();
    forest_.segments().for_each([&](std::uint64_t, const detail::prefix_segment& s) { all += s.bits(); });
    return {all};
  }
  option_list settings() const;

  // Batches (batch.hpp).
  struct any_view {
    const detail::segment_trie& forest;

    TAMIS_INLINE detail::segment_trie::probe locate(digest d) const { return forest.probe_for(d); }
    TAMIS_INLINE void prefetch(const detail::segment_trie::probe& p) const {
      if (p.view->is_near()) return p.view->prefetch(p.view->spot_of(p.place), p.place);
      p.view->prefetch_update(p.place);
    }
    TAMIS_INLINE bool test(const detail::segment_trie::probe& p) const { return p.view->contains(p.place, p.beyond); }
  };
  // What a batch makes of an answer that may need the digest's second word.
  template <class Again>
  TAMIS_INLINE static bool is_yes(const detail::segment_trie& forest, detail::segment_view::answer found, Again again) {
    if (found != detail::segment_view::answer::unsure) [[likely]]
      return found == detail::segment_view::answer::yes;
    const detail::segment_trie::probe whole = forest.probe_for(again());
    return whole.view->contains(whole.place, whole.beyond);
  }
  // Where lookups look, of digests whose first word is their fine place: the second one is not even made.
  struct even_probe {
    const detail::segment_view* view;
    std::uint64_t place;
    detail::segment_view::spot spot;
  };
  struct near_view {
    const detail::segment_trie& forest;

    TAMIS_INLINE even_probe locate(digest d) const {
      const std::uint64_t place = detail::place_of_word(d.high, forest.segments().fine_places()).place;
      const detail::segment_view& view = forest.segments().view(forest.segments().at_of(place));
      return {&view, place, view.spot_of(place)};
    }
    TAMIS_INLINE void prefetch(const even_probe& p) const { p.view->prefetch(p.spot, p.place); }
    template <class Again>
    TAMIS_INLINE bool test(const even_probe& p, Again again) const {
      return is_yes(forest, p.view->contains_near(p.spot, p.place), again);
    }
  };
  // For batches only: single lookups gain little by it, and one more way in their loop may cost plain filters as much
  // (docs/tuning/evergreen.md).
  struct nine_bit_view {
    const detail::segment_trie& forest;

    TAMIS_INLINE detail::nine_bit_probe locate(digest d) const {
      const detail::segment_directory& segments = forest.segments();
      const std::uint64_t place = detail::place_of_word(d.high, segments.fine_places()).place;
      return detail::nine_bit_probe::of(segments.view(segments.at_of(place)), place);
    }
    TAMIS_INLINE void prefetch(const detail::nine_bit_probe& p) const { p.prefetch(); }
    template <class Again>
    TAMIS_INLINE bool test(const detail::nine_bit_probe& p, Again again) const {
      return is_yes(forest, p.contains(), again);
    }
  };
  // `HasRests`: slots have bits beside the byte that is compared.
  template <bool HasRests>
  struct plain_view {
    const detail::segment_trie& forest;

    TAMIS_INLINE detail::uniform_segments::probe locate(digest d) const {
      const detail::segment_directory& segments = forest.segments();
      const std::uint64_t place = detail::place_of_word(d.high, segments.fine_places()).place;
      return segments.plain().locate(segments.at_of(place), place);
    }
    TAMIS_INLINE void prefetch(const detail::uniform_segments::probe& p) const {
      forest.segments().plain().prefetch(p);
      if constexpr (HasRests) view_of(p).prefetch_rests(p.place);
    }
    TAMIS_INLINE bool test(const detail::uniform_segments::probe& p) const {
      return forest.segments().plain().contains<HasRests>(p, [&]() -> const detail::segment_view& { return view_of(p); });
    }
    TAMIS_INLINE const detail::segment_view& view_of(const detail::uniform_segments::probe& p) const {
      return forest.segments().view(forest.segments().at_of(p.place));
    }
  };
  template <class Use>
  void with_view(Use use) const {
    switch (forest_.segments().way_of_digests()) {
      case detail::lookup_way::plain:
        return forest_.segments().plain().has_rests() ? use(plain_view<true>{forest_}) : use(plain_view<false>{forest_});
      case detail::lookup_way::nine_bits: return use(nine_bit_view{forest_});
      case detail::lookup_way::near: return use(near_view{forest_});
      case detail::lookup_way::any: return use(any_view{forest_});
    }
  }
  TAMIS_INLINE void prefetch(digest d) const {
    const any_view here{forest_};
    here.prefetch(here.locate(d));
  }
  struct updates {
    evergreen& f;

    TAMIS_INLINE detail::stream_places::found locate(digest d) const { return f.forest_.find(d); }
    TAMIS_INLINE void prefetch(const detail::stream_places::found& place) const { f.forest_.prefetch_update(place); }
    TAMIS_INLINE void prefetch_more(const detail::stream_places::found&) const {}
    TAMIS_INLINE insert_result insert(const detail::stream_places::found& place) const {
      return f.insert_at(place, nullptr, nullptr);
    }
    TAMIS_INLINE erase_result erase(const detail::stream_places::found& place) const { return f.erase_at(place); }
  };
  template <class Use>
  void with_updates(Use use) {
    use(updates{*this});
  }

  friend bool operator==(const evergreen&, const evergreen&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.keys_, self.first_cell_bits_, self.fingerprint_, self.threshold_, self.generations_, self.fingerprints_,
            self.forest_);
    if constexpr (!std::is_const_v<Self>) {
      if (!archive.ok()) return;
      const std::uint64_t entries = self.forest_.entries();
      if (self.keys_ > entries) return archive.fail("it holds more keys than entries");
      if (entries > most_entries) return archive.fail("it holds more entries than can be counted");
      self.copies_ = entries - self.keys_;
    }
  }
  status validate() const;

 private:
  TAMIS_INLINE bool may_contain_plain(std::uint64_t place) const {
    const detail::segment_directory& segments = forest_.segments();
    const detail::uniform_segments& plain = segments.plain();
    const detail::uniform_segments::probe p = plain.locate(segments.at_of(place), place);
    plain.prefetch_behind(p);
    const auto view = [&]() -> const detail::segment_view& { return segments.view(segments.at_of(place)); };
    return plain.has_rests() ? plain.contains<true>(p, view) : plain.contains<false>(p, view);
  }
  TAMIS_NOINLINE bool may_contain_anyhow(std::uint64_t high, std::uint64_t low) const {
    const detail::segment_trie::probe p = forest_.probe_for(digest{high, low});
    return p.view->contains(p.place, p.beyond);
  }
  using address = detail::segment_trie::address;
  static constexpr std::uint64_t most_entries = std::uint64_t{1} << 62;  // so that no count ever overflows
  static constexpr unsigned adapt_percent = 95;                          // adapt fills segments up to here before they grow

  std::uint64_t limit(unsigned cell_bits) const { return detail::evergreen_limit(cell_bits, threshold_); }
  // Is the limit reached? Without a division: floor(x / 100) <= used if and only if x < 100 (used + 1).
  TAMIS_INLINE bool is_full(const detail::prefix_segment& segment) const {
    return std::uint64_t{threshold_} << segment.cell_bits() < 100 * (segment.used() + 1);
  }
  std::uint64_t adapt_limit(const detail::prefix_segment& segment) const {
    return std::max(detail::evergreen_limit(segment.cell_bits(), adapt_percent), limit(segment.cell_bits()));
  }

  insert_result insert_with(digest d, const remote_ref& stored) {
    const auto place = forest_.find(d);
    forest_.prefetch_update(place);
    return insert_at(place, &stored, &d);
  }
  // `pending`: the key's digest, if there is a remote.
  TAMIS_INLINE insert_result insert_at(const detail::stream_places::found& place, const remote_ref* stored,
                                       const digest* pending) {
    const detail::segment_view& view = forest_.view_of(place);
    const bool is_in = !is_full(*view.segment) && view.insert_near(place.place);
    if (!is_in && !insert_anyhow(place, stored, pending)) [[unlikely]]
      return insert_result::full;
    ++keys_;
    if (stored != nullptr) sweep_after(place, *stored);
    return insert_result::inserted;
  }
  TAMIS_NOINLINE bool insert_anyhow(const detail::stream_places::found& place, const remote_ref* stored,
                                    const digest* pending) {
    const address a = forest_.locate(place);
    return (!is_full(forest_[a]) && insert_entry(a)) || insert_growing(place, stored, pending);
  }
  bool insert_entry(const address& a) {
    if (!forest_[a].insert(a.cell, a.following)) return false;
    forest_.segments().note_entries(a.at);
    return true;
  }
  bool insert_growing(const detail::stream_places::found& place, const remote_ref* stored, const digest* pending) {
    const no_waiting for_pages;
    while (true) {
      const address a = forest_.locate(place);
      if (is_full(forest_[a]) && grow(a.at, stored, pending)) continue;
      // A segment that cannot grow uses what is left of its slots, and the runs at its end may need more of them.
      if (insert_entry(a)) return true;
      if (!forest_.widen(a.at)) return false;
    }
  }
  void sweep_after(const detail::stream_places::found& place, const remote_ref& stored) {
    try {
      sweep(forest_.locate(place).at, stored);
    } catch (const std::bad_alloc&) {
      // The key is in, and what is old can be renewed another time.
    }
  }
  TAMIS_INLINE erase_result erase_at(const detail::stream_places::found& place) {
    const address a = forest_.locate(place);
    if (!forest_[a].erase(a.cell, a.following)) return erase_result::absent;
    if (keys_ != 0) [[likely]] {
      --keys_;
    } else {
      --copies_;  // nothing was in, and a copy of what had been there looked like this key
    }
    return erase_result::erased;
  }

  unsigned fingerprint_after_growth(const detail::prefix_segment& segment, bool has_remote) const;
  bool grow(std::uint64_t at, const remote_ref* stored, const digest* pending);
  void sweep(std::uint64_t at, const remote_ref& stored);
  void renew_block(std::uint64_t at, std::uint64_t block, unsigned generations, const remote_ref& stored, std::uint64_t& scans);
  bool renew_covering(std::uint64_t at, std::uint64_t which, const remote_ref& stored, std::uint64_t& scans);
  std::uint64_t rejuvenate_all_with(const remote_ref& stored, unsigned generations);
  adapt_result adapt_with(digest d, const remote_ref& stored, detail::adapt_work& work);
  bool write(std::uint64_t at, detail::adapt_group& group, std::uint64_t most);
  static unsigned common_bits(detail::uint128 x, detail::uint128 y) {  // at the front.  Requires: x != y.
    const auto high = static_cast<std::uint64_t>((x ^ y) >> 64);
    return static_cast<unsigned>(high != 0 ? std::countl_zero(high) : 64 + std::countl_zero(static_cast<std::uint64_t>(x ^ y)));
  }
  bool add(const detail::stream_prefix& p, std::uint64_t count, const detail::stream_prefix& from, unsigned place_bits);

  friend detail::stored_access;
  evergreen() = default;

  std::uint64_t keys_ = 0;
  std::uint32_t first_cell_bits_ = 0;  // of a root when the filter was made
  std::uint32_t fingerprint_ = 0;      // F of a new filter
  std::uint32_t threshold_ = 0;        // in percent
  std::uint32_t generations_ = 0;      // g
  fingerprints fingerprints_ = fingerprints::automatic;
  detail::segment_trie forest_;
  std::uint64_t missing_ = 0;
  std::uint64_t copies_ = 0;  // not saved: it follows from the entries
};

}  // namespace tamis::inline TAMIS_LEVEL

#include "tamis/detail/growing/evergreen-inl.hpp"  // what touches the whole filter: create, expand, merge, settings, validate
#include "tamis/detail/growing/evergreen_adapt-inl.hpp"  // what needs a remote
