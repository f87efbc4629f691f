#pragma once

// A quotient table of entries that are prefixes of their keys' streams: plain ones of one slot each, and lengthened ones coded
// in the slots of their run (detail/quotient/pair_code.hpp). In the uniform format all plain entries have as many bits; in the
// aged one they may have lost some to their quotient. Where a stream is meant here, it is what follows the quotient.
//
// The invariant: all keys can be paired with entries of their quotient so that every entry is a prefix of its key's stream. Two
// prefixes are nested or have no stream in common; what each operation does to the invariant follows from that
// (docs/filters/evergreen.md has the proofs).

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/growing/match_prefixes.hpp"
#include "tamis/detail/quotient/dense_runs.hpp"
#include "tamis/detail/quotient/end_room.hpp"
#include "tamis/detail/quotient/pair_code.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

// What a table knows of its entries.
struct entry_counts {
  std::uint64_t entries = 0;
  std::uint64_t lengthened = 0;  // of these
  std::uint64_t lost = 0;        // by plain ones: 2^b - 1 for b bits

  // Of an aged slot.
  static std::uint64_t weight_lost(std::uint64_t slot) { return lowest_bit(slot) - 1; }
  void add(const run_entries& all) {
    entries += all.size();
    for (const run_entry& e : all) {
      if (e.level != 0) {
        ++lengthened;
      } else {
        lost += (std::uint64_t{1} << e.lost) - 1;
      }
    }
  }
};

class paired_table {
 public:
  paired_table() = default;
  // Without a table, for those who load one.
  explicit paired_table(slot_format format) : format_(format) {}
  // Requires: pair_code::least_width <= width.
  static result<paired_table> make(std::uint64_t quotients, std::uint64_t spare, spacing s, unsigned width,
                                   slot_format format = slot_format::uniform) {
    paired_table made(format);
    TAMIS_TRY(made.table_, spaced_table::make(quotients, spare, s, width));
    return made;
  }

  // The same entries with another number of slots in a block. An error if they do not fit, or if there is no memory for it;
  // this table stays as it is.
  result<paired_table> respaced(spacing s, std::uint64_t spare) const {
    paired_table made(format_);
    TAMIS_TRY(made.table_, tamis::detail::respaced(table_, s, spare));
    made.entries_ = entries_;
    made.lengthened_ = lengthened_;
    made.lost_ = lost_;
    return made;
  }

  // A table of coded runs.
  static result<paired_table> laid_out(const dense_runs& runs, std::uint64_t spare, spacing s,
                                       slot_format format = slot_format::uniform) {
    paired_table made(format);
    TAMIS_TRY(made.table_, runs.laid_out(spare, s));
    made.count_entries(runs);
    return made;
  }
  // The same, if it is known what they hold.
  static result<paired_table> laid_out(const dense_runs& runs, std::uint64_t spare, spacing s, slot_format format,
                                       const entry_counts& counts) {
    paired_table made(format);
    TAMIS_TRY(made.table_, runs.laid_out(spare, s));
    made.entries_ = counts.entries;
    made.lengthened_ = counts.lengthened;
    made.lost_ = counts.lost;
    return made;
  }

  // Where it stands in memory: segment_tree::fill_hole().
  bool is_behind(const paired_table& other) const { return table_.memory().is_behind(other.table_.memory()); }
  void move_up() noexcept { table_.move_up(); }

  const spaced_table& table() const { return table_; }
  slot_format format() const { return format_; }
  pair_code code() const { return pair_code(table_.width(), format_); }
  std::uint64_t entries() const { return entries_; }
  std::uint64_t lengthened() const { return lengthened_; }  // of the entries
  // What plain entries accept, in shares of what one accepts that has lost no bit: 2^b for one that has lost b bits.
  std::uint64_t plain_weight() const { return entries_ - lengthened_ + lost_; }

