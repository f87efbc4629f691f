#pragma once

// A paired table that can give up remainder bits for slots, so that it never takes more memory than it was given. Its first
// quotients have slots of r - 1 bits, all others slots of r bits:
//
//   quotient   0            first_wide            n
//              | r - 1 bits | r bits              |       S slots for 64 quotients in both, at first first_wide = 0
//
// When it is full of fixes it is laid out anew with more slots per block, and just so many quotients give up a bit that the
// bits suffice. An entry that loses bits is still a prefix of its key's stream, so the invariant holds. The two parts are
// tables of their own: a lookup compares its quotient with first_wide and knows the width.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/growing/paired_table.hpp"
#include "tamis/detail/quotient/table_shape.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

class two_width_table {
 public:
  two_width_table() = default;
  static result<two_width_table> make(const table_shape& shape) {
    two_width_table made;
    TAMIS_TRY(made.wide_, paired_table::make(shape.quotients, shape.spare, spacing(shape.slots), shape.width));
    return made;
  }

  std::uint64_t quotients() const { return first_wide_ + wide_.table().quotients(); }
  std::uint64_t first_wide() const { return first_wide_; }  // a multiple of 64; 0: no quotient has given up a bit
  TAMIS_INLINE unsigned width() const { return wide_.table().width(); }
  spacing spaced() const { return wide_.table().spaced(); }
  std::uint64_t bits() const { return wide_.table().bits() + narrow_.table().bits(); }
  std::uint64_t used() const { return wide_.table().used() + narrow_.table().used(); }
  std::uint64_t entries() const { return wide_.entries() + narrow_.entries(); }
  std::uint64_t lengthened() const { return wide_.lengthened() + narrow_.lengthened(); }
  const paired_table& wide() const { return wide_; }
  const paired_table& narrow() const { return narrow_; }  // says nothing if first_wide() is 0

  // The table that has the quotient, and the quotient's number there.
  const paired_table& part(std::uint64_t quotient) const { return quotient < first_wide_ ? narrow_ : wide_; }
  paired_table& part(std::uint64_t quotient) { return quotient < first_wide_ ? narrow_ : wide_; }
  std::uint64_t local(std::uint64_t quotient) const { return quotient < first_wide_ ? quotient : quotient - first_wide_; }

  TAMIS_INLINE void prefetch(std::uint64_t quotient) const { part(quotient).table().prefetch(local(quotient)); }

  // `x`: the first r bits of the stream, in both parts.
  template <unsigned Width = 0, class Stream>
  TAMIS_INLINE bool contains(std::uint64_t quotient, std::uint64_t x, Stream stream) const {
    if (quotient < first_wide_) [[unlikely]]
      return contains_narrow<Width>(quotient, x, stream);
    return wide_.contains<Width>(quotient - first_wide_, x, stream);
  }
  template <unsigned Width = 0>
  TAMIS_INLINE bool insert(std::uint64_t quotient, std::uint64_t x) {
    if (quotient < first_wide_) [[unlikely]]
      return insert_narrow<Width>(quotient, x);
    return wide_.insert<Width>(quotient - first_wide_, x);
  }
  template <unsigned Width = 0>
  bool erase(std::uint64_t quotient, uint128 stream) {
    return quotient < first_wide_ ? narrow_.erase<narrower(Width)>(quotient, stream)
                                  : wide_.erase<Width>(quotient - first_wide_, stream);
  }

  // Adds entries of a table whose quotients have this width or one bit more. False if there is no room.
  bool add(std::uint64_t quotient, const run_entries& entries, unsigned their_width) {
    paired_table& to = part(quotient);
    run_entries all = to.entries_of(local(quotient));
    for (const run_entry& e : entries) all.push_back(their_width == to.table().width() ? e : shortened(e));
    return to.write_with_room(local(quotient), all);
  }

  // Calls visit(quotient, entries, their width) for every quotient that has any, in order.
  template <class Visit>
  void for_each_run(Visit visit) const {
    const auto in = [&](const paired_table& part, std::uint64_t first) {
      part.for_each_run(
          [&](std::uint64_t quotient, const run_entries& entries) { visit(first + quotient, entries, part.table().width()); });
    };
    if (first_wide_ != 0) in(narrow_, 0);
    in(wide_, first_wide_);
  }
  // Calls visit(quotient, entry) for all entries, in the order of their streams.
  template <class Visit>
  void for_each(Visit visit) const {
    if (first_wide_ != 0) narrow_.for_each(visit);
    wide_.for_each([&](std::uint64_t quotient, const run_entry& e) { visit(first_wide_ + quotient, e); });
  }

