#pragma once

// InfiniFilter (Dayan, Bercea, Reviriego, Pagh, SIGMOD 2023): a quotient filter that doubles when it is full. Every entry then
// gives a bit of its fingerprint to its place, and new entries are as long as ever: an entry's age is coded in what it has
// lost.
//
//   key's stream   | place: q bits | fingerprint: F bits | …         a slot of F + 1 bits: fingerprint · 1 · 0^age
//   expand         | q + 1           | F - 1               |         the same prefix of the stream: no answer changes
//
// An entry that has no bit left, a void, cannot be placed in a larger table. It moves into the secondary, a table 2^(F+1) times
// smaller, where the end of its place is its fingerprint; the secondary doubles just before the active one, and when its own
// oldest entries are voids it stays as it is, the newest of the chain, and a new secondary begins:
//
//   prefix    short ◄──────────────────────────────────────────────► long
//             chain: oldest … newest     secondary     active           each has longer prefixes than all before it
//
// So the longest prefix that matches a key is found first in the active table, then the secondary, then the chain from young to
// old. Erasing and rejuvenating take the longest match: if it was another key's, that key also matches what was this key's.
//
// mode=basic has the active table only, so that it cannot expand when it has voids; mode=growing gives new entries the length
// of equation 6, and keeps the rate that was asked for. docs/filters/infini.md says what differs from the paper.

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <iterator>
#include <new>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tamis/concepts.hpp"
#include "tamis/detail/base/table_list.hpp"
#include "tamis/detail/bits/bitmap.hpp"
#include "tamis/detail/growing/variable_length_table.hpp"
#include "tamis/detail/hash/place.hpp"
#include "tamis/detail/io/archive.hpp"
#include "tamis/detail/math/growth.hpp"
#include "tamis/detail/math/quotient.hpp"

namespace tamis::inline TAMIS_LEVEL {

class infini {
 public:
  using options = infini_options;
  enum class kind : std::uint8_t { basic, chained, growing };

  static constexpr option_info option_table[] = {
      {"fingerprint", "1 to 56", "from the rate or the bits", "bits stored per new key, F"},
      {"threshold", "50 to 95", "80", "slots in use, in percent of the places, at which the filter doubles"},
      {"mode", "basic, chained or growing", "growing with a rate, else chained",
       "growing: new fingerprints get longer, the rate is kept; basic: F expansions at most"},
  };
  static constexpr filter_info info{
      .id = "infini",
      .summary = "InfiniFilter: doubles without its keys; young fingerprints are long, old ones short",
      .paper = "Dayan, Bercea, Reviriego, Pagh: InfiniFilter: Expanding Filters to Infinity and Beyond (SIGMOD 2023)",
      .options = option_table,
  };

  static result<infini> create(const filter_params& params);

  // A place in the active table, and the bits that follow it in the digest's first word, with zeros behind them.
  struct address {
    std::uint64_t quotient;
    std::uint64_t suffix;

    // The same in a table that has doubled `less` times less.  Requires: 1 <= less < 64.
    TAMIS_INLINE address above(unsigned less) const {
      return {quotient >> less, quotient << (detail::word_bits - less) | suffix >> less};
    }
  };
  TAMIS_INLINE address locate(digest d) const {
    const detail::word_placed p = detail::place_of_word(d.high, active_.quotients());
    return {p.place, p.rest};
  }

  TAMIS_INLINE bool may_contain(digest d) const { return may_contain(locate(d)); }
  TAMIS_INLINE bool may_contain(const address& a) const {
    if (hints_.say_look(a.quotient)) [[unlikely]]
      return may_contain_anywhere(a.quotient, a.suffix);
    return active_.wide_contains(a.quotient, a.suffix);
  }
  // How many entries match: at least as many as copies of the key are in.
  std::uint64_t count(digest d) const {
    const address a = locate(d);
    std::uint64_t matches = active_.count(a.quotient, a.suffix);
    for (const older_table& t : older_) {
      const address there = in(t, a);
      matches += t.table.count(there.quotient, there.suffix);
    }
    return matches;
  }

  // Doubles the table first where the threshold is reached.
  [[nodiscard]] TAMIS_INLINE insert_result insert(digest d) {
    if (active_.used() >= limit_ && !make_room()) [[unlikely]]
      return insert_result::full;
    const address a = locate(d);
    active_.prefetch_update(a.quotient);  // the slots are needed after the header has been waited for: wait for both at once
    return active_.insert(a.quotient, a.suffix) || insert_wider(a) ? insert_result::inserted : insert_result::full;
  }

