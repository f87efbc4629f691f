// What a growing filter really takes: not the bytes of its tables, which bits() says, but the pages on which they stand, with
// what nobody uses in them.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "src/detail/base/small_tables.hpp"
#include "tamis/any_filter.hpp"
#include "tamis/memory_remote.hpp"
#include "tests/no_memory/heap.hpp"
#include "tests/support/keys.hpp"

namespace tamis::test {

using namespace detail;

namespace {

constexpr double most_over_bits = 1.08;
constexpr std::uint64_t counted_from = 1 << 19;  // keys
constexpr std::uint64_t most_keys = 5 << 18;     // a doubling later, and a half
constexpr std::uint64_t step = 4096;             // between two looks: segments pass through a size in ten of these

class real_memory : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "the address sanitizer allocates tables one by one";
#endif
  }

  bool has_store() const { return GetParam(); }
  void insert(std::uint64_t from, std::uint64_t until) {
    for (const digest d : keys(until - from, from)) {
      if (has_store()) in_store([&] { stored_.insert(d); });
      ASSERT_EQ(has_store() ? f_.insert(d, remote_ref(stored_)) : f_.insert(d), insert_result::inserted);
    }
  }
  void erase(std::uint64_t from, std::uint64_t until) {
    for (const digest d : keys(until - from, from)) {
      if (has_store()) in_store([&] { stored_.erase(d); });
      ASSERT_EQ(f_.erase(d), erase_result::erased);
    }
  }
  void look(std::uint64_t keys) {
    const double lists = static_cast<double>(heap_bytes - before_ - of_store_);
    const double taken = static_cast<double>(bytes_of_small_tables()) + lists;
    most_ = std::max(most_, taken / (static_cast<double>(f_.bits().fast) / 8));
    EXPECT_LE(taken, most_over_bits * static_cast<double>(f_.bits().fast) / 8) << keys << " keys";
  }
  void TearDown() override { RecordProperty("most_over_bits", std::to_string(most_)); }

 private:
  template <class Change>
  void in_store(Change change) {
    const std::int64_t before = heap_bytes;
    change();
    of_store_ += heap_bytes - before;
  }

  std::int64_t before_ = heap_bytes;
  std::int64_t of_store_ = 0;
  double most_ = 0;
  memory_remote stored_;
  any_filter f_ = any_filter::create("evergreen", {.capacity = 1000, .fpr = 0.01}).value();
};

TEST_P(real_memory, is_what_bits_says_while_keys_come_and_go) {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  insert(0, counted_from);
  for (last = counted_from; last < most_keys; last += step) {
    insert(last, last + step);
    look(last + step);
  }
  // As many come as go.
  for (; first < most_keys / 2; first += step, last += step) {
    insert(last, last + step);
    erase(first, first + step);
    look(last - first);
  }
  for (; last - first > counted_from / 2; first += step) {
    erase(first, first + step);
    look(last - first);
  }
  for (; last - first < counted_from; last += step) {
    insert(last, last + step);
    look(last - first);
  }
}

INSTANTIATE_TEST_SUITE_P(evergreen, real_memory, testing::Bool(),
                         [](const auto& of) { return of.param ? "with_a_store" : "without_a_store"; });

}  // namespace
}  // namespace tamis::test
