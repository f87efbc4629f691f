// The list of known mistakes in front of a store: which filters have one, what it spares, and that it never hides a key.

#include "adversary.hpp"
#include "support.hpp"
#include "tamis/detail/mistakes/mistake_list.hpp"

namespace tamis::test {

using namespace detail;

namespace {

guard_options with_entries(const std::string& id, const std::string& entries, double fpr = 0.3) {
  guard_options options = options_of(id);
  options.params.fpr = fpr;
  options.params.options = {{"mistakes", entries}};
  return options;
}

// Asks for strangers; how many of them were read from the store.
std::uint64_t reads_of_strangers(guarded_store& tested, std::uint64_t count) {
  const std::uint64_t before = tested.stats().store_reads;
  for (std::uint64_t i = 0; i < count; ++i) EXPECT_FALSE(tested.contains(stranger(i)).value());
  return tested.stats().store_reads - before;
}

class unscannable_store final : public forwarding_store {
 public:
  using forwarding_store::forwarding_store;

  status scan(digest_range range, scan_size size, const std::function<bool(digest)>& visit) const override {
    if (scans_fail) return failure{"cannot scan"};
    return forwarding_store::scan(range, size, visit);
  }
  bool scans_fail = false;
};

class listed : public ::testing::TestWithParam<std::string> {
 protected:
  guarded_store open(const guard_options& options) { return guarded_store::open(behind, options).value(); }
  void put_some(guarded_store& tested) {
    for (std::uint64_t i = 0; i < 4000; ++i) ASSERT_TRUE(tested.put(key_of(i), "v"));
  }

