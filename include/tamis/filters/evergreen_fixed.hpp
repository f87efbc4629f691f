#pragma once

// evergreen, made for its size: a quotient filter that adapts within a fixed budget. An entry is a prefix of its key's stream
// of bits; a false positive lengthens the entry that answered for it, by bits of its own key, in the slots of its own run:
//
//   digest   | quotient: log2(n) bits | x: r bits | more …          n: any number of quotients
//                    │
//                    ▼
//   block    64 quotients, S slots of r bits, occupied, runends, offset: r + 1 + 72/S bits a slot, at 0.95 keys a slot
//
//   plain entry        | x |                                          one slot
//   lengthened entry   | larger of x and o | smaller |                two slots, which descend: o says r - 2 bits more
//
// No bit is set aside for fixes: a run is plain as long as its first slots ascend, and nothing else tells. A fix costs as much
// as one more key. S and r are chosen so that the whole budget is spent (detail/quotient/table_shape.hpp). When a hard budget
// is full of fixes, quotients give up a bit for more slots (detail/growing/two_width_table.hpp). The invariant and its proofs
// are those of evergreen (docs/filters/evergreen.md).

#include <string>
#include <vector>

#include "tamis/concepts.hpp"
#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/growing/two_width_table.hpp"
#include "tamis/detail/hash/place.hpp"
#include "tamis/detail/io/archive.hpp"
#include "tamis/detail/quotient/table_shape.hpp"
#include "tamis/detail/remote/adapt_work.hpp"

namespace tamis::inline TAMIS_LEVEL {

class evergreen_fixed {
 public:
  using options = evergreen_fixed_options;
  enum class budget : std::uint8_t { hard, soft };

  static constexpr option_info option_table[] = {
      {"remainder", "4 to 56", "from the rate or the bits", "bits stored per key"},
      {"budget", "hard or soft", "hard for bits per key, soft for a rate",
       "when fixes fill the table: give up remainder bits, or get an eighth more slots"},
  };
  static constexpr filter_info info{
      .id = "evergreen-fixed",
      .summary = "evergreen made for its size: adapts in the slots of its keys, deletes, counts, merges",
      .paper = "tamis; after the broom filter (FOCS 2018) and the rank-and-select quotient filter (SIGMOD 2017)",
      .options = option_table,
  };

  static result<evergreen_fixed> create(const filter_params& params) {
    TAMIS_CHECK(check_params(info, params));
    constexpr std::string_view budgets[] = {"hard", "soft"};
    TAMIS_TRY(const std::uint64_t width,
              number_option(params, "remainder", 0, detail::pair_code::least_width, detail::longest_remainder));
    TAMIS_TRY(const std::string asked, choice_option(params, "budget", params.bits_per_key ? "hard" : "soft", budgets));
    // S has steps: a little more load than 0.95 often buys the next one. A soft budget leaves room for one more.
    const detail::table_range range{.least_width = detail::pair_code::least_width,
                                    .most_slots = asked == "soft" ? detail::spacing::most - 8 : detail::spacing::most,
                                    .load = 0.952};
    const auto r = static_cast<unsigned>(width);
    TAMIS_TRY(const detail::table_shape shape,
              params.fpr ? detail::table_shape_for_rate(params.capacity, *params.fpr, r, range)
                         : detail::table_shape_for_bits(params.capacity, *params.bits_per_key, r, range));
    evergreen_fixed made;
    TAMIS_TRY(made.table_, detail::two_width_table::make(shape));
    made.capacity_ = params.capacity;
    made.budget_bits_ = made.table_.bits();
    made.budget_ = asked == "soft" ? budget::soft : budget::hard;
    return made;
  }

  TAMIS_INLINE bool may_contain(digest d) const {
    switch (width()) {
      case 7: return test<7>(fingerprint_of<7>(d), [d] { return d; });
      case 8: return test<8>(fingerprint_of<8>(d), [d] { return d; });
      case 9: return test<9>(fingerprint_of<9>(d), [d] { return d; });
      default: return may_contain_of_any_width(d);
    }
  }
  // How many entries match: at least as many as copies of the key are in.
  std::uint64_t count(digest d) const {
    const position p = position_of(d);
    return table_.part(p.quotient).count(table_.local(p.quotient), p.stream);
  }

