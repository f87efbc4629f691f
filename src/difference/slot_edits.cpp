#include "slot_edits.hpp"

#include <algorithm>
#include <bit>

namespace tamis::difference {
namespace {

constexpr std::int64_t seen_ahead = 20;  // slots that decide
constexpr std::int64_t farthest = 4;     // slots that are inserted or skipped at once
constexpr std::int64_t latest = 3;       // slots that may differ before that
constexpr unsigned worth = 6;            // bits that an edit has to save
constexpr unsigned insert_cost = 4;      // the same for each slot

constexpr std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

// The search at one place where the tables differ.
class edit_search {
 public:
  edit_search(const slot_table& table, std::span<const std::byte> old, std::span<const std::byte> wanted, const slot_editor& at)
      : at_(static_cast<std::int64_t>(at.at())),
        from_(static_cast<std::int64_t>(at.from())),
        slots_(static_cast<std::int64_t>(table.slots)),
        ahead_(std::min(seen_ahead, slots_ - at_)) {
    for (std::int64_t i = 0; i < ahead_; ++i) wanted_[index(i)] = read_slot(table, wanted, static_cast<std::uint64_t>(at_ + i));
    const auto read = [&](std::int64_t slot) {
      return slot < slots_ ? read_slot(table, old, static_cast<std::uint64_t>(slot)) : 0;
    };
    for (std::int64_t i = 0; i < seen_ahead + farthest; ++i) old_[index(i)] = read(from_ + i);
    for (std::int64_t i = 0; i < seen_ahead; ++i) home_[index(i)] = read(at_ + i);
  }

  struct edit {
    std::int64_t after = 0;  // slots
    std::int64_t by = 0;     // inserted, or skipped if negative
  };
  edit best() const {
    edit chosen;
    unsigned least = cost(chosen, ~0u);
    if (least < worth) return chosen;
    least -= worth;
    const auto attempt = [&](std::int64_t by) {
      for (std::int64_t after = 0; by != 0 && after <= std::min(latest, ahead_ - 1); ++after) {
        if (from_ + after - std::min<std::int64_t>(by, 0) > slots_ || after + by > ahead_) continue;
        if (const unsigned bits = cost({after, by}, least); bits < least) chosen = {after, by}, least = bits;
      }
    };
    for (std::int64_t by = -farthest; by <= farthest; ++by) attempt(by);
    // Where nothing else fits any more, the slots stand where they were, sooner or later.
    attempt(from_ - at_);
    return chosen;
  }

 private:
  // Not counted any further from `most` on.
  unsigned cost(edit tried, unsigned most) const {
    unsigned bits = tried.by == 0 ? 0 : insert_cost * static_cast<unsigned>(std::max<std::int64_t>(tried.by, 1));
    std::int64_t i = 0;
    for (; i < std::min(tried.after, ahead_); ++i) bits += differing(wanted_[index(i)], old_[index(i)]);
    const bool goes_home = tried.by == from_ - at_;
    std::int64_t from = i + std::max<std::int64_t>(-tried.by, 0);
    i += std::max<std::int64_t>(tried.by, 0);
    for (; i < ahead_ && bits < most; ++i, ++from)
      bits += differing(wanted_[index(i)], goes_home ? home_[index(i)] : old_[index(from)]);
    return bits;
  }
  static unsigned differing(std::uint64_t a, std::uint64_t b) { return static_cast<unsigned>(std::popcount(a ^ b)); }

  std::int64_t at_;
  std::int64_t from_;
  std::int64_t slots_;
  std::int64_t ahead_;
  std::array<std::uint64_t, index(seen_ahead)> wanted_{};
  std::array<std::uint64_t, index(seen_ahead + farthest)> old_{};  // from where the next would be copied
  std::array<std::uint64_t, index(seen_ahead)> home_{};            // that stood here
};

}  // namespace

void slot_edit_models::put_insert(bit_encoder& to, const slot_editor& at, std::uint64_t value, unsigned width) {
  to.put(true, inserts_[direction(at)]);
  for (unsigned i = 0; i < width; ++i) to.put((value >> i & 1) != 0, value_bits_[i]);
}

void slot_edit_models::put_skip(bit_encoder& to, const slot_editor& at, std::uint64_t slots) {
  to.put(false, inserts_[direction(at)]);
  skips_.put(to, slots);
}

bool slot_edit_models::replay(bit_decoder& from, slot_editor& into, const slot_table& table) {
  const unsigned width = table.width();
  for (;;) {
    const std::uint64_t copied = copies_[direction(into)].get(from);
    if (copied > into.left() || from.overrun()) return false;
    into.copy(copied);
    if (into.left() == 0) return true;
    if (from.get(inserts_[direction(into)])) {
      std::uint64_t value = 0;
      for (unsigned i = 0; i < width; ++i) value |= std::uint64_t{from.get(value_bits_[i]) ? 1u : 0u} << i;
      into.insert(value);
    } else {
      const std::uint64_t skipped = skips_.get(from);
      if (skipped == 0 || into.from() > table.slots || skipped > table.slots - into.from()) return false;
      into.skip(skipped);
    }
  }
}

void put_slot_edits(bit_encoder& to, const slot_table& table, std::span<const std::byte> old, std::span<const std::byte> wanted,
                    std::span<std::byte> made) {
  slot_edit_models models;
  const unsigned width = table.width();
  slot_editor at(table, old, made);
  // Slots that are copied are counted, and made when the next edit is known: its code depends on where it is.
  std::uint64_t copied = 0;
  const auto flush = [&] {
    models.put_copy(to, at, copied);
    at.copy(copied);
    copied = 0;
  };
  while (copied < at.left()) {
    const std::uint64_t i = at.at() + copied;
    const std::uint64_t from = at.from() + copied;
    if (i == from && i % group_slots == 0 && same_group(table, old, wanted, i / group_slots)) {
      copied += group_slots;
      continue;
    }
    if (read_slot(table, wanted, i) == (from < table.slots ? read_slot(table, old, from) : 0)) {
      ++copied;
      continue;
    }
    slot_editor here = at;
    here.pass(copied);
    const edit_search::edit found = edit_search(table, old, wanted, here).best();
    copied += static_cast<std::uint64_t>(found.by == 0 ? 1 : found.after);
    if (found.by == 0) continue;
    flush();
    if (found.by < 0) {
      const auto slots = static_cast<std::uint64_t>(-found.by);
      models.put_skip(to, at, slots);
      at.skip(slots);
      continue;
    }
    for (std::int64_t n = 0; n < found.by; ++n) {
      if (n != 0) flush();
      const std::uint64_t value = read_slot(table, wanted, at.at());
      models.put_insert(to, at, value, width);
      at.insert(value);
    }
  }
  flush();
}

}  // namespace tamis::difference
