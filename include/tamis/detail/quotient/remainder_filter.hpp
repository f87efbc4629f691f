#pragma once

// A quotient filter without anything else in its slots than remainders, on any table of runs: what rsqf and quotient do. Copies
// of a key take a slot each and are erased one by one.

#include <algorithm>
#include <vector>

#include "tamis/detail/quotient/quotient_fingerprints.hpp"
#include "tamis/detail/quotient/run_search.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

template <class Table>
class remainder_filter : public quotient_fingerprints<Table> {
  using base = quotient_fingerprints<Table>;
  // Can the table look for values that it knows to be bytes? Remainders of eight bits are what most users have.
  static constexpr bool has_bytes = requires(const Table& t) { t.template may_contain<8>(0, 0); };
  static constexpr bool moves_blocks = requires(const Table& t) { t.prefetch_ahead(0); };  // as whole ones, in changes

 public:
  using base::fingerprint_of;
  using typename base::fingerprint;

  [[nodiscard]] insert_result insert(digest d) {
    if constexpr (has_bytes) {
      if (table_.width() == 8) [[likely]]
        return insert_alone<8>(base::template fingerprint_of<8>(d));
    }
    return insert_wide(fingerprint_of(d));
  }

  TAMIS_INLINE bool may_contain(digest d) const {
    if constexpr (has_bytes) {
      if (table_.width() == 8) return test<8>(base::template fingerprint_of<8>(d));
    }
    return test<0>(fingerprint_of(d));
  }

  erase_result erase(digest d) {
    if constexpr (has_bytes) {
      if (table_.width() == 8) [[likely]]
        return erase_alone<8>(base::template fingerprint_of<8>(d));
    }
    return erase_wide(fingerprint_of(d));
  }

  // How many keys have this fingerprint.
  std::uint64_t count(digest d) const {
    const fingerprint f = fingerprint_of(d);
    slot_range run = table_.find(f.quotient);
    std::uint64_t copies = 0;
    while ((run.first = table_.find_value(run, f.remainder)) != run.last) ++copies, ++run.first;
    return copies;
  }

  // Calls visit for the fingerprint of every key, in the order of their digests.
  template <class Visit>
  void for_each(Visit visit) const {
    std::vector<std::uint64_t> remainders;
    table_.for_each_run([&](std::uint64_t quotient, slot_range run) {
      remainders.clear();
      for (std::uint64_t slot = run.first; slot < run.last; ++slot) remainders.push_back(table_.value(slot));
      std::sort(remainders.begin(), remainders.end());
      for (const std::uint64_t remainder : remainders) visit(fingerprint{quotient, remainder});
    });
  }

  std::uint64_t keys() const { return table_.used(); }
  double expected_fpr() const { return quotient_rate(table_.quotients(), keys(), table_.width()); }

  // Batches (batch.hpp).
  template <unsigned Width>
  struct view {
    const remainder_filter& f;

    TAMIS_INLINE fingerprint locate(digest d) const { return f.template fingerprint_of<Width>(d); }
    TAMIS_INLINE void prefetch(const fingerprint& p) const { f.table_.prefetch(p.quotient); }
    TAMIS_INLINE bool test(const fingerprint& p) const { return f.template test<Width>(p); }
  };
  template <class Use>
  void with_view(Use use) const {
    if constexpr (has_bytes) {
      if (table_.width() == 8) return use(view<8>{*this});
    }
    use(view<0>{*this});
  }

  template <unsigned Width>
  struct updates {
    remainder_filter& f;
    bool moves_far;  // at the batch's begin

    TAMIS_INLINE fingerprint locate(digest d) const { return f.template fingerprint_of<Width>(d); }
    TAMIS_INLINE void prefetch(const fingerprint& p) const {
      f.table_.prefetch_header(p.quotient);
      f.template prefetch_slots<Width>(p, moves_far);
    }
    TAMIS_INLINE void prefetch_more(const fingerprint&) const {}
    TAMIS_INLINE insert_result insert(const fingerprint& p) const { return f.template insert_as<Width>(p); }
    TAMIS_INLINE erase_result erase(const fingerprint& p) const { return f.template erase_as<Width>(p); }
  };
  template <class Use>
  void with_updates(Use use) requires(moves_blocks) {
    if (table_.width() == 8) return use(updates<8>{*this, table_.moves_far()});
    use(updates<0>{*this, table_.moves_far()});
  }