  // Is an entry of the quotient a prefix of the stream? `x`: as many of its first bits as a slot has; stream() is called if
  // that is not enough. `Format` is format(), here and in all that follows.
  template <unsigned Width = 0, slot_format Format = slot_format::uniform, class Stream>
  TAMIS_INLINE bool contains(std::uint64_t quotient, std::uint64_t x, Stream stream) const {
    const std::uint8_t* const record = table_.memory().record(quotient / block_quotients);
    const run_in_block run = table_.find_in_block<Width>(record, quotient);
    const block_memory& memory = table_.memory();
    const std::uint64_t candidates = memory.matching_bytes<Width, Format>(record, x) & run.slots;
    if (run.leaves) [[unlikely]]
      return contains_far<Width, Format>(quotient, x, stream);
    if (candidates == 0) return false;
    if (!memory.has_only_bytes<Width>() && (candidates & memory.matching<Width, Format>(record, x)) == 0) return false;
    if (!table_.memory().begins_descending<Width>(record, run.slots)) [[likely]]
      return true;
    return matches_in_run(quotient, stream());
  }
  // How many entries match.
  std::uint64_t count(std::uint64_t quotient, uint128 stream) const {
    const run_entries entries = entries_of(quotient);
    return static_cast<std::uint64_t>(
        std::count_if(entries.begin(), entries.end(), [&](const run_entry& e) { return code().matches(e, stream); }));
  }
  run_entries entries_of(std::uint64_t quotient) const {
    run_entries entries;
    decode(table_.find(quotient), entries);
    return entries;
  }

  // Adds a plain entry that has lost no bit, a prefix of its key. False, and nothing has changed, if there is no room.
  template <unsigned Width = 0, slot_format Format = slot_format::uniform>
  TAMIS_INLINE bool insert(std::uint64_t quotient, std::uint64_t x) {
    if constexpr (Format == slot_format::aged) x |= 1;
    if (!table_.insert_ordered_in_block<Width>(quotient, x) && !insert_slowly<Width>(quotient, x)) return false;
    ++entries_;
    return true;
  }

  // Room for `more` slots behind the last run, if fewer than all homes are in use (detail/quotient/end_room.hpp). False, and
  // nothing has changed, if there is none.
  bool make_end_room(std::uint64_t more) { return tamis::detail::make_end_room(table_, more); }

  // Takes out the longest match. If it was another key's, then that key also matches what was this key's, which is shorter.
  // False if there is none.
  template <unsigned Width = 0, slot_format Format = slot_format::uniform>
  bool erase(std::uint64_t quotient, uint128 stream) {
    slot_run run = table_.find(quotient);
    if (run.size == 0) return false;
    if (run.size > 1 && table_.descends<Width>(run.first)) return erase_in_mixed(quotient, stream);
    const auto at = longest_plain<Width, Format>(run, code().x_of(stream));
    if (!at) return false;
    if constexpr (Format == slot_format::aged) lost_ -= weight_lost(table_.value<Width>(*at));
    table_.close<Width>(quotient, run, *at);
    --entries_;
    if (run.size > 1 && table_.descends<Width>(run.first)) order_plain(run, 0);  // what has closed up may descend
    return true;
  }

  // The quotient's run becomes these entries. False, and nothing has changed, if there is no room, or if more than `most` slots
  // would be in use and more than now.
  bool write(std::uint64_t quotient, const run_entries& entries, std::uint64_t most = ~std::uint64_t{0}) {
    const slot_run run = table_.find(quotient);
    run_entries before;
    decode(run, before);
    run_slots slots;
    code().encode(entries, slots);
    if (slots.size() > run.size && table_.used() - run.size + slots.size() > most) return false;
    if (!table_.assign(quotient, {slots.data(), slots.size()})) return false;
    entries_ += entries.size() - before.size();
    lengthened_ += long_ones(entries) - long_ones(before);
    lost_ += weight_lost(entries) - weight_lost(before);
    return true;
  }

  // The longest match gets all bits that a plain entry can have.  Requires: the stream is that of a key.
  void rejuvenate(std::uint64_t quotient, uint128 stream) {
    if (format_ == slot_format::uniform) return;
    const slot_run run = table_.find(quotient);
    if (run.size == 0) return;
    const std::uint64_t plain = plain_from(run);
    if (plain != 0 && matches_long(run, stream)) return;
    const slot_run plain_ones{table_.advanced(run.first, plain), run.size - plain};
    const auto at = longest_plain<0, slot_format::aged>(plain_ones, code().x_of(stream));
    if (!at) return;
    lost_ -= weight_lost(table_.value(*at));
    table_.set_value(*at, code().x_of(stream) | 1);
    order_plain(run, plain);
  }