  temporary_directory directory;
  std::shared_ptr<memory_store> behind = std::make_shared<memory_store>(directory.path().string());
};

TEST_P(listed, by_default_unless_the_filter_adapts_by_itself) {
  guarded_store tested = open(options_of(GetParam()));
  put_some(tested);
  const std::uint64_t first = reads_of_strangers(tested, 3000);  // about 30 mistakes, and room for 62
  if (first == 0) {  // they have 60 bits per key, or small segments with more bits than asked for
    EXPECT_TRUE(GetParam() == "toy-minimal" || GetParam() == "evergreen");
  }
  if (can(GetParam()).adapt) {
    EXPECT_EQ(tested.stats().known_mistakes, 0u);
  } else {
    EXPECT_EQ(tested.stats().known_mistakes, first);
    EXPECT_EQ(tested.stats().adaptations, first);
    EXPECT_EQ(reads_of_strangers(tested, 3000), 0u);
  }
}

TEST_P(listed, not_where_the_options_say_so) {
  guarded_store tested = open(with_entries(GetParam(), "0", 0.01));
  put_some(tested);
  const std::uint64_t first = reads_of_strangers(tested, 3000);
  EXPECT_EQ(tested.stats().known_mistakes, 0u);
  if (!can(GetParam()).adapt) {
    EXPECT_EQ(reads_of_strangers(tested, 3000), first);
  }
}

// What a filter that adapts could not fix is listed, so with a list nothing is unfixable.
TEST_P(listed, takes_what_the_filter_cannot_fix) {
  guarded_store tested = open(with_entries(GetParam(), "4000", 0.1));
  put_some(tested);
  reads_of_strangers(tested, 10'000);
  EXPECT_EQ(tested.stats().unfixable, 0u);
  EXPECT_EQ(tested.stats().first_false_positives, tested.stats().adaptations);
}

// Strangers become keys and strangers again, in a filter that is wrong every third time and a list that is too short.
TEST_P(listed, never_hides_a_key) {
  for (const std::string entries : {"7", "400"}) {
    behind = std::make_shared<memory_store>(directory.path().string());
    guard_options options = with_entries(GetParam(), entries);
    guarded_store tested = open(options);
    std::map<std::string, std::string> truth;
    random_source random(11);
    for (int i = 0; i < 20'000; ++i) {
      const std::string key = key_of(random.below(3000));
      const double dice = random.unit();
      if (dice < 0.25) {
        ASSERT_TRUE(tested.put(key, "v"));
        truth[key] = "v";
      } else if (dice < 0.45) {
        ASSERT_EQ(tested.erase(key).value(), truth.erase(key) == 1);
      } else {
        ASSERT_EQ(tested.contains(key).value(), truth.count(key) == 1) << key << " at step " << i;
      }
      if (i % 4000 == 3999) {
        ASSERT_TRUE(tested.snapshot());
      } else if (i % 4000 == 2000) {  // comes back from a snapshot and two thousand records
        let_go(tested);
        tested = open(options);
        ASSERT_EQ(lost_keys(tested, truth), 0u);
      }
    }
    EXPECT_EQ(lost_keys(tested, truth), 0u);
  }
}

TEST_P(listed, in_batches_too) {
  guarded_store tested = open(with_entries(GetParam(), "4000"));
  put_some(tested);
  std::vector<std::string> texts;
  for (std::uint64_t i = 0; i < 1000; ++i) texts.push_back(stranger(i));
  const std::vector<byte_view> asked(texts.begin(), texts.end());
  for (int round = 0; round < 2; ++round) {
    for (const auto& answer : tested.multi_get(asked)) ASSERT_FALSE(answer.value().has_value());
  }
  if (!can(GetParam()).adapt) {
    EXPECT_EQ(tested.stats().repeated_false_positives, 0u);
  }
  write_batch batch;
  for (const std::string& text : texts) batch.put(text, "v");
  ASSERT_TRUE(tested.write(batch));
  for (const auto& answer : tested.multi_get(asked)) ASSERT_TRUE(answer.value().has_value());
}

INSTANTIATE_TEST_SUITE_P(filters, listed, ::testing::ValuesIn(all_filters()), test_name);

class saved_list : public ::testing::Test {
 protected:
  temporary_directory directory;
  std::shared_ptr<memory_store> behind = std::make_shared<memory_store>(directory.path().string());
};

TEST_F(saved_list, is_part_of_snapshots) {
  const guard_options options = options_of("bloom1");
  guarded_store tested = guarded_store::open(behind, options).value();
  for (std::uint64_t i = 0; i < 4000; ++i) ASSERT_TRUE(tested.put(key_of(i), "v"));
  const std::uint64_t first = reads_of_strangers(tested, 3000);
  ASSERT_TRUE(tested.snapshot());
  // One of them becomes a key after the snapshot: its record takes it off the list.
  std::uint64_t chosen = 0;
  {
    const guard_options none = with_entries("bloom1", "0", 0.01);
    const auto twin_store = std::make_shared<memory_store>();
    guarded_store twin = guarded_store::open(twin_store, none).value();
    for (std::uint64_t i = 0; i < 4000; ++i) ASSERT_TRUE(twin.put(key_of(i), "v"));
    while (!twin.may_contain(stranger(chosen))) ++chosen;
  }
  ASSERT_FALSE(tested.may_contain(stranger(chosen)));
  ASSERT_TRUE(tested.put(stranger(chosen), "key now"));
  let_go(tested);
  tested = guarded_store::open(behind, options).value();
  EXPECT_EQ(tested.recovered().way, recovery_way::snapshot) << tested.recovered().reason;
  EXPECT_EQ(tested.stats().known_mistakes, first - 1);
  EXPECT_EQ(tested.get(stranger(chosen)).value(), "key now");
  ASSERT_TRUE(tested.erase(stranger(chosen)).value());
  EXPECT_EQ(reads_of_strangers(tested, 3000), 1u);  // the one that was a key between
}

// With a list and without one are different filters: what one has saved is not the other's.
TEST_F(saved_list, of_another_length_is_made_anew) {
  const auto way_of_opening = [&](const guard_options& options) {
    guarded_store tested = guarded_store::open(behind, options).value();
    const recovery_way way = tested.recovered().way;
    if (way == recovery_way::created) {
      for (std::uint64_t i = 0; i < 4000; ++i) EXPECT_TRUE(tested.put(key_of(i), "v"));
    }
    EXPECT_TRUE(tested.snapshot());
    return way;
  };
  EXPECT_EQ(way_of_opening(with_entries("bloom1", "0")), recovery_way::created);
  EXPECT_EQ(way_of_opening(with_entries("bloom1", "0")), recovery_way::snapshot);
  EXPECT_EQ(way_of_opening(with_entries("bloom1", "20")), recovery_way::rebuilt);
  EXPECT_EQ(way_of_opening(with_entries("bloom1", "20")), recovery_way::snapshot);
  EXPECT_EQ(way_of_opening(with_entries("bloom1", "0")), recovery_way::rebuilt);
}

// A digest that is stored under another key: no list and no filter can tell the two apart. It is looked for once.
TEST(hopeless, digests_are_remembered_and_never_listed) {
  const auto behind = std::make_shared<counting_store>(std::make_shared<memory_store>());
  guarded_store tested = guarded_store::open(behind, options_of("bloom1")).value();
  for (std::uint32_t i = 0; i < 300; ++i) ASSERT_TRUE(tested.put(colliding_key(i), "v"));
  behind->scanned();
  for (int round = 0; round < 50; ++round) EXPECT_FALSE(tested.contains(colliding_key(1000)).value());
  EXPECT_LE(behind->scanned(), 1u);
  EXPECT_EQ(tested.stats().unfixable, 50u);
  EXPECT_EQ(tested.stats().known_mistakes, 0u);
  for (std::uint32_t i = 0; i < 300; ++i) EXPECT_TRUE(tested.contains(colliding_key(i)).value());
  // Once all of them are gone it is a mistake like any other.
  for (std::uint32_t i = 0; i < 300; ++i) ASSERT_TRUE(tested.erase(colliding_key(i)).value());
  EXPECT_FALSE(tested.contains(colliding_key(1000)).value());
  EXPECT_EQ(tested.stats().known_mistakes, 1u);
  ASSERT_TRUE(tested.put(colliding_key(7), "back"));
  EXPECT_TRUE(tested.contains(colliding_key(7)).value());
  EXPECT_EQ(tested.stats().known_mistakes, 0u);
}

// Only whether the digest is stored had to be read, and nothing had changed: the filter stays.
TEST(unreadable_store, costs_a_mistake_not_the_filter) {
  const auto behind = std::make_shared<unscannable_store>(std::make_shared<memory_store>());
  guarded_store tested = guarded_store::open(behind, with_entries("bloom1", "4000")).value();
  for (std::uint64_t i = 0; i < 4000; ++i) ASSERT_TRUE(tested.put(key_of(i), "v"));
  const double rate = tested.expected_fpr();
  behind->scans_fail = true;
  const std::uint64_t first = reads_of_strangers(tested, 1000);
  EXPECT_EQ(reads_of_strangers(tested, 1000), first);
  EXPECT_EQ(tested.stats().known_mistakes, 0u);
  EXPECT_EQ(tested.stats().rebuilds, 0u);
  EXPECT_EQ(tested.expected_fpr(), rate);
  behind->scans_fail = false;
  EXPECT_EQ(reads_of_strangers(tested, 1000), first);
  EXPECT_EQ(tested.stats().known_mistakes, first);
}

TEST(list_of_a_store, is_divided_among_its_stripes) {
  const auto fast_bits = [](const option_list& given, std::uint32_t stripes) {
    guard_options options = options_of("bloom1", 100'000);
    options.stripes = stripes;
    options.params.options = given;
    return guarded_store::open(std::make_shared<memory_store>(), options).value().bits().fast;
  };
  for (const std::uint32_t stripes : {1u, 4u, 16u}) {
    const std::uint64_t without = fast_bits({{"mistakes", "0"}}, stripes);
    const std::uint64_t part = mistake_list::bits_for((20'000 + stripes - 1) / stripes);
    EXPECT_EQ(fast_bits({{"mistakes", "20000"}}, stripes) - without, stripes * part) << stripes;
    EXPECT_EQ(fast_bits({{"mistakes", "00020000"}}, stripes) - without, stripes * part) << stripes;
    // A 64th of the capacity, and of the room that stripes have to spare; and 1.5 bits per key.
    const auto of_all = static_cast<double>(mistake_list::bits_for(100'000 / 64));
    EXPECT_NEAR(static_cast<double>(fast_bits({}, stripes) - without), of_all, 0.1 * of_all) << stripes;
    EXPECT_NEAR(static_cast<double>(fast_bits({{"mistakes", "1.5b"}}, stripes) - without), 150'000, 15'000) << stripes;
  }
}

TEST(list_of_a_store, that_cannot_be_is_refused_as_it_was_given) {
  for (const char* entries : {"99999999999", "-1", "many", ""}) {
    EXPECT_TRUE(refused(guarded_store::open(std::make_shared<memory_store>(), with_entries("bloom1", entries)),
                        std::string("mistakes=") + entries + ":"));
  }
  guard_options options = with_entries("bloom1", "20");
  options.params.options.emplace_back("mistakes", "20");
  EXPECT_TRUE(refused(guarded_store::open(std::make_shared<memory_store>(), options), "'mistakes': given twice"));
}

TEST(list_of_bits_per_key, that_leaves_nothing_is_refused_by_name) {
  guard_options options = options_of("bloom1");
  options.params = {.capacity = 4000, .bits_per_key = 2};
  EXPECT_TRUE(refused(guarded_store::open(std::make_shared<memory_store>(), options), "mistakes=0"));
  options.params.options = {{"mistakes", "0"}};
  EXPECT_TRUE(guarded_store::open(std::make_shared<memory_store>(), options));
}

}  // namespace
}  // namespace tamis::test