  // The least first_wide, at least `least`, with which tables of S slots per block take at most `bits`. None if there is none.
  std::optional<std::uint64_t> first_wide_for(spacing s, std::uint64_t bits, std::uint64_t least) const {
    const auto fits = [&](std::uint64_t blocks) {
      const auto needed = bits_with(blocks * block_quotients, s);
      return needed && *needed <= static_cast<double>(bits);
    };
    std::uint64_t low = least / block_quotients;
    std::uint64_t high = (quotients() - 1) / block_quotients;  // the last quotient stays wide
    if (fits(low)) return least;
    if (width() == pair_code::least_width || high <= low || !fits(high)) return std::nullopt;
    while (high - low > 1) {  // low does not fit, high does
      const std::uint64_t middle = low + (high - low) / 2;
      (fits(middle) ? high : low) = middle;
    }
    return high * block_quotients;
  }
  // The same entries with S slots per block, where the quotients before `first_wide` have given up their last bit. An error if
  // they do not fit, or if there is no memory for it; this table stays as it is.
  // Requires: a multiple of 64, at least first_wide(), less than quotients().
  result<two_width_table> laid_out(std::uint64_t first_wide, spacing s) const {
    two_width_table made;
    if (first_wide == 0) {
      TAMIS_TRY(made.wide_, wide_.respaced(s, wide_.table().slots() - wide_.table().homes()));
      return made;
    }
    dense_runs narrow(first_wide, width() - 1);
    dense_runs wide(quotients() - first_wide, width());
    // An entry that gives up a bit may need a slot more.
    narrow.reserve(used() + wide_.lengthened());
    wide.reserve(wide_.table().used());
    if (first_wide_ != 0) {
      dense_runs::of(narrow_.table()).for_each_run([&](std::uint64_t quotient, std::span<const std::uint64_t> slots) {
        narrow.append(quotient, slots);
      });
    }
    run_entries entries;
    run_slots shorter;
    dense_runs::of(wide_.table()).for_each_run([&](std::uint64_t quotient, std::span<const std::uint64_t> slots) {
      quotient += first_wide_;
      if (quotient >= first_wide) return wide.append(quotient - first_wide, slots);
      pair_code(width()).decode([&](std::uint64_t i) { return slots[i]; }, slots.size(), entries);
      for (run_entry& e : entries) e = shortened(e);
      pair_code(width() - 1).encode(entries, shorter);
      narrow.append(quotient, shorter);
    });
    narrow.finish();
    wide.finish();
    made.first_wide_ = first_wide;
    TAMIS_TRY(made.narrow_, paired_table::laid_out(narrow, spare_of(first_wide, s), s));
    TAMIS_TRY(made.wide_, paired_table::laid_out(wide, spare_of(quotients() - first_wide, s), s));
    return made;
  }

  friend bool operator==(const two_width_table&, const two_width_table&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.first_wide_, self.wide_);
    if constexpr (!std::is_const_v<Self>) {
      if (!archive.ok()) return;
    }
    if (self.first_wide_ != 0) archive(self.narrow_);
  }
  status validate() const {
    if (first_wide_ == 0) return {};
    const spaced_table& narrow = narrow_.table();
    if (is_wrong(first_wide_ % block_quotients != 0) || is_wrong(narrow.quotients() != first_wide_) ||
        is_wrong(narrow.width() + 1 != width()) || is_wrong(narrow.spaced() != spaced()) ||
        is_wrong(wide_.table().quotients() > most_quotients) || is_wrong(first_wide_ > most_quotients)) {
      return failure{"the two parts of its table do not belong together"};
    }
    return {};
  }

 private:
  static constexpr unsigned narrower(unsigned width) { return width == 0 ? 0 : width - 1; }
  // An entry of the wide part as one of the narrow part, in as many slots or one more.
  run_entry shortened(const run_entry& e) const { return pair_code(width() - 1).prefix(e.bits, e.level); }
  static std::uint64_t spare_of(std::uint64_t quotients, spacing s) {
    return quotient_spare(spaced_table::homes_of(quotients, s));
  }
  std::optional<double> bits_with(std::uint64_t first_wide, spacing s) const {
    const std::uint64_t left = quotients() - first_wide;
    const auto wide = bits_of({left, spare_of(left, s), s.slots(), width()});
    if (first_wide == 0 || !wide) return wide;
    const auto narrow = bits_of({first_wide, spare_of(first_wide, s), s.slots(), width() - 1});
    return narrow ? std::optional(*wide + *narrow) : narrow;
  }

  template <unsigned Width, class Stream>
  TAMIS_NOINLINE bool contains_narrow(std::uint64_t quotient, std::uint64_t x, Stream stream) const {
    return narrow_.contains<narrower(Width)>(quotient, x >> 1, stream);
  }
  template <unsigned Width>
  TAMIS_NOINLINE bool insert_narrow(std::uint64_t quotient, std::uint64_t x) {
    return narrow_.insert<narrower(Width)>(quotient, x >> 1);
  }

  std::uint64_t first_wide_ = 0;
  paired_table wide_;
  paired_table narrow_;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
