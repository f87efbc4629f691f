#pragma once

// Going through the runs of a quotient table in the order of their quotients, one at a time.

#include <algorithm>
#include <bit>
#include <cstdint>

#include "tamis/detail/quotient/run_search.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

template <class Runs>
class run_cursor {
 public:
  // From the first run of the block's quotients on.
  explicit run_cursor(const Runs& runs, std::uint64_t block = 0)
      : runs_(&runs), block_(block), left_(runs.header(block).occupied), run_{0, runs.runs_before(block)} {
    next();
  }

  explicit operator bool() const { return block_ < runs_->blocks(); }
  std::uint64_t quotient() const { return quotient_; }
  slot_range run() const { return run_; }

  void next() {
    while (left_ == 0) {
      if (++block_ == runs_->blocks()) return;
      left_ = runs_->header(block_).occupied;
    }
    quotient_ = block_ * Runs::block_slots + static_cast<unsigned>(std::countr_zero(left_));
    left_ &= left_ - 1;
    run_.first = std::max(run_.last, quotient_);
    run_.last = runs_->runend_after(run_.first, 1) + 1;
  }

 private:
  const Runs* runs_;
  std::uint64_t block_;
  std::uint64_t left_;  // occupied bits of the block that are still to come
  std::uint64_t quotient_ = 0;
  slot_range run_;
};

// Calls visit(quotient, run) for every run, in order.
template <class Runs, class Visit>
void for_each_run_of(const Runs& runs, Visit visit) {
  for (run_cursor at(runs); at; at.next()) visit(at.quotient(), at.run());
}

// The same for the runs that have a slot in the block.
template <class Runs, class Visit>
void for_each_run_of_block(const Runs& runs, std::uint64_t block, Visit visit) {
  const slot_range here{block * Runs::block_slots, (block + 1) * Runs::block_slots};
  for (run_cursor at(runs, runs.block_before(block)); at && at.run().first < here.last; at.next()) {
    if (at.run().last > here.first) visit(at.quotient(), at.run());
  }
}

// Two tables of equal shape side by side: calls visit(quotient, x, y) for every quotient that has a run in one of them, an
// empty range where it has none. Ends early, and answers false, if a visit does.
template <class Runs, class Visit>
bool for_each_run_of_both(const Runs& a, const Runs& b, Visit visit) {
  for (run_cursor x(a), y(b); x || y;) {
    const std::uint64_t quotient = !y || (x && x.quotient() <= y.quotient()) ? x.quotient() : y.quotient();
    slot_range in_a;
    slot_range in_b;
    if (x && x.quotient() == quotient) in_a = x.run(), x.next();
    if (y && y.quotient() == quotient) in_b = y.run(), y.next();
    if (!visit(quotient, in_a, in_b)) return false;
  }
  return true;
}

}  // namespace tamis::detail::inline TAMIS_LEVEL