  // Adds an entry that is a prefix of the key, so they make a pair.
  [[nodiscard]] insert_result insert(digest d) {
    switch (width()) {
      case 7: return insert_at<7>(fingerprint_of<7>(d));
      case 8: return insert_at<8>(fingerprint_of<8>(d));
      case 9: return insert_at<9>(fingerprint_of<9>(d));
      default: return insert_at<0>(fingerprint_of<0>(d));
    }
  }
  // Takes out the longest match.
  erase_result erase(digest d) {
    const position p = position_of(d);
    const bool erased = width() == 7   ? table_.erase<7>(p.quotient, p.stream)
                        : width() == 8 ? table_.erase<8>(p.quotient, p.stream)
                        : width() == 9 ? table_.erase<9>(p.quotient, p.stream)
                                       : table_.erase(p.quotient, p.stream);
    return erased ? erase_result::erased : erase_result::absent;
  }

  // Pairs the entries that share the digest's quotient and remainder with the keys of the remote there, and lengthens those
  // that match by bits of their own keys until they do not. Entries without a key are dropped. If a key there has no entry,
  // filter and remote have gone apart: nothing is changed, the answer is `unfixable`, and missing() goes up. A table that is
  // full of fixes keeps the room that keys up to its capacity still need, and answers `unfixable`.
  template <remote R>
  adapt_result adapt(digest d, const R& stored) {
    return adapt_with(d, remote_ref(stored));
  }
  std::uint64_t missing() const { return missing_; }

  // All entries of both.
  status merge(const evergreen_fixed& other) {
    if (table_.quotients() != other.table_.quotients() || width() != other.width()) {
      const auto shape = [](const detail::two_width_table& t) {
        return std::to_string(t.quotients()) + " quotients, " + std::to_string(t.width()) + "-bit remainders";
      };
      return failure{"the two evergreen-fixed filters have different shapes: " + shape(table_) + " and " + shape(other.table_)};
    }
    detail::two_width_table merged = table_;
    // What has lost bits cannot get them back: the result has given up as many as either of them.
    const std::uint64_t first_wide = std::max(merged.first_wide(), other.table_.first_wide());
    const unsigned slots = std::max(merged.spaced().slots(), other.table_.spaced().slots());
    bool fits = first_wide == merged.first_wide() || give_up_bits(merged, detail::spacing(slots), first_wide);
    if (fits) {
      other.table_.for_each_run([&](std::uint64_t quotient, const detail::run_entries& entries, unsigned their_width) {
        fits = fits && merged.add(quotient, entries, their_width);
      });
    }
    if (!fits) return failure{"the two filters together do not fit into one of their size"};
    table_ = std::move(merged);
    return {};
  }

  // Calls visit(quotient, entry) for all entries, in the order of their digests.
  template <class Visit>
  void for_each(Visit visit) const {
    table_.for_each(visit);
  }
  const detail::two_width_table& table() const { return table_; }

  std::uint64_t keys() const { return table_.entries(); }
  std::uint64_t fixes() const { return table_.lengthened(); }  // entries that are longer than a slot
  std::uint64_t capacity() const { return capacity_; }
  double expected_fpr() const {
    const auto rate = [&](const detail::paired_table& part) {
      const std::uint64_t quotients = part.table().quotients();
      const unsigned r = part.table().width();
      const double plain = detail::quotient_rate(quotients, part.entries() - part.lengthened(), r);
      const double longer = detail::quotient_rate(quotients, part.lengthened(), std::min(2 * r - 2, 63u));  // bits, or more
      return (plain + longer) * static_cast<double>(quotients) / static_cast<double>(table_.quotients());
    };
    return rate(table_.wide()) + (table_.first_wide() == 0 ? 0.0 : rate(table_.narrow()));
  }
  memory_bits bits() const { return {table_.bits()}; }
  std::uint64_t budget_bits() const { return budget_bits_; }  // that it had when it was made; a hard budget is never exceeded
  option_list settings() const {
    return {{"remainder", std::to_string(width())}, {"budget", budget_ == budget::soft ? "soft" : "hard"}};
  }

