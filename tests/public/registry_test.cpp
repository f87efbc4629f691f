#include "tamis/registry.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "tests/support/bytes.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/keys.hpp"
#include "tests/support/toy_filter.hpp"

namespace tamis {

using namespace detail;

namespace {

using test::refused;

TEST(registry, every_level_has_the_same_filters) {
  for (const cpu_level level : available_cpu_levels()) {
    const registry known = registry::builtin(level).value();
    ASSERT_EQ(known.entries().size(), registry::builtin().entries().size());
    for (std::size_t i = 0; i < known.entries().size(); ++i) {
      EXPECT_EQ(known.entries()[i].info->id, registry::builtin().entries()[i].info->id);
    }
  }
}

TEST(registry, unknown_id_is_an_error_that_lists_the_ids) {
  const auto found = registry::builtin().find("blom");
  EXPECT_TRUE(refused(found, "'blom'"));
  for (const registry_entry& entry : registry::builtin().entries()) EXPECT_TRUE(refused(found, entry.info->id));
  EXPECT_TRUE(refused(any_filter::create("blom", {.capacity = 1, .fpr = 0.1}), "'blom'"));
  EXPECT_TRUE(refused(registry().find("bloom")));
}

TEST(registry, ids_are_distinct_lower_case_words) {
  std::set<std::string_view> ids;
  for (const registry_entry& entry : registry::builtin().entries()) {
    EXPECT_TRUE(ids.insert(entry.info->id).second) << entry.info->id;
    EXPECT_EQ(entry.info->id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string_view::npos);
  }
}

// One header and one line: capabilities, keys, batches, saving and loading follow.
TEST(registry, added_filter_works_like_the_others) {
  registry mine = registry::builtin();
  const std::size_t before = mine.entries().size();
  mine.add(entry_of<test::toy_everything>());
  EXPECT_EQ(mine.entries().size(), before + 1);
  EXPECT_FALSE(registry::builtin().find("toy-everything").ok());

  any_filter f = any_filter::create(mine, "toy-everything", {.capacity = 100, .fpr = 0.01}).value();
  f.insert("somebody");
  const auto loaded = load_bytes(f.save_bytes(), {.hash = std::nullopt, .known = &mine});
  ASSERT_TRUE(loaded.ok()) << loaded.message();
  EXPECT_TRUE(loaded->may_contain("somebody"));
  EXPECT_TRUE(refused(load_bytes(f.save_bytes()), "toy-everything"));
}

TEST(registry, capabilities_follow_from_the_operations) {
  const capabilities all = entry_of<test::toy_everything>().can;
  EXPECT_TRUE(all.erase && all.count && all.adapt && all.expand && all.merge && all.rejuvenate);
  const capabilities none = entry_of<test::toy_minimal>().can;
  EXPECT_FALSE(none.erase || none.count || none.adapt || none.expand || none.merge || none.rejuvenate);
}

// Adapts out of memory of its own, without a remote.
class toy_alone : public test::toy_minimal {
 public:
  static result<toy_alone> create(const filter_params&) { return toy_alone(); }
  adapt_result adapt(digest d) { return may_contain(d) ? adapt_result::unfixable : adapt_result::not_positive; }
};

TEST(registry, adapting_without_a_remote_is_adapting) {
  EXPECT_TRUE(entry_of<toy_alone>().can.adapt);
  static_assert(adaptive_alone<toy_alone> && !adaptive_with_remote<toy_alone>);
  registry mine;
  mine.add(entry_of<toy_alone>());
  any_filter f = any_filter::create(mine, "toy-minimal", {.capacity = 1, .fpr = 0.1}).value();
  struct {
    void for_each_in(digest_range, const std::function<void(digest)>&) const {}
  } const nothing;
  EXPECT_EQ(f.adapt(test::keys(1)[0], remote_ref(nothing)), adapt_result::not_positive);
}

TEST(registry, merging_levels_is_an_error) {
  if (available_cpu_levels().size() == 1) GTEST_SKIP() << "this machine has one level only";
  const registry portable = registry::builtin(cpu_level::portable).value();
  const registry best = registry::builtin(available_cpu_levels().back()).value();
  any_filter f = any_filter::create(portable, "bloom", {.capacity = 10, .fpr = 0.1}).value();
  EXPECT_TRUE(refused(f.merge(any_filter::create(best, "bloom", {.capacity = 10, .fpr = 0.1}).value()), "different builds"));
}

// The registry is made once per program, so that each of these needs a program of its own.
TEST(registry_death_test, environment_that_asks_in_vain_gets_the_best_level) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        ::setenv("TAMIS_CPU", "abacus", 1);
        const registry best = registry::builtin(available_cpu_levels().back()).value();
        const registry& taken = registry::builtin();
        const bool same = taken.find("bloom").value()->create == best.find("bloom").value()->create;
        std::_Exit(same && used_cpu_level() == available_cpu_levels().back() ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace tamis
