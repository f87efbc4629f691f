// Clearing: what is left is the filter as it was made, whatever it went through.

#include "tests/conformance/cases.hpp"
#include "tests/support/remote.hpp"

namespace tamis::test {

using namespace detail;

namespace {

TAMIS_CONFORMANCE(cleared, all_variants());

// Inserts so much that what grows has grown, and does all else that the filter can.
void use(any_filter& f, std::uint64_t capacity) {
  multiset_remote truth;
  const auto add = [&](const std::vector<digest>& more) {
    for (const digest d : more) {
      if (f.insert(d) == insert_result::inserted) truth.insert(d);
    }
  };
  add(keys(capacity));
  if (f.can().adapt) {
    for (const digest d : strangers(2000)) {
      if (f.may_contain(d)) f.adapt(d, remote_ref(truth));
    }
  }
  if (f.can().expand && f.expand().ok()) add(digests_from(5000, 4 * capacity, test_hash()));
  if (f.can().erase) {
    for (const digest d : keys(capacity / 2)) {
      if (truth.contains(d)) f.erase(d, remote_ref(truth));
    }
  }
}

TEST_P(cleared, is_the_filter_as_it_was_made) {
  constexpr std::uint64_t capacity = 500;
  any_filter f = make(capacity, 0.05);
  const byte_vector made = f.save_bytes();
  const memory_bits bits = f.bits();
  use(f, capacity);
  const byte_vector used = f.save_bytes();
  ASSERT_NE(used, made);
  const any_filter copy = f;
  const auto empty = f.emptied();
  ASSERT_TRUE(unchanged(f, used));
  const status is_clear = f.clear();
  EXPECT_EQ(empty.ok(), is_clear.ok());
  if (!is_clear) {
    EXPECT_EQ(is_clear.code(), error_code::unsupported);
    EXPECT_TRUE(refused(is_clear, id()));
    EXPECT_TRUE(id().starts_with("evergreen") || id().starts_with("toy")) << "has no emptied()";
    EXPECT_TRUE(unchanged(f, used));
    return;
  }
  EXPECT_TRUE(unchanged(*empty, made));
  EXPECT_TRUE(unchanged(f, made));
  EXPECT_TRUE(f.empty());
  EXPECT_EQ(f.known_mistakes(), 0u);
  EXPECT_EQ(f.bits().fast, bits.fast);
  EXPECT_EQ(f.bits().slow, bits.slow);
  EXPECT_EQ(count_positives(f, keys(capacity)), 0u);
  EXPECT_TRUE(unchanged(copy, used));

  // And it serves as a new one does: with the same bytes in the end.
  any_filter fresh = make(capacity, 0.05);
  use(fresh, capacity);
  use(f, capacity);
  EXPECT_EQ(f.save_bytes(), fresh.save_bytes());
  EXPECT_EQ(f.save_bytes(), used);
}

// A loaded filter has the shape of the saved one, and so has what is left of it.
TEST_P(cleared, is_what_a_loaded_one_becomes) {
  any_filter f = make(300, 0.05);
  const byte_vector made = f.save_bytes();
  insert_all(f, keys(200));
  any_filter loaded = load(f.save_bytes()).value();
  if (!loaded.clear()) return;
  EXPECT_TRUE(unchanged(loaded, made));
  if (!f.can().merge) return;
  EXPECT_TRUE(loaded.merge(f).ok());
  EXPECT_TRUE(may_contain_all(loaded, keys(200)));
}

}  // namespace
}  // namespace tamis::test
