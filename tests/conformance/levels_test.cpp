// All CPU levels compute the same: files move freely between them.

#include "tests/conformance/cases.hpp"
#include "tests/support/remote.hpp"

namespace tamis::test {
namespace {

class levels : public conformance {
 protected:
  // The same history at a level.
  any_filter filled_at(const registry& at, std::uint64_t capacity) const {
    filter_params params{.capacity = capacity, .fpr = 0.05, .options = GetParam().options};
    auto made = any_filter::create(at, id(), params, test_hash());
    any_filter f = made ? *std::move(made) : load_bytes(make(capacity).save_bytes(), {std::nullopt, &at}).value();
    multiset_remote truth;
    for (const digest d : insert_all(f, keys(capacity))) truth.insert(d);
    if (f.can().adapt) {
      for (const digest d : strangers(500)) {
        if (f.may_contain(d)) f.adapt(d, remote_ref(truth));
      }
    }
    if (f.can().erase) {
      for (const digest d : keys(capacity / 4)) {
        if (truth.contains(d)) f.erase(d);
      }
    }
    if (f.can().expand) {
      EXPECT_TRUE(f.expand().ok());
    }
    return f;
  }
};
TAMIS_CONFORMANCE_CASES(levels, named(all_variants(), "portable_"));

TEST_P(levels, save_the_same_bytes_and_answer_alike) {
  if (available_cpu_levels().size() == 1) GTEST_SKIP() << "this machine has one level only";
  for (const cpu_level level : available_cpu_levels()) {
    const registry other = registry::builtin(level).value();
    for (const std::uint64_t capacity : {1u, 65u, 1000u, 20001u}) {
      SCOPED_TRACE(std::string(to_string(level)) + ", capacity " + std::to_string(capacity));
      const any_filter here = filled_at(known(), capacity);
      const any_filter there = filled_at(other, capacity);
      const byte_vector bytes = here.save_bytes();
      ASSERT_EQ(there.save_bytes(), bytes);
      const any_filter moved = load_bytes(bytes, {std::nullopt, &other}).value();
      for (const digest d : strangers(5000)) ASSERT_EQ(moved.may_contain(d), here.may_contain(d));
      EXPECT_EQ(moved.save_bytes(), bytes);
    }
  }
}

}  // namespace
}  // namespace tamis::test