  // Batches (batch.hpp).
  struct fingerprint {
    std::uint64_t quotient;
    std::uint64_t x;
  };
  template <unsigned Width>
  struct view {
    const evergreen_fixed& f;

    TAMIS_INLINE fingerprint locate(digest d) const { return f.fingerprint_of<Width>(d); }
    TAMIS_INLINE void prefetch(const fingerprint& p) const { f.table_.prefetch(p.quotient); }
    template <class Again>
    TAMIS_INLINE bool test(const fingerprint& p, Again again) const {
      return f.test<Width>(p, again);
    }
  };
  template <class Use>
  void with_view(Use use) const {
    switch (width()) {
      case 7: return use(view<7>{*this});
      case 8: return use(view<8>{*this});
      case 9: return use(view<9>{*this});
      default: return use(view<0>{*this});
    }
  }
  TAMIS_INLINE void prefetch(digest d) const { table_.prefetch(fingerprint_of<0>(d).quotient); }

  friend bool operator==(const evergreen_fixed&, const evergreen_fixed&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.capacity_, self.budget_, self.budget_bits_, self.table_);
  }
  status validate() const {
    if (detail::is_wrong(capacity_ == 0) || detail::is_wrong(capacity_ > largest_capacity) ||
        detail::is_wrong(budget_ > budget::soft))
      return failure{"its settings are out of range"};
    return {};
  }

 private:
  friend detail::stored_access;
  evergreen_fixed() = default;

  unsigned width() const { return table_.width(); }

  template <unsigned Width>
  TAMIS_INLINE fingerprint fingerprint_of(digest d) const {
    const detail::word_placed p = detail::place_of_word(d.high, table_.quotients());
    return {p.place, p.rest >> (detail::word_bits - (Width != 0 ? Width : width()))};
  }
  // The stream behind the quotient: what is left of the first word, then the second. Together with the quotient it says all of
  // the digest.
  struct position {
    std::uint64_t quotient;
    detail::uint128 stream;
  };
  TAMIS_INLINE position position_of(digest d) const {
    const detail::word_placed p = detail::place_of_word(d.high, table_.quotients());
    return {p.place, static_cast<detail::uint128>(p.rest) << 64 | d.low};
  }

  template <unsigned Width, class Again>
  TAMIS_INLINE bool test(const fingerprint& p, Again again) const {
    return table_.contains<Width>(p.quotient, p.x, [this, again] { return position_of(again()).stream; });
  }
  TAMIS_NOINLINE bool may_contain_of_any_width(digest d) const {
    return test<0>(fingerprint_of<0>(d), [d] { return d; });
  }
  template <unsigned Width>
  TAMIS_INLINE insert_result insert_at(const fingerprint& p) {
    return table_.insert<Width>(p.quotient, p.x) ? insert_result::inserted : insert_with_room(p);
  }
  // Only keys that somebody chose fill the slots behind the last quotient before all others.
  TAMIS_NOINLINE insert_result insert_with_room(fingerprint p) {
    const bool is_in = table_.part(p.quotient).make_end_room(1) && table_.insert(p.quotient, p.x);
    return is_in ? insert_result::inserted : insert_result::full;
  }