  // Bits of the quotient's shortest entry that is a prefix of the stream. None if there is none.
  std::optional<unsigned> shortest_match(std::uint64_t quotient, uint128 stream) const {
    std::optional<unsigned> shortest;
    const pair_code c = code();
    for (const run_entry& e : entries_of(quotient)) {
      if (c.matches(e, stream) && (!shortest || c.length(e) < *shortest)) shortest = c.length(e);
    }
    return shortest;
  }

  // The same with more slots behind the last quotient, if that is what it needs.
  bool write_with_room(std::uint64_t quotient, const run_entries& entries) {
    if (write(quotient, entries)) return true;
    run_slots slots;
    code().encode(entries, slots);
    return make_end_room(slots.size() - table_.find(quotient).size) && write(quotient, entries);
  }

  struct adapted {
    enum class outcome { fixed, unfixable, not_positive, no_room, missing };
    outcome is;
    std::uint64_t dropped = 0;  // entries that nobody owned
  };
  // Makes the entries of the quotient say no to the stream `y`, which is no key's: each that matches is lengthened by bits of
  // its own key until it differs. `keys`: all streams that are stored under the quotient and have the bits of y's shortest
  // match, in order; others may be among them. The entries that extend it are exactly theirs, so that they can be paired; those
  // that have lost bits get them back. Entries without a key are dropped. What is not `fixed` has changed nothing: `missing`,
  // if a key has no entry; `no_room`, if more than `most` slots would be in use.
  adapted adapt(std::uint64_t quotient, uint128 y, std::span<const uint128> keys, std::uint64_t most) {
    using outcome = adapted::outcome;
    const pair_code c = code();
    const std::optional<unsigned> shortest = shortest_match(quotient, y);
    if (!shortest) return {outcome::not_positive};
    const stream_prefix outermost{0, c.first_bits(y, *shortest), *shortest};
    short_list<stream_prefix, 24> group;  // the entries that extend the shortest match
    run_entries after;                    // all others, at first
    short_list<run_entry, 24> members;
    for (const run_entry& e : entries_of(quotient)) {
      if (c.length(e) < *shortest || !outermost.matches(e.bits)) {
        after.push_back(e);
      } else {
        group.push_back({0, e.bits, c.length(e)});
        members.push_back(e);
      }
    }
    const auto first = std::find_if(keys.begin(), keys.end(), [&](uint128 key) { return outermost.matches(key); });
    const auto last = std::find_if_not(first, keys.end(), [&](uint128 key) { return outermost.matches(key); });
    keys = {first, last};
    const prefix_matching pairing = match_longest_first({group.data(), group.size()}, keys);
    if (pairing.keys_left != 0) return {outcome::missing};
    std::uint64_t dropped = 0;
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (pairing.owner[i] == nobody) {
        ++dropped;
        continue;
      }
      run_entry e = members[i];
      const uint128 key = keys[pairing.owner[i]];
      if (c.matches(e, y)) {
        const unsigned level = c.level_of(common_bits(key, y) + 1);
        if (level > c.highest_level()) return {outcome::unfixable};
        e = c.prefix(key, level);
      } else if (e.lost != 0) {
        e = c.prefix(key, e.level);
      }
      after.push_back(e);
    }
    if (!write(quotient, after, most)) return {outcome::no_room};
    return {outcome::fixed, dropped};
  }

  // Calls visit(quotient, entries) for every quotient that has any, in order.
  template <class Visit>
  void for_each_run(Visit visit) const {
    run_entries entries;
    dense_runs::of(table_).for_each_run([&](std::uint64_t quotient, std::span<const std::uint64_t> slots) {
      decode(slots, entries);
      visit(quotient, std::as_const(entries));
    });
  }
  // Calls visit(quotient, entry) for all entries, in the order of their streams.
  template <class Visit>
  void for_each(Visit visit) const {
    run_entries entries;
    dense_runs::of(table_).for_each_run([&](std::uint64_t quotient, std::span<const std::uint64_t> slots) {
      decode(slots, entries);
      std::sort(entries.begin(), entries.end(), [&](const run_entry& a, const run_entry& b) {
        return a.bits != b.bits ? a.bits < b.bits : code().length(a) < code().length(b);
      });
      for (const run_entry& e : entries) visit(quotient, e);
    });
  }

  // Bits in common at the front, 128 at most.
  static unsigned common_bits(uint128 a, uint128 b) {
    const auto high = static_cast<std::uint64_t>((a ^ b) >> 64);
    const auto low = static_cast<std::uint64_t>(a ^ b);
    return static_cast<unsigned>(high != 0 ? std::countl_zero(high) : 64 + std::countl_zero(low));
  }

  friend bool operator==(const paired_table&, const paired_table&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.table_);
    if constexpr (!std::is_const_v<Self>) {
      if (!archive.ok()) return;
      if (is_wrong(self.table_.width() < pair_code::least_width) || is_wrong(!self.count_entries()))
        archive.fail("the slots of a run are no entries");
    }
  }

 private:
  // False if the run's slots are no entries, which only a file can have.
  bool decode(const slot_run& run, run_entries& entries) const {
    return code().decode([&](std::uint64_t i) { return table_.value(table_.advanced(run.first, i)); }, run.size, entries);
  }
  bool decode(std::span<const std::uint64_t> slots, run_entries& entries) const {
    return code().decode([&](std::uint64_t i) { return slots[i]; }, slots.size(), entries);
  }
  static std::uint64_t long_ones(const run_entries& entries) {
    return static_cast<std::uint64_t>(
        std::count_if(entries.begin(), entries.end(), [](const run_entry& e) { return e.level != 0; }));
  }

  static std::uint64_t weight_lost(std::uint64_t slot) { return entry_counts::weight_lost(slot); }
  static std::uint64_t weight_lost(const run_entries& entries) {
    std::uint64_t all = 0;
    for (const run_entry& e : entries) all += e.level == 0 ? (std::uint64_t{1} << e.lost) - 1 : 0;
    return all;
  }

  template <unsigned Width, slot_format Format, class Stream>
  TAMIS_NOINLINE bool contains_far(std::uint64_t quotient, std::uint64_t x, Stream stream) const {
    const slot_run run = table_.find_far<Width>(quotient);
    if (!table_.find_value<Width, Format>(run, x)) return false;
    return run.size == 1 || !table_.descends<Width>(run.first) || matches_in_run(quotient, stream());
  }
  TAMIS_NOINLINE bool matches_in_run(std::uint64_t quotient, uint128 stream) const {
    const slot_run run = table_.find(quotient);
    if (matches_long(run, stream)) return true;
    const std::uint64_t plain = plain_from(run);
    const slot_run plain_ones{table_.advanced(run.first, plain), run.size - plain};
    const std::uint64_t x = code().x_of(stream);
    return format_ == slot_format::uniform ? table_.find_value(plain_ones, x).has_value()
                                           : table_.find_value<0, slot_format::aged>(plain_ones, x).has_value();
  }
  // Is a lengthened entry of the run a prefix of the stream?
  bool matches_long(const slot_run& run, uint128 stream) const {
    const pair_code c = code();
    const auto at = [&](std::uint64_t i) { return table_.value(table_.advanced(run.first, i)); };
    for (std::uint64_t from = 0;;) {
      const auto one = c.parse(at, from, run.size);
      if (one->slots == 0) return false;
      if (c.matches(one->entry, stream)) return true;
      from += one->slots;
    }
  }
  // Of slots that are all plain, the one of the longest match.
  template <unsigned Width, slot_format Format>
  std::optional<block_slot> longest_plain(const slot_run& run, std::uint64_t x) const {
    if constexpr (Format == slot_format::uniform) return table_.find_value<Width>(run, x);
    std::optional<block_slot> longest;
    std::uint64_t least = 0;  // what it has lost
    block_slot at = run.first;
    for (std::uint64_t left = run.size; left != 0; --left, at = table_.next(at)) {
      const std::uint64_t slot = table_.value<Width>(at);
      const std::uint64_t lost = weight_lost(slot);
      if (((slot ^ x) & ~(2 * lost + 1)) != 0 || (longest && lost >= least)) continue;
      longest = at;
      least = lost;
    }
    return longest;
  }

  // The first two plain slots of a run, the first of which is its slot `plain`, shall not descend.
  void order_plain(const slot_run& run, std::uint64_t plain) {
    if (run.size < plain + 2) return;
    const block_slot first = table_.advanced(run.first, plain);
    const block_slot second = table_.next(first);
    const std::uint64_t a = table_.value(first);
    const std::uint64_t b = table_.value(second);
    if (a <= b) return;
    table_.set_value(first, b);
    table_.set_value(second, a);
  }
  // Where the plain entries of a run begin.
  std::uint64_t plain_from(const slot_run& run) const {
    const auto at = [&](std::uint64_t i) { return table_.value(table_.advanced(run.first, i)); };
    std::uint64_t from = 0;
    while (const std::uint64_t slots = code().parse(at, from, run.size)->slots) from += slots;
    return from;
  }
  template <unsigned Width>
  TAMIS_NOINLINE bool insert_slowly(std::uint64_t quotient, std::uint64_t x) {
    slot_run run = table_.find(quotient);
    if (run.size > 1 && table_.descends<Width>(run.first)) return insert_in_mixed(quotient, run, x);
    const block_slot first = run.first;
    const std::uint64_t was_first = run.size == 0 ? 0 : table_.value<Width>(first);
    if (!table_.open<Width>(quotient, run, first)) return false;
    table_.set_value<Width>(first, run.size == 1 ? x : std::min(x, was_first));
    if (run.size != 1) table_.set_value<Width>(table_.next(first), std::max(x, was_first));
    return true;
  }
  bool insert_in_mixed(std::uint64_t quotient, slot_run& run, std::uint64_t x) {
    const std::uint64_t plain = plain_from(run);
    const block_slot at = table_.advanced(run.first, plain);
    if (!table_.open(quotient, run, at)) return false;
    table_.set_value(at, x);
    order_plain(run, plain);
    return true;
  }
  TAMIS_NOINLINE bool erase_in_mixed(std::uint64_t quotient, uint128 stream) {
    run_entries entries = entries_of(quotient);
    run_entry* longest = nullptr;
    for (run_entry& e : entries) {
      if (code().matches(e, stream) && (longest == nullptr || code().length(e) > code().length(*longest))) longest = &e;
    }
    if (longest == nullptr) return false;
    entries.erase(longest);
    write(quotient, entries);  // it takes fewer slots
    return true;
  }

  // What is known of the entries, from the slots. False if these are no entries.
  bool count_entries(const dense_runs& runs) {
    entries_ = lengthened_ = lost_ = 0;
    bool sound = true;
    run_entries entries;
    runs.for_each_run([&](std::uint64_t, std::span<const std::uint64_t> slots) {
      if (slots.size() == 1 || slots[0] <= slots[1]) {
        entries_ += slots.size();
        if (format_ == slot_format::uniform) return;
        for (const std::uint64_t slot : slots) {
          sound = sound && slot != 0;
          lost_ += weight_lost(slot);
        }
        return;
      }
      sound = sound && decode(slots, entries);
      if (!sound) return;
      entries_ += entries.size();
      lengthened_ += long_ones(entries);
      lost_ += weight_lost(entries);
    });
    return sound;
  }

  // The same of the table. All slots are counted as plain ones at first, a block at a time, and then what is coded is put
  // right.
  bool count_entries() {
    const bool is_aged = format_ == slot_format::aged;
    const auto all = is_aged ? table_.add_up_lowest_ones() : spaced_table::lowest_ones{table_.used()};
    entries_ = table_.used();
    lengthened_ = 0;
    lost_ = all.sum - table_.used();
    std::uint64_t zeros = all.zeros;
    bool sound = true;
    run_entries entries;
    table_.for_each_descending_run([&](const slot_run& run) {
      sound = sound && decode(run, entries);
      if (!sound) return;
      entries_ -= run.size - entries.size();
      lengthened_ += long_ones(entries);
      if (!is_aged) return;
      table_.for_each_value(run, [&](std::uint64_t slot) {
        lost_ -= weight_lost(slot);
        zeros -= static_cast<std::uint64_t>(slot == 0);
      });
      lost_ += weight_lost(entries);
    });
    return sound && zeros == 0;
  }

  spaced_table table_;
  slot_format format_ = slot_format::uniform;
  std::uint64_t entries_ = 0;
  std::uint64_t lengthened_ = 0;
  std::uint64_t lost_ = 0;  // by all plain entries: 2^b - 1 for b bits
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
