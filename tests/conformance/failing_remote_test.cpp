// A remote that fails. It throws at its first read, then at its second, and so on until an operation needs no more: each time
// the operation throws what the remote threw, and the filter is as it was, to the last byte.

#include <optional>

#include "tests/conformance/cases.hpp"
#include "tests/support/remote.hpp"

namespace tamis::test {
namespace {

struct unreachable {};

// Answers so many reads (of ranges and of digests in them), then throws.
class failing_remote {
 public:
  failing_remote(const multiset_remote& behind, std::uint64_t reads) : behind_(behind), reads_(reads) {}

  template <class Visit>
  void for_each_in(digest_range range, Visit&& visit) const {
    read();
    behind_.for_each_in(range, [&](digest d) {
      read();
      return wants_more_after(visit, d);
    });
  }

 private:
  void read() const {
    if (reads_ == 0) throw unreachable();
    --reads_;
  }

  const multiset_remote& behind_;
  mutable std::uint64_t reads_;
};

class failing : public conformance {
 protected:
  static constexpr std::uint64_t most_reads = 2000;

  any_filter f_ = make(200, 0.2);
  multiset_remote truth_;

  void SetUp() override {
    for (const digest d : insert_all(f_, keys(150))) truth_.insert(d);
  }

  // Does it with a remote that fails ever later. Answers how often it failed.
  template <class Operation>
  std::uint64_t fails_harmlessly(any_filter& f, Operation operation) {
    const byte_vector before = f.save_bytes();
    for (std::uint64_t reads = 0; reads < most_reads; ++reads) {
      const failing_remote remote(truth_, reads);
      try {
        operation(remote_ref(remote));
        return reads;
      } catch (const unreachable&) {
        EXPECT_EQ(f.save_bytes(), before) << "after " << reads << " reads";
        EXPECT_TRUE(may_contain_all(f, truth_));
      }
      if (HasFailure()) break;
    }
    ADD_FAILURE() << most_reads << " reads are not enough";
    return 0;
  }
};
TAMIS_CONFORMANCE_CASES(failing, all_cases());

TEST_P(failing, inserts_change_nothing) {
  for (const digest d : strangers(20)) {
    bool inserted = false;
    fails_harmlessly(f_, [&](const remote_ref& stored) { inserted = f_.insert(d, stored) == insert_result::inserted; });
    if (inserted) truth_.insert(d);
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_TRUE(may_contain_all(f_, truth_));
}

TEST_P(failing, erases_change_nothing) {
  if (!can().erase) return;
  const std::vector<digest> all(truth_.begin(), truth_.end());
  for (std::size_t i = 0; i < all.size(); i += 7) {
    fails_harmlessly(f_, [&](const remote_ref& stored) { EXPECT_EQ(f_.erase(all[i], stored), erase_result::erased); });
    truth_.erase_one(all[i]);
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_TRUE(may_contain_all(f_, truth_));
}

TEST_P(failing, adapts_change_nothing) {
  if (!can().adapt) return;
  std::uint64_t failures = 0;
  for (const digest d : strangers(300)) {
    if (!f_.may_contain(d)) continue;
    failures += fails_harmlessly(f_, [&](const remote_ref& stored) { f_.adapt(d, stored); });
    ASSERT_FALSE(HasFailure());
  }
  // Those with slow memory of their own never ask.
  if (f_.bits().slow == 0) {
    EXPECT_GT(failures, 10u);
  }
  EXPECT_TRUE(may_contain_all(f_, truth_));
}

// After some adapting, so that there is something that only the remote knows.
TEST_P(failing, merges_change_nothing) {
  if (!can().merge) return;
  any_filter other = make(200, 0.2);
  for (const digest d : insert_all(other, keys(20, 5000))) truth_.insert(d);
  if (can().adapt) {
    for (const digest d : strangers(100)) {
      if (f_.may_contain(d)) f_.adapt(d, remote_ref(truth_));
    }
  }
  const byte_vector before = f_.save_bytes();
  const multiset_remote all = truth_;
  for (std::uint64_t reads = 0; reads < most_reads; ++reads) {
    const failing_remote remote(all, reads);
    try {
      const bool merged = f_.merge(other, remote_ref(remote)).ok();
      for (const digest d : keys(150)) EXPECT_TRUE(f_.may_contain(d) || !all.contains(d));
      if (merged) {
        EXPECT_TRUE(may_contain_all(f_, all));
      }
      return;
    } catch (const unreachable&) {
      ASSERT_EQ(f_.save_bytes(), before) << "after " << reads << " reads";
    }
  }
  FAIL() << most_reads << " reads are not enough";
}

}  // namespace
}  // namespace tamis::test
