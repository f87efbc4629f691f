// What every filter in front of a store must give: the truth, and as few reads as the filter can.

#include "support.hpp"

namespace tamis::test {

using namespace detail;

namespace {

class guarded : public ::testing::TestWithParam<std::string> {
 protected:
  guarded_store open(guard_options options) { return guarded_store::open(behind, options).value(); }
  guarded_store open() { return open(options_of(GetParam())); }
  bool adapts() const { return can(GetParam()).adapt; }

  std::shared_ptr<memory_store> behind = std::make_shared<memory_store>();
};

TEST_P(guarded, answers_like_a_map_under_random_changes) {
  guarded_store tested = open();
  std::map<std::string, std::string> truth;
  random_source random(7);
  for (int i = 0; i < 12'000; ++i) {
    const std::string key = key_of(random.below(3000));
    const std::string value = std::to_string(i);
    if (random.chance(0.6)) {
      ASSERT_TRUE(tested.put(key, value));
      truth[key] = value;
    } else if (random.chance(0.5)) {
      EXPECT_EQ(tested.erase(key).value(), truth.erase(key) == 1);
    } else {
      const auto found = truth.find(key);
      EXPECT_EQ(tested.get(key).value(), found == truth.end() ? std::nullopt : std::optional(found->second)) << key;
    }
  }
  EXPECT_EQ(lost_keys(tested, truth), 0u);
}

TEST_P(guarded, a_batch_counts_each_key_once_and_the_last_change_wins) {
  guarded_store tested = open();
  ASSERT_TRUE(tested.put("gone", "1"));
  write_batch batch;
  for (int i = 0; i < 500; ++i) batch.put(key_of(static_cast<std::uint64_t>(i % 100)), std::to_string(i));
  batch.erase("gone");
  batch.put("back", "1");
  batch.erase("back");
  batch.erase("never there");
  ASSERT_TRUE(tested.write(batch));
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(tested.get(key_of(i)).value(), std::to_string(400 + i));
  EXPECT_FALSE(tested.contains("gone").value());
  EXPECT_FALSE(tested.contains("back").value());
  EXPECT_EQ(tested.stats().records_since_snapshot, 102u);
}

TEST_P(guarded, a_batch_much_larger_than_the_filter_is_covered_whole) {
  guarded_store tested = open(options_of(GetParam(), 600));
  write_batch batch;
  std::map<std::string, std::string> truth;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    batch.put(key_of(i), "v");
    truth.emplace(key_of(i), "v");
  }
  ASSERT_TRUE(tested.write(batch));
  EXPECT_EQ(lost_keys(tested, truth), 0u);
}

TEST_P(guarded, a_batch_may_make_every_one_of_many_stripes_grow) {
  guard_options options = options_of(GetParam(), 600);
  options.stripes = 32;
  guarded_store tested = open(options);
  write_batch batch;
  std::map<std::string, std::string> truth;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    batch.put(key_of(i), "v");
    truth.emplace(key_of(i), "v");
  }
  ASSERT_TRUE(tested.write(batch));
  EXPECT_EQ(lost_keys(tested, truth), 0u);
}