  // Contracts where a quarter of the threshold is reached, but never below the first size.
  erase_result erase(digest d) {
    const address a = locate(d);
    active_.prefetch_update(a.quotient);
    if (!active_.erase(a.quotient, a.suffix) && !erase_older(a)) return erase_result::absent;
    if (active_.used() <= limit_ / 4 && level_ != 0) contract_if_possible();
    return erase_result::erased;
  }

  // After a true positive: the longest match gets the length of a new entry, in the active table. False if nothing matches, or
  // if there is no room for what comes from the secondary or the chain.  Requires: the key is in.
  bool rejuvenate(digest d) {
    const address a = locate(d);
    return active_.renew(a.quotient, a.suffix) || (!older_.empty() && rejuvenate_older(d));
  }
  // The same for all digests of a range, as a compaction or a garbage collection meets them. Answers how many were found.
  template <std::ranges::input_range Digests>
  std::uint64_t rejuvenate_all(Digests&& digests);

  // Twice the places, now and not at the threshold. An error, and nothing has changed, if there are voids and mode=basic.
  status expand();
  // Half the places. Entries as long as new ones lose their last bit, voids of the secondary come back. An error, and nothing
  // has changed, if the filter has its first size.
  status contract();

  // Calls visit(which table, quotient, entry) for all entries: table 0 is the active one, 1 the secondary, the chain follows.
  template <class Visit>
  void for_each(Visit visit) const {
    active_.for_each([&](std::uint64_t quotient, const detail::prefix_entry& e) { visit(0u, quotient, e); });
    for (unsigned i = 0; i < older_.size(); ++i) {
      older_[i].table.for_each([&](std::uint64_t quotient, const detail::prefix_entry& e) { visit(i + 1, quotient, e); });
    }
  }

  // How many times the filter has doubled since it had its first size, and so for the tables that for_each names.
  unsigned expansions() const { return level_; }
  unsigned expansions_of(unsigned table) const { return table == 0 ? level_ : older_[table - 1].level; }
  // The active table, the secondary and the chain.
  unsigned tables() const { return 1 + static_cast<unsigned>(older_.size()); }
  std::uint64_t places() const { return active_.quotients(); }
  unsigned fingerprint() const { return active_.longest(); }  // bits of a new entry now

  // Without keys, as it was before it grew.
  result<infini> emptied() const;

  std::uint64_t keys() const {
    std::uint64_t all = active_.used();
    for (const older_table& t : older_) all += t.table.used();
    return all;
  }
  // Entries at which the active table doubles.
  std::uint64_t capacity() const { return limit_; }
  double expected_fpr() const {
    double rejected = 1.0 - active_.accepted();
    for (const older_table& t : older_) rejected *= 1.0 - t.table.accepted();
    return std::max(1.0 - rejected, std::ldexp(static_cast<double>(keys()), -64));  // what one word of a digest can tell apart
  }
  memory_bits bits() const {
    std::uint64_t all = active_.bits();
    for (const older_table& t : older_) all += t.table.bits();
    return {all + hints_.bits() + 8 * older_.capacity() * sizeof(older_table)};
  }
  option_list settings() const;

  // Batches (batch.hpp).
  struct view {
    const infini& f;

    TAMIS_INLINE address locate(digest d) const { return f.locate(d); }
    TAMIS_INLINE void prefetch(const address& a) const { f.prefetch(a); }
    TAMIS_INLINE bool test(const address& a) const { return f.may_contain(a); }
  };
  template <class Use>
  void with_view(Use use) const {
    use(view{*this});
  }
  TAMIS_INLINE void prefetch(digest d) const { prefetch(locate(d)); }
  TAMIS_INLINE void prefetch(const address& a) const {
    active_.prefetch(a.quotient);
    hints_.prefetch(a.quotient);
  }
  // An update needs the active table only.
  TAMIS_INLINE void prefetch_insert(digest d) const { active_.prefetch_update(locate(d).quotient); }