  friend bool operator==(const remainder_filter&, const remainder_filter&) = default;

 protected:
  using base::table_;

  remainder_filter() = default;

  template <unsigned Width>
  TAMIS_INLINE bool test(const fingerprint& f) const {
    if constexpr (Width == 8) return table_.template contains<8>(f.quotient, f.remainder);
    return table_.contains(f.quotient, f.remainder);
  }

  // What a change touches beside the header, which it reads first: so it waits for both at once.
  template <unsigned Width>
  TAMIS_INLINE void prefetch_slots(const fingerprint& f, bool moves_far) const {
    table_.template prefetch_slot<Width>(f.quotient);
    if (moves_far) table_.prefetch_ahead(f.quotient);
  }
  template <unsigned Width>
  TAMIS_INLINE void prefetch_update(const fingerprint& f) const {
    if constexpr (moves_blocks) {
      prefetch_slots<Width>(f, table_.moves_far());
    } else {
      table_.prefetch(f.quotient);
    }
  }
  template <unsigned Width>
  TAMIS_INLINE insert_result insert_alone(const fingerprint& f) {
    prefetch_update<Width>(f);
    return insert_as<Width>(f);
  }
  template <unsigned Width>
  TAMIS_INLINE erase_result erase_alone(const fingerprint& f) {
    prefetch_update<Width>(f);
    return erase_as<Width>(f);
  }

  // What works always stands out of line, and so do widths other than eight: the common way then has registers enough.
  template <unsigned Width>
  TAMIS_INLINE insert_result insert_as(const fingerprint& f) {
    if constexpr (requires { table_.template open_in_two<Width>(f.quotient, f.remainder); }) {
      if (table_.open_at_home(f.quotient)) {
        table_.template set_value<Width>(f.quotient, f.remainder);
        return insert_result::inserted;
      }
      if (table_.template open_in_two<Width>(f.quotient, f.remainder)) [[likely]]
        return insert_result::inserted;
    }
    return insert_slowly(f.quotient, f.remainder);
  }
  TAMIS_NOINLINE insert_result insert_wide(fingerprint f) { return insert_alone<0>(f); }
  TAMIS_NOINLINE insert_result insert_slowly(std::uint64_t quotient, std::uint64_t remainder) {
    const auto gap = find_or_make_gap(table_, quotient);
    if (!gap) return insert_result::full;
    table_.open(quotient, *gap);
    table_.set_value(gap->at, remainder);
    return insert_result::inserted;
  }

  template <unsigned Width>
  TAMIS_INLINE erase_result erase_as(const fingerprint& f) {
    if constexpr (requires { table_.template erase_in_two<Width>(f.quotient, f.remainder); }) {
      if (table_.is_alone(f.quotient)) {
        if (table_.template value<Width>(f.quotient) != f.remainder) return erase_result::absent;
        table_.close_alone(f.quotient);
        return erase_result::erased;
      }
      if (const auto erased = table_.template erase_in_two<Width>(f.quotient, f.remainder)) {
        return *erased ? erase_result::erased : erase_result::absent;
      }
    }
    return erase_slowly(f.quotient, f.remainder);
  }
  TAMIS_NOINLINE erase_result erase_wide(fingerprint f) { return erase_alone<0>(f); }
  TAMIS_NOINLINE erase_result erase_slowly(std::uint64_t quotient, std::uint64_t remainder) {
    const slot_range run = table_.find(quotient);
    const std::uint64_t slot = table_.find_value(run, remainder);
    if (slot == run.last) return erase_result::absent;
    table_.close(quotient, run, slot);
    return erase_result::erased;
  }

  // One pass through both tables.
  status merge_tables(const remainder_filter& other, const filter_info& info) {
    TAMIS_CHECK(same_shape(table_, other.table_, info));
    TAMIS_TRY(table_, Table::merged(table_, other.table_));
    return {};
  }
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
