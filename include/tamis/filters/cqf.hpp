#pragma once

// The counting quotient filter (Pandey, Bender, Johnson and Patro, "A general-purpose counting filter", SIGMOD 2017): a
// rank-and-select quotient filter whose runs are sorted and hold counts. A key that is in a thousand times takes four slots,
// not a thousand.
//
//   digest   | quotient: log2(n) bits | remainder: r bits | not used |
//   run      | 3 | 7 7 | 9 1 4 9 | 12 |        3 once, 7 twice, 9 so often as 1 4 says, 12 once:
//   detail/quotient/run_counters.hpp 64 slots | occupied 64 | runends 64 | offset 8 |  · · ·  | r | r | r | … | r |       r
//   + 2.125 bits a slot

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/io/archive.hpp"
#include "tamis/detail/quotient/quotient_fingerprints.hpp"
#include "tamis/detail/quotient/rank_select.hpp"
#include "tamis/detail/quotient/run_counters.hpp"

namespace tamis::inline TAMIS_LEVEL {

class cqf : public detail::quotient_fingerprints<detail::rank_select<>> {
 public:
  using options = remainder_options;
  static constexpr option_info option_table[] = {{"remainder", "2 to 56", "from the rate or the bits", "bits of a slot"}};
  static constexpr filter_info info{
      .id = "cqf",
      .summary = "counting quotient filter: counts in variable-length counters inside the runs",
      .paper = "Pandey, Bender, Johnson, Patro: A general-purpose counting filter (SIGMOD 2017)",
      .options = option_table,
  };

  static result<cqf> create(const filter_params& params) {
    TAMIS_TRY(const detail::quotient_shape shape,
              detail::quotient_shape_of(info, params, detail::quotient_metadata, detail::run_counters::least_width));
    cqf made;
    const unsigned width = std::max(shape.remainder, detail::run_counters::least_width);
    TAMIS_TRY(made.table_, detail::rank_select<>::make(shape.quotients, shape.spare, width));
    made.capacity_ = params.capacity;
    return made;
  }

  [[nodiscard]] insert_result insert(digest d) {
    const fingerprint f = fingerprint_of(d);
    const detail::slot_range run = table_.find(f.quotient);
    const found at = find(run, f.remainder);
    if (!rewrite(f, run, at, at.count + 1)) return insert_result::full;
    ++keys_;
    fingerprints_ += at.count == 0;
    return insert_result::inserted;
  }

  // Most keys that are not in do not even meet their remainder; what they meet may also be a digit.
  TAMIS_INLINE bool may_contain(digest d) const {
    const fingerprint f = fingerprint_of(d);
    return table_.contains(f.quotient, f.remainder) && find(table_.find(f.quotient), f.remainder).count != 0;
  }

  erase_result erase(digest d) {
    const fingerprint f = fingerprint_of(d);
    const detail::slot_range run = table_.find(f.quotient);
    const found at = find(run, f.remainder);
    if (at.count == 0) return erase_result::absent;
    rewrite(f, run, at, at.count - 1);
    --keys_;
    fingerprints_ -= at.count == 1;
    return erase_result::erased;
  }

  std::uint64_t count(digest d) const {
    const fingerprint f = fingerprint_of(d);
    return find(table_.find(f.quotient), f.remainder).count;
  }

  // One pass through both, adding up the counts of equal fingerprints.
  status merge(const cqf& other) {
    TAMIS_CHECK(detail::same_shape(table_, other.table_, info));
    if (keys_ + other.keys_ < keys_) return failure{"the two filters together hold more keys than can be counted"};
    cqf both;
    both.capacity_ = capacity_;
    const std::uint64_t slots = std::max(table_.slots(), other.table_.slots());
    TAMIS_TRY(both.table_, detail::rank_select<>::make(table_.quotients(), slots - table_.quotients(), table_.width()));
    std::uint64_t end = 0;
    const bool fits = detail::for_each_run_of_both(table_, other.table_,
                                                   [&](std::uint64_t quotient, detail::slot_range x, detail::slot_range y) {
                                                     std::vector<detail::counted_remainder> all;
                                                     read(x, all);
                                                     other.read(y, all);
                                                     return both.append_run(quotient, std::move(all), end);
                                                   });
    if (!fits) return failure{"the two filters together do not fit into one of their size"};
    *this = std::move(both);
    return {};
  }

  // Calls visit(fingerprint, count) in the order of digests.
  template <class Visit>
  void for_each(Visit visit) const {
    table_.for_each_run([&](std::uint64_t quotient, detail::slot_range run) {
      std::vector<detail::counted_remainder> all;
      read(run, all);
      for (const detail::counted_remainder& c : all) visit(fingerprint{quotient, c.remainder}, c.count);
    });
  }