  friend bool operator==(const infini& a, const infini& b) {
    return a.first_ == b.first_ && a.fingerprint_ == b.fingerprint_ && a.threshold_ == b.threshold_ && a.kind_ == b.kind_ &&
           a.level_ == b.level_ && a.active_ == b.active_ && a.older_ == b.older_;
  }

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.first_, self.fingerprint_, self.threshold_, self.kind_, self.level_, self.active_, self.older_);
    if constexpr (!std::is_const_v<Self>) {
      if (!archive.ok() || !self.validate().ok()) return;  // the archive finds the same, and says it
      if (status made = self.note_shape(); !made.ok()) archive.fail(made.message());
    }
  }
  status validate() const;

 private:
  static constexpr unsigned most_level = 62;
  static constexpr std::uint64_t most_places = std::uint64_t{1} << 62;
  static constexpr unsigned most_percent = 95;  // a filter that cannot expand fills up to here

  // The secondary, or one of the chain: a table that has doubled `level` times. It holds prefixes of level to reach() bits
  // behind a place of the first size.
  struct older_table {
    std::uint32_t level = 0;
    detail::variable_length_table table = detail::stored_access::blank<detail::variable_length_table>();

    unsigned reach() const { return level + table.longest(); }

    friend bool operator==(const older_table&, const older_table&) = default;
    template <class Self, class Archive>
    static void visit(Self& self, Archive& archive) {
      archive(self.level, self.table);
    }
  };

  // Which keys have to ask more than the active table, which are few. The secondary's quotients have 32 hints each, one for
  // each of the values of the next five bits, or as many as the active table has quotients there; where a hint is zero, no
  // entry of any older table matches. What is erased leaves its hint until the tables are made anew. If the active table's
  // slots are narrower than a byte, all keys go the slow way.
  class older_hints {
   public:
    static constexpr unsigned hint_bits = 5;

    // For a filter that has doubled `level` times.  Requires: sound tables of lower levels.
    static result<older_hints> make(std::uint64_t first, unsigned level, std::span<const older_table* const> tables);
    // One hint for all quotients.
    static result<older_hints> make_same(bool hint);

    std::uint64_t bits() const { return ones_.bits(); }
    TAMIS_INLINE bool say_look(std::uint64_t quotient) const { return ones_.get(quotient >> down_); }
    TAMIS_INLINE void prefetch(std::uint64_t quotient) const { ones_.prefetch(quotient >> down_); }

   private:
    detail::bitmap ones_;
    unsigned down_ = 0;  // a hint stands for 2^down_ quotients of the active table
  };

  static std::uint64_t limit_of(std::uint64_t places, std::uint64_t percent) {
    return std::max<std::uint64_t>(1, places / 100 * percent + places % 100 * percent / 100);
  }
  // Bits of a new entry in a filter that has doubled so many times.
  unsigned length_at(unsigned level) const {
    return kind_ == kind::growing
               ? std::min(detail::growing_length(fingerprint_, level), detail::variable_length_table::longest_payload)
               : fingerprint_;
  }
  TAMIS_INLINE address in(const older_table& t, const address& a) const { return a.above(level_ - t.level); }

  TAMIS_NOINLINE bool may_contain_anywhere(std::uint64_t quotient, std::uint64_t suffix) const {
    return active_.contains(quotient, suffix) || older_contain({quotient, suffix});
  }
  bool older_contain(const address& a) const {
    return std::any_of(older_.begin(), older_.end(), [&](const older_table& t) {
      const address there = in(t, a);
      return t.table.contains(there.quotient, there.suffix);
    });
  }

  bool insert_wider(const address& a);

  bool erase_older(const address& a);
  bool rejuvenate_older(digest d);
  bool make_room();
  void contract_if_possible();
  result<older_table> new_secondary() const;
  result<older_table> grown_secondary() const;
  result<older_hints> hints_for(unsigned level, const older_table* secondary, bool replaces) const;
  status note_shape();
  void note_limit();

  friend detail::stored_access;
  infini() = default;

  std::uint64_t first_ = 1;        // places of a new filter
  std::uint32_t fingerprint_ = 1;  // F of a new filter
  std::uint32_t threshold_ = 80;   // in percent
  kind kind_ = kind::chained;
  std::uint32_t level_ = 0;  // places = first_ << level_
  detail::variable_length_table active_ = detail::stored_access::blank<detail::variable_length_table>();
  detail::table_list<older_table> older_;  // the secondary, then the chain from young to old
  // From the tables and the threshold.
  older_hints hints_;
  std::uint64_t limit_ = 1;  // entries at which the active table doubles
};

}  // namespace tamis::inline TAMIS_LEVEL

#include "tamis/detail/growing/infini-inl.hpp"  // what touches whole tables: create, expand, contract, older tables, validate
