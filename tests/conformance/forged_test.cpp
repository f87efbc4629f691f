// Files of a forger, who changes what he likes and repairs the checksums. A file is refused, or it is a filter: every operation
// on it ends, has no undefined behaviour (which the sanitizers see, not this test) and keeps its contract for whatever comes
// after. TAMIS_SOAK=N in the environment makes N times as many files, of other seeds.

#include "tests/conformance/forger.hpp"
#include "tests/support/repetitions.hpp"

namespace tamis::test {

using namespace detail;

namespace {

constexpr std::uint64_t forger_seed = 20240613;

class forged : public forgeable {
 protected:
  static constexpr int files = repetitions(40);  // of every victim
  static constexpr int most_steps = 8;           // from the victim's file

  // Every operation, in an order that the seed chooses nothing of: what matters is the content.
  void use(any_filter& f, multiset_remote truth) const {
    const std::vector<digest> asked = strangers(60, 5000);
    count_positives(f, asked);
    for (const digest d : asked) static_cast<void>(f.may_contain(d));
    look(f);
    const std::vector<digest> added = insert_all(f, strangers(10, 6000));
    for (const digest d : added) truth.insert(d);
    ASSERT_TRUE(may_contain_all(f, added));
    if (can().count) {
      for (const digest d : added) ASSERT_GE(f.count(d).value(), 1u);
    }
    for (const digest d : strangers(10, 7000)) {
      truth.insert(d);
      const bool inserted = f.insert(d, remote_ref(truth)) == insert_result::inserted;
      ASSERT_TRUE(!inserted || f.may_contain(d));
    }
    for (const digest d : asked) {
      if (!can().adapt || !f.may_contain(d)) continue;
      if (f.adapt(d, remote_ref(truth)) == adapt_result::fixed) ASSERT_FALSE(f.may_contain(d));
    }
    if (can().rejuvenate) f.rejuvenate_many(added).value();
    if (can().erase) {
      const std::vector<digest> in = keys(20);
      EXPECT_TRUE(f.erase_many(in).ok());
      for (const digest d : keys(10, 20)) f.erase(d, remote_ref(truth));
    }
    look(f);
    if (can().merge) {
      any_filter other = make(20, 0.5);
      static_cast<void>(f.merge(other));
      static_cast<void>(f.merge(any_filter(f)));
    }
    if (can().expand && f.bits().fast < 1u << 20) static_cast<void>(f.expand());
    insert_all(f, keys(30, 500));
    look(f);
  }
  void look(const any_filter& f) const {
    const double rate = f.expected_fpr();
    ASSERT_TRUE(rate >= 0.0 && rate <= 1.0) << rate;
    ASSERT_GT(f.bits().fast, 0u);
    ASSERT_EQ(f.settings().empty(), f.info().options.empty());
    static_cast<void>(f.keys() + f.capacity());
    // What was accepted once can be saved and loaded. (Not always as the same bytes: slots that are not in use may hold
    // anything.)
    const auto again = load(f.save_bytes());
    ASSERT_TRUE(again.ok()) << again.message();
    ASSERT_EQ(again->keys(), f.keys());
    ASSERT_EQ(again->expected_fpr(), rate);
  }

  // What was accepted is changed further, so that forgeries lead away from what a filter would ever save.
  void forge(const victim& v) {
    const byte_vector originals[] = {v.filter.save_bytes(), v.empty.save_bytes()};
    byte_vector bytes;
    int accepted = 0;
    for (int i = 0; i < files * times_as_many(); ++i) {
      const std::uint64_t seed = forger_seed + static_cast<std::uint64_t>(i);
      SCOPED_TRACE(seed);
      const int which = i / most_steps % 2;
      if (i % most_steps == 0) bytes = originals[which];
      byte_vector changed = forger(seed, originals[1 - which])(bytes);
      auto loaded = load(changed);
      if (!loaded) {
        ASSERT_TRUE(refused(loaded));
        continue;
      }
      ++accepted;
      use(*loaded, v.truth);
      if (HasFatalFailure()) return;
      bytes = std::move(changed);
    }
    RecordProperty("accepted", accepted);
  }
};
TAMIS_CONFORMANCE_CASES(forged, named(all_variants(), "added_", false));  // the toys believe what they read

TEST_P(forged, file_of_a_crowded_filter) { forge(crowded()); }
TEST_P(forged, file_of_a_filter_that_lived) { forge(lived()); }
TEST_P(forged, file_of_a_sparse_filter) { forge(sparse()); }
TEST_P(forged, file_of_a_filter_with_many_copies_of_a_key) { forge(piled_up()); }

}  // namespace
}  // namespace tamis::test