  // Without keys, of the same shape.
  result<cqf> emptied() const {
    cqf made;
    TAMIS_TRY(made.table_, detail::emptied_table(table_));
    made.capacity_ = capacity_;
    return made;
  }

  std::uint64_t keys() const { return keys_; }  // with their copies
  // The share of all fingerprints that are in: they are distinct.
  double expected_fpr() const {
    return std::ldexp(static_cast<double>(fingerprints_) / static_cast<double>(table_.quotients()),
                      -static_cast<int>(table_.width()));
  }

  friend bool operator==(const cqf&, const cqf&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.capacity_, self.keys_, self.fingerprints_, self.table_);
  }
  status validate() const {
    if (detail::is_wrong(table_.width() < detail::run_counters::least_width) ||
        detail::is_wrong(table_.width() > detail::longest_remainder)) {
      return failure{"the remainders have " + std::to_string(table_.width()) + " bits: 2 to 56 are allowed"};
    }
    totals all;
    const bool sound = table_.width() <= 8    ? add_up_blocks<std::uint8_t>(all)
                       : table_.width() <= 16 ? add_up_blocks<std::uint16_t>(all)
                                              : add_up_blocks<std::uint64_t>(all);
    if (!sound) return failure{"a run of the table is not sorted, or a counter in it is not one"};
    if (detail::is_wrong(all.keys != keys_) || detail::is_wrong(all.fingerprints != fingerprints_))
      return failure{"the table holds another number of keys than it says"};
    return {};
  }

 private:
  // Where a remainder stands in its run, or would stand: its slots are [first, last), none if its count is 0.
  struct found {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::uint64_t count = 0;
  };
  found find(detail::slot_range run, std::uint64_t remainder) const {
    const detail::run_counters counters(table_.width());
    const auto at = [this](std::uint64_t slot) { return table_.value(slot); };
    for (std::uint64_t slot = run.first; slot < run.last;) {
      const detail::run_counters::parsed here = counters.parse(at, slot, run.last);
      if (here.counted.remainder == remainder) return {slot, slot + here.slots, here.counted.count};
      if (here.counted.remainder > remainder) return {slot, slot, 0};
      slot += here.slots;
    }
    return {run.last, run.last, 0};
  }

  // Gives a remainder another count. A count that goes up by one takes at most one slot more, so that either all of it fits or
  // nothing has changed.
  bool rewrite(const fingerprint& f, detail::slot_range run, found at, std::uint64_t count) {
    std::vector<std::uint64_t> slots;
    if (count != 0) detail::run_counters(table_.width()).append({f.remainder, count}, slots);
    std::uint64_t have = at.last - at.first;
    assert(slots.size() <= have + 1);
    if (have < slots.size()) {
      auto gap = detail::find_or_make_gap(table_, f.quotient);
      if (!gap) return false;
      if (run.empty()) at.first = gap->at;
      gap->at = at.first;
      table_.open(f.quotient, *gap);
    }
    for (; have > slots.size(); --have, --run.last) table_.close(f.quotient, run, at.first);
    for (std::size_t i = 0; i < slots.size(); ++i) table_.set_value(at.first + i, slots[i]);
    return true;
  }