  // Slots of a part that may be in use after an adapt: 0.97 of the homes, and room for all keys that are still to come.
  std::uint64_t most_used(const detail::paired_table& part) const {
    const std::uint64_t homes = part.table().homes();
    const std::uint64_t most = homes - homes * 3 / 100;
    const double share = static_cast<double>(part.table().quotients()) / static_cast<double>(table_.quotients());
    const auto to_come = static_cast<std::uint64_t>(static_cast<double>(capacity_ - std::min(capacity_, keys())) * share);
    return most - std::min(most, to_come);
  }
  // All digests of a quotient and of the bits that a slot there has.
  digest_range range_of(const position& p, detail::pair_code code) const {
    const std::uint64_t quotients = table_.quotients();
    if (std::bit_width(quotients) + code.width() > 62) return detail::digests_of_word_place(p.quotient, quotients);
    return detail::digests_of_word_place((p.quotient << code.width()) + code.x_of(p.stream), quotients << code.width());
  }
  using stream_list = detail::short_list<detail::uint128, 24>;
  // The streams of the stored keys that have the quotient and the slot of `asked`, in order. Runs are short unless somebody
  // chose the keys: what an adapt may cost is bounded, and false says that they are more.
  bool read_keys(const position& asked, detail::pair_code code, const remote_ref& stored, stream_list& keys) const {
    std::uint64_t read = 0;
    stored.for_each_in(range_of(asked, code), [&](digest key) {
      if (++read > detail::adapt_work::most_slots) return false;
      const position p = position_of(key);
      if (p.quotient == asked.quotient && code.x_of(p.stream) == code.x_of(asked.stream)) keys.push_back(p.stream);
      return true;
    });
    std::sort(keys.begin(), keys.end());
    return read <= detail::adapt_work::most_slots;
  }
  adapt_result adapt_with(digest d, const remote_ref& stored) {
    if (!may_contain(d)) return adapt_result::not_positive;
    if (holds(stored, d)) return adapt_result::is_member;
    const position asked = position_of(d);
    fix is = fix_in(table_, asked, stored);
    if (is == fix::needs_room) {
      // In a copy: the remote is asked again, for entries that have become shorter, and may fail.
      detail::two_width_table roomier = table_;
      while (is == fix::needs_room && make_room(roomier)) is = fix_in(roomier, asked, stored);
      if (is == fix::done) table_ = std::move(roomier);
    }
    return is == fix::done ? adapt_result::fixed : adapt_result::unfixable;
  }
  enum class fix { done, needs_room, impossible };
  // Lengthens the entries of `table` that match. Unless it is done, the table is as it was.
  fix fix_in(detail::two_width_table& table, const position& asked, const remote_ref& stored) {
    using outcome = detail::paired_table::adapted::outcome;
    detail::paired_table& part = table.part(asked.quotient);
    stream_list keys;
    if (!read_keys(asked, part.code(), stored, keys)) return fix::impossible;
    const std::uint64_t most = most_used(part);
    const auto adapted = part.adapt(table.local(asked.quotient), asked.stream, {keys.data(), keys.size()}, most);
    if (adapted.is == outcome::fixed) return fix::done;
    missing_ += adapted.is == outcome::missing;
    // More slots help if fixes have filled the table, not if one run has filled its end.
    const bool is_full = part.table().used() + 2 * keys.size() + 2 > most;
    return adapted.is == outcome::no_room && is_full ? fix::needs_room : fix::impossible;
  }
  // More slots per block. False, and nothing has changed, if there are no more, or none that the budget allows.
  bool make_room(detail::two_width_table& table) const {
    const unsigned slots = table.spaced().slots();
    if (slots == detail::spacing::most) return false;
    if (budget_ == budget::hard) return give_up_bits(table, detail::spacing(detail::spacing::after(slots)), table.first_wide());
    auto more = table.laid_out(table.first_wide(), detail::spacing(detail::spacing::raised(slots)));
    if (!more) return false;
    table = *std::move(more);
    return true;
  }
  // S slots per block within the budget, and `least` quotients, or as many more as that takes, without their last bit.
  bool give_up_bits(detail::two_width_table& table, detail::spacing s, std::uint64_t least) const {
    const auto first_wide = table.first_wide_for(s, budget_bits_, least);
    if (!first_wide) return false;
    auto narrower = table.laid_out(*first_wide, s);
    if (!narrower) return false;
    table = *std::move(narrower);
    return true;
  }

  std::uint64_t capacity_ = 0;
  budget budget_ = budget::hard;
  std::uint64_t budget_bits_ = 0;  // of a hard budget: as many as it had when it was made
  detail::two_width_table table_;
  std::uint64_t missing_ = 0;
};

}  // namespace tamis::inline TAMIS_LEVEL
