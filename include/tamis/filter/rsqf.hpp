#pragma once

// The rank-and-select quotient filter (Pandey, Bender, Johnson and Patro, "A general-purpose counting filter", SIGMOD 2017): a
// key's fingerprint is cut into a quotient, which is its place, and a remainder, which is stored there.
//
//   digest   | quotient: log2(n) bits | remainder: r bits | not used |
//                    │
//                    ▼
//   64 slots | occupied 64 | runends 64 | offset 8 |  · · ·  | r | r | r | … | r |       r + 2.125 bits a slot
//
// The table behind it is table/rank_select.hpp. Copies of a key take a slot each and are erased one by one.

#include <algorithm>
#include <vector>

#include "tamis/filter/quotient_fingerprints.hpp"
#include "tamis/io/archive.hpp"

namespace tamis::inline TAMIS_LEVEL {

class rsqf : public quotient_fingerprints {
 public:
  static constexpr option_info options[] = {{"remainder", "1 to 56", "from the rate or the bits", "bits stored per key"}};
  static constexpr filter_info info{
      .id = "rsqf",
      .summary = "rank-and-select quotient filter: deletes, merges, iterates in order",
      .paper = "Pandey, Bender, Johnson, Patro: A general-purpose counting filter (SIGMOD 2017)",
      .options = options,
  };

  static result<rsqf> create(const filter_params& params) {
    TAMIS_TRY(const quotient_shape shape, quotient_shape_of(info, params, quotient_metadata));
    rsqf made;
    TAMIS_TRY(made.table_, rank_select<>::make(shape.quotients, shape.spare, shape.remainder));
    made.capacity_ = params.capacity;
    return made;
  }

  insert_result insert(digest d) {
    const fingerprint f = fingerprint_of(d);
    const auto gap = table_.find_gap(f.quotient);
    if (!gap) return insert_result::full;
    table_.open(f.quotient, *gap);
    table_.set_value(gap->at, f.remainder);
    return insert_result::inserted;
  }

  TAMIS_INLINE bool contains(digest d) const {
    const fingerprint f = fingerprint_of(d);
    return table_.contains(f.quotient, f.remainder);
  }

  erase_result erase(digest d) {
    const fingerprint f = fingerprint_of(d);
    const slot_range run = table_.find(f.quotient);
    const std::uint64_t slot = table_.find_value(run, f.remainder);
    if (slot == run.last) return erase_result::absent;
    table_.close(f.quotient, run, slot);
    return erase_result::erased;
  }

  // How many keys have this fingerprint.
  std::uint64_t count(digest d) const {
    const fingerprint f = fingerprint_of(d);
    slot_range run = table_.find(f.quotient);
    std::uint64_t copies = 0;
    while ((run.first = table_.find_value(run, f.remainder)) != run.last) ++copies, ++run.first;
    return copies;
  }

  status merge(const rsqf& other) {
    TAMIS_CHECK(same_shape(table_, other.table_, info));
    TAMIS_TRY(table_, rank_select<>::merged(table_, other.table_));
    return {};
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

  // Batches (batch/pipeline.hpp).
  struct view {
    const rsqf& f;

    TAMIS_INLINE fingerprint locate(digest d) const { return f.fingerprint_of(d); }
    TAMIS_INLINE void prefetch(const fingerprint& p) const { f.table_.prefetch(p.quotient); }
    TAMIS_INLINE bool test(const fingerprint& p) const { return f.table_.contains(p.quotient, p.remainder); }
  };
  template <class Use>
  void with_view(Use use) const {
    use(view{*this});
  }

  friend bool operator==(const rsqf&, const rsqf&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.capacity_, self.table_);
  }
  status validate() const {
    if (table_.width() > longest_remainder) return error{"the remainders have more than 56 bits"};
    return {};
  }

 private:
  friend stored_access;
  rsqf() = default;
};

}  // namespace tamis::inline TAMIS_LEVEL