  void read(detail::slot_range run, std::vector<detail::counted_remainder>& all) const {
    const detail::run_counters counters(table_.width());
    const auto at = [this](std::uint64_t slot) { return table_.value(slot); };
    for (std::uint64_t slot = run.first; slot < run.last;) {
      const detail::run_counters::parsed here = counters.parse(at, slot, run.last);
      all.push_back(here.counted);
      slot += here.slots;
    }
  }
  bool append_run(std::uint64_t quotient, std::vector<detail::counted_remainder> all, std::uint64_t& end) {
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.remainder < b.remainder; });
    std::vector<std::uint64_t> slots;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i + 1 < all.size() && all[i + 1].remainder == all[i].remainder) {
        all[i + 1].count += all[i].count;
        continue;
      }
      detail::run_counters(table_.width()).append(all[i], slots);
      keys_ += all[i].count;
      ++fingerprints_;
    }
    const auto run = detail::append_with_room(table_, quotient, slots.size(), end);
    if (!run) return false;
    for (std::size_t i = 0; i < slots.size(); ++i) table_.set_value(run->first + i, slots[i]);
    return true;
  }

  struct totals {
    std::uint64_t keys = 0;
    std::uint64_t fingerprints = 0;
  };
  // A counter of three or four slots, as most are that are more than a pair: x d x, or x 0 d x with d > x. By values of up to
  // 16 bits, so that sums of them are far from 2^64.
  struct short_counter {
    unsigned slots = 0;       // 0: it is not one
    std::uint64_t extra = 0;  // keys beyond one for each slot
  };
  // `behind`: how many of the slots a, b, c behind x, which exceeds a, are known to belong to its run.
  static short_counter short_counter_of(std::uint64_t x, std::uint64_t a, std::uint64_t b, std::uint64_t c, unsigned behind) {
    if (behind >= 2 && b == x && a != 1) return {3, a == 0 ? 0 : a - 1};
    if (behind >= 3 && a == 0 && b > x && c == x && b != 2) return {4, b - 3};
    return {};
  }

  // Are all runs what append would have made? Adds their counts. In most runs remainders ascend that are in once or twice,
  // which is a key a slot and is seen block by block, or as often as a short counter says. What is left is read.
  template <class Word>
  bool add_up_blocks(totals& all) const {
    constexpr unsigned block_slots = detail::rank_select<>::block_slots;
    constexpr unsigned ahead = 3;  // slots of the next block that a counter may reach
    constexpr bool has_short_counters = sizeof(Word) <= 2;
    std::array<Word, block_slots + ahead> values;
    std::vector<std::uint64_t> scratch;
    std::uint64_t keys = 0;
    std::uint64_t read_to = 0;        // the runs that end here or before have been read, if they needed it
    std::uint64_t pair_before = 0;    // do the last slot of the block before and the one behind it make a pair?
    std::uint64_t inside_before = 0;  // the block's first slots, if they belong to a counter from before; or may descend
    std::uint64_t descends_before = 0;
    for (std::uint64_t block = 0; block < table_.blocks(); ++block) {
      const std::uint64_t first = block * block_slots;
      const std::uint64_t used = used_slots(block);
      table_.read_block(block, values.data());
      const bool is_last = block + 1 == table_.blocks();
      for (unsigned i = 0; i < ahead; ++i)
        values[block_slots + i] = is_last ? Word{0} : static_cast<Word>(table_.value(first + block_slots + i));
      const detail::neighbour_order order = detail::order_of_neighbours(values.data());
      const std::uint64_t followed = followed_slots(block);
      const std::uint64_t pairs = order.equal & followed;
      const std::uint64_t behind_pairs = pairs << 1 | pair_before;
      std::uint64_t descending = followed & ~order.ascends & ~descends_before;
      std::uint64_t inside = inside_before;
      std::uint64_t counters = 0;  // where they begin
      inside_before = descends_before = 0;
      if (has_short_counters && descending != 0) {
        const std::uint64_t next_followed = is_last ? 0 : followed_slots(block + 1);
        std::uint64_t left = descending & ~inside;
        if constexpr (sizeof(Word) == 1) {
          // Counters of three slots, if there are no others.
          const std::uint64_t threes = left & (followed >> 1 | next_followed << (block_slots - 1)) &
                                       detail::equal_to_second_next(values.data()) & ~detail::equal_bytes(values.data() + 1, 1);
          const std::uint64_t theirs = threes << 1 | threes << 2;
          if ((threes & theirs) == 0 && (left & ~threes & ~theirs) == 0) {
            left = 0;
            counters = threes;
            descending &= ~threes;
            inside |= theirs;
            inside_before = threes >> (block_slots - 1) | threes >> (block_slots - 2);
            all.fingerprints -= 2 * std::uint64_t{detail::popcount(threes)};
            for (std::uint64_t more = threes & ~detail::equal_bytes(values.data() + 1, 0); more != 0; more &= more - 1)
              keys += values[static_cast<unsigned>(std::countr_zero(more)) + 1] - 1u;
          }
        }
        for (; left != 0; left &= left - 1) {
          const auto i = static_cast<unsigned>(std::countr_zero(left));
          if ((inside >> i & 1) != 0) continue;
          const std::uint64_t run = followed >> i | (i == 0 ? 0 : next_followed << (block_slots - i));
          const auto behind = static_cast<unsigned>(std::countr_one(run));
          const short_counter counter = short_counter_of(values[i], values[i + 1], values[i + 2], values[i + 3], behind);
          if (counter.slots == 0) continue;
          keys += counter.extra;
          all.fingerprints -= counter.slots - 1;
          const std::uint64_t bit = std::uint64_t{1} << i;
          const std::uint64_t others = detail::low_mask(counter.slots - 1);
          const std::uint64_t high = counter.slots == 4 ? 1 : 0;  // d, which exceeds the x behind it
          counters |= bit;
          descending &= ~(bit | high << 2 << i);
          inside |= others << 1 << i;
          if (i + counter.slots > block_slots) {
            inside_before = others >> (block_slots - 1 - i);
            if (high != 0 && i + 2 >= block_slots) descends_before = std::uint64_t{1} << (i + 2 - block_slots);
          }
        }
      }
      std::uint64_t odd = descending | (pairs & (behind_pairs | inside)) | (counters & behind_pairs);
      pair_before = pairs >> (block_slots - 1);
      keys += detail::popcount(used);
      all.fingerprints += std::uint64_t{detail::popcount(used)} - detail::popcount(pairs);
      while (true) {
        if (read_to > first)
          odd = detail::high_bits(odd, static_cast<unsigned>(std::min<std::uint64_t>(read_to - first, block_slots)));
        if (odd == 0) break;
        const detail::slot_range run = run_around(first + static_cast<unsigned>(std::countr_zero(odd)));
        keys -= run.size();
        all.fingerprints -= run.size();
        take_back<has_short_counters>(run, keys, all.fingerprints);
        if (!add_up(run, scratch, all)) return false;
        read_to = run.last;
      }
    }
    return add_keys(keys, all);
  }
  std::uint64_t used_slots(std::uint64_t block) const { return ~detail::rank_select<>::free_slots(table_.header(block)); }
  // Slots whose run goes on behind them.
  std::uint64_t followed_slots(std::uint64_t block) const { return used_slots(block) & ~table_.header(block).runends; }
  // What add_up_blocks has said of a run's pairs and counters, or will say.
  template <bool HasShortCounters>
  void take_back(detail::slot_range run, std::uint64_t& keys, std::uint64_t& fingerprints) const {
    const auto value = [&](std::uint64_t slot) { return slot < run.last ? table_.value(slot) : 0; };
    std::uint64_t counted_to = run.first;
    for (std::uint64_t slot = run.first; slot + 1 < run.last; ++slot) {
      fingerprints += static_cast<std::uint64_t>(value(slot) == value(slot + 1));
      if (!HasShortCounters || slot < counted_to || value(slot) <= value(slot + 1)) continue;
      const auto behind = static_cast<unsigned>(std::min<std::uint64_t>(run.last - 1 - slot, 3));
      const short_counter counter = short_counter_of(value(slot), value(slot + 1), value(slot + 2), value(slot + 3), behind);
      if (counter.slots == 0) continue;
      keys -= counter.extra;
      fingerprints += counter.slots - 1;
      counted_to = slot + counter.slots;
    }
  }
  static bool add_keys(std::uint64_t keys, totals& all) {
    all.keys += keys;
    return !detail::is_wrong(all.keys < keys);
  }
  // The run that a slot belongs to.
  detail::slot_range run_around(std::uint64_t slot) const {
    constexpr unsigned block_slots = detail::rank_select<>::block_slots;
    std::uint64_t block = slot / block_slots;
    unsigned before = static_cast<unsigned>(slot % block_slots);
    std::uint64_t others = 0;  // slots before it that are the last of their run, or free
    while (true) {
      const detail::block_header header = table_.header(block);
      others = detail::low_bits(header.runends | detail::rank_select<>::free_slots(header), before);
      if (others != 0 || block == 0) break;
      --block;
      before = block_slots;
    }
    return {block * block_slots + static_cast<unsigned>(std::bit_width(others)), table_.runend_after(slot, 1) + 1};
  }
  bool add_up(detail::slot_range run, std::vector<std::uint64_t>& scratch, totals& all) const {
    const detail::run_counters counters(table_.width());
    const auto at = [this](std::uint64_t slot) { return table_.value(slot); };
    std::uint64_t least = 0;  // of the next remainder
    for (std::uint64_t slot = run.first; slot < run.last;) {
      const auto [counted, slots] = counters.parse(at, slot, run.last);
      if (detail::is_wrong(counted.remainder < least) || !add_keys(counted.count, all)) return false;
      ++all.fingerprints;
      // Of up to three slots only `x d x` has another form, if d stands for nothing.
      if (slots > 3 || (slots == 3 && counted.count == 3 && at(slot + 1) != 0)) {
        scratch.clear();
        counters.append(counted, scratch);
        if (detail::is_wrong(scratch.size() != slots)) return false;
        for (std::uint64_t i = 0; i < slots; ++i) {
          if (detail::is_wrong(at(slot + i) != scratch[i])) return false;
        }
      }
      slot += slots;
      least = counted.remainder + 1;
    }
    return true;
  }

  friend detail::stored_access;
  cqf() = default;

  std::uint64_t keys_ = 0;
  std::uint64_t fingerprints_ = 0;
};

}  // namespace tamis::inline TAMIS_LEVEL