TEST_P(guarded, grows_beyond_its_capacity_and_keeps_its_rate) {
  guarded_store tested = open(options_of(GetParam(), 1000));
  std::map<std::string, std::string> truth;
  for (std::uint64_t i = 0; i < 15'000; ++i) {
    ASSERT_TRUE(tested.put(key_of(i), "v"));
    truth.emplace(key_of(i), "v");
  }
  EXPECT_EQ(lost_keys(tested, truth), 0u);
  // A filter that can expand does it its own way, and says at what price.
  const double rate = can(GetParam()).expand ? std::max(0.01, tested.expected_fpr()) : 0.01;
  EXPECT_LE(wrong_answers(tested, 20'000), 20'000 * rate * 1.5 + 60);
}

TEST_P(guarded, multi_get_agrees_with_get) {
  guarded_store tested = open();
  for (std::uint64_t i = 0; i < 2000; ++i) ASSERT_TRUE(tested.put(key_of(i), std::to_string(i)));
  std::vector<std::string> texts;
  for (std::uint64_t i = 0; i < 3000; ++i) texts.push_back(i % 2 == 0 ? key_of(i) : stranger(i));
  const std::vector<byte_view> asked(texts.begin(), texts.end());
  const auto answers = tested.multi_get(asked);
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(answers[i].value(), tested.get(texts[i]).value()) << texts[i];
  EXPECT_EQ(tested.stats().queries, 6000u);
}

TEST_P(guarded, counts_what_it_does) {
  guarded_store tested = open();
  for (std::uint64_t i = 0; i < 4000; ++i) ASSERT_TRUE(tested.put(key_of(i), "v"));
  for (int round = 0; round < 3; ++round) {
    for (std::uint64_t i = 0; i < 3000; ++i) EXPECT_FALSE(tested.contains(stranger(i)).value());
  }
  const guard_stats stats = tested.stats();
  const std::uint64_t wrong = stats.first_false_positives + stats.repeated_false_positives;
  EXPECT_EQ(stats.queries, 9000u);
  EXPECT_EQ(stats.negatives + wrong, stats.queries);
  EXPECT_EQ(stats.store_reads, wrong);
  if (wrong == 0) return;  // a toy of nearly no mistakes
  EXPECT_GT(stats.adaptations, 0u);
  EXPECT_LT(stats.repeated_false_positives, 2 * stats.first_false_positives);
}

TEST_P(guarded, without_a_list_only_filters_that_adapt_learn) {
  guard_options options = options_of(GetParam());
  options.params.options = {{"mistakes", "0"}};
  guarded_store tested = open(options);
  for (std::uint64_t i = 0; i < 4000; ++i) ASSERT_TRUE(tested.put(key_of(i), "v"));
  for (int round = 0; round < 3; ++round) {
    for (std::uint64_t i = 0; i < 20'000; ++i) EXPECT_FALSE(tested.contains(stranger(i)).value());
  }
  const guard_stats stats = tested.stats();
  EXPECT_EQ(stats.adaptations != 0, adapts());
  // A table of 65,536 slots remembers nearly all of a few hundred mistakes.
  if (!adapts()) {
    EXPECT_GE(stats.repeated_false_positives, 2 * stats.first_false_positives * 9 / 10);
  }
}

TEST_P(guarded, an_erased_key_leaves_the_filter_if_that_can_be) {
  guarded_store tested = open();
  for (std::uint64_t i = 0; i < 2000; ++i) ASSERT_TRUE(tested.put(key_of(i), "v"));
  for (std::uint64_t i = 0; i < 2000; ++i) ASSERT_TRUE(tested.erase(key_of(i)).value());
  EXPECT_EQ(tested.stats().left_behind, can(GetParam()).erase ? 0u : 2000u);
  std::uint64_t maybe = 0;
  for (std::uint64_t i = 0; i < 2000; ++i) maybe += tested.may_contain(key_of(i));
  if (can(GetParam()).erase) {
    EXPECT_EQ(maybe, 0u);
  } else {
    EXPECT_EQ(maybe, 2000u);
  }
}

TEST_P(guarded, leftovers_of_erased_keys_do_not_pile_up) {
  guarded_store tested = open();
  for (std::uint64_t i = 0; i < 40'000; ++i) {
    ASSERT_TRUE(tested.put(key_of(i), "v"));
    if (i < 1000) continue;
    ASSERT_TRUE(tested.erase(key_of(i - 1000)).value());
  }
  EXPECT_LE(wrong_answers(tested, 20'000), 20'000 * 0.01 * 1.5 + 60);
}

INSTANTIATE_TEST_SUITE_P(filters, guarded, ::testing::ValuesIn(all_filters()), test_name);

TEST(guarded_keys, may_be_empty_binary_and_very_long) {
  auto behind = std::make_shared<memory_store>();
  guarded_store tested = guarded_store::open(behind, options_of("bloom1")).value();
  const std::string long_key(1 << 20, 'k');
  const std::vector<std::byte> bytes = {std::byte{0}, std::byte{255}, std::byte{0}};
  ASSERT_TRUE(tested.put("", "empty key"));
  ASSERT_TRUE(tested.put(long_key, std::string(5 << 20, 'v')));
  ASSERT_TRUE(tested.put(bytes, bytes));
  ASSERT_TRUE(tested.put("empty value", ""));
  EXPECT_EQ(tested.get("").value(), "empty key");
  EXPECT_EQ(tested.get(long_key).value()->size(), std::size_t{5} << 20);
  EXPECT_EQ(tested.get(std::string("\0\xff\0", 3)).value(), std::string("\0\xff\0", 3));
  EXPECT_EQ(tested.get("empty value").value(), "");
}

}  // namespace
}  // namespace tamis::test
