// One thread: a concurrent filter does what its kind does, whatever the number of stripes.

#include <algorithm>
#include <memory>

#include "support.hpp"
#include "tests/support/bounds.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/temporary_directory.hpp"

namespace tamis::test {

using namespace detail;

namespace {

class kinds : public ::testing::TestWithParam<std::string> {
 protected:
  static constexpr std::uint64_t capacity = 4000;
  static constexpr std::uint32_t stripes = 8;

  concurrent_filter make(std::uint64_t of = capacity, std::uint32_t parts = stripes) const {
    return make_concurrent(GetParam(), of, parts);
  }
  static result<concurrent_filter> load(const byte_vector& bytes, std::optional<hasher> hash = std::nullopt) {
    return concurrent_filter::load_bytes(bytes, {.hash = hash, .known = &registry_with_toys()});
  }
  static bool has_all(const concurrent_filter& f, const multiset_remote& truth) {
    return std::all_of(truth.begin(), truth.end(), [&](digest d) { return f.may_contain(d); });
  }
};
INSTANTIATE_TEST_SUITE_P(all, kinds, ::testing::ValuesIn(all_kinds()), test_name);

// Random changes, single and in batches, beside a multiset.
TEST_P(kinds, do_what_a_multiset_does) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    random_source random(seed);
    concurrent_filter f = make(600, seed == 1 ? 1 : 8);
    multiset_remote truth;
    const std::vector<digest> pool = keys(500);
    const auto pick = [&] { return pool[random.below(pool.size())]; };
    for (int i = 0; i < 1500; ++i) {
      const digest d = pick();
      switch (random.below(8)) {
        case 0:
        case 1:
          if (truth.size() < 500 && f.insert(d) == insert_result::inserted) truth.insert(d);
          break;
        case 2: {
          if (truth.size() > 400) break;
          std::vector<digest> some;
          for (std::size_t k = 0; k < 1 + random.below(20); ++k) some.push_back(pick());
          std::array<bool, 20> in{};
          const std::size_t count = f.insert_many(some, std::span(in.data(), some.size()));
          ASSERT_EQ(count, static_cast<std::size_t>(std::count(in.begin(), in.end(), true)));
          for (std::size_t k = 0; k < some.size(); ++k) {
            if (in[k]) truth.insert(some[k]);
          }
          break;
        }
        case 3:
          if (!f.can().erase) {
            ASSERT_EQ(f.erase(d), erase_result::unsupported);
          } else if (truth.contains(d)) {
            ASSERT_EQ(f.erase(d), erase_result::erased);
            truth.erase_one(d);
          }
          break;
        case 4: {
          if (!f.can().erase || truth.size() == 0) break;
          std::vector<digest> some;
          for (const digest stored : truth) {
            if (some.size() < 20 && random.chance(0.1)) some.push_back(stored);
          }
          ASSERT_EQ(f.erase_many(some).value(), some.size());
          for (const digest gone : some) truth.erase_one(gone);
          break;
        }
        case 5: {
          const adapt_result how = f.adapt(d, remote_ref(truth));
          if (!f.can().adapt) {
            ASSERT_EQ(how, adapt_result::unsupported);
          } else if (how == adapt_result::is_member) {
            ASSERT_TRUE(truth.contains(d));
          } else if (how == adapt_result::fixed) {
            ASSERT_FALSE(truth.contains(d));
          }
          break;
        }
        case 6:
          if (f.can().rejuvenate && truth.contains(d)) {
            ASSERT_TRUE(f.rejuvenate(d).ok());
          }
          break;
        default:
          if (f.can().count) {
            ASSERT_GE(f.count(d).value(), truth.count(d));
          }
      }
      ASSERT_EQ(f.size(), truth.size());
      if (i % 50 == 0) {
        ASSERT_TRUE(has_all(f, truth));
      }
    }
    ASSERT_TRUE(has_all(f, truth));
  }
}

TEST_P(kinds, cleared_ones_are_as_they_were_made) {
  concurrent_filter f = make();
  const byte_vector made = f.save_bytes();
  ASSERT_EQ(f.insert_many(keys(3000)), 3000u);
  const byte_vector filled = f.save_bytes();
  if (const status is_clear = f.clear(); !is_clear) {
    EXPECT_EQ(is_clear.code(), error_code::unsupported);
    EXPECT_EQ(f.save_bytes(), filled);
    return;
  }
  EXPECT_TRUE(f.empty());
  EXPECT_EQ(f.save_bytes(), made);
  ASSERT_EQ(f.insert_many(keys(3000)), 3000u);
  EXPECT_EQ(f.save_bytes(), filled);
}

TEST_P(kinds, batches_answer_as_single_calls_do) {
  concurrent_filter f = make(20'000, 16);
  const std::vector<digest> in = keys(10'000);  // more than a piece of a batch
  ASSERT_EQ(f.insert_many(in), in.size());
  std::vector<digest> asked = in;
  const std::vector<digest> out = strangers(10'000);
  asked.insert(asked.end(), out.begin(), out.end());
  const auto said = std::make_unique<bool[]>(asked.size());
  f.may_contain_many(asked, {said.get(), asked.size()});
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    ASSERT_EQ(said[i], f.may_contain(asked[i]));
    ASSERT_TRUE(said[i] || i >= in.size());
    wrong += i >= in.size() && said[i];
  }
  EXPECT_LE(f.expected_fpr(), 0.02);
  EXPECT_TRUE(at_most_by_chance(wrong, out.size(), 0.02));
  if (!f.can().count) {
    EXPECT_TRUE(refused(f.count(in[0]), "cannot count"));
    return;
  }
  std::vector<std::uint64_t> counts(asked.size());
  ASSERT_TRUE(f.count_many(asked, counts).ok());
  for (std::size_t i = 0; i < asked.size(); ++i) ASSERT_EQ(counts[i], f.count(asked[i]).value());
}

TEST_P(kinds, take_keys_of_every_type) {
  concurrent_filter f = make();
  ASSERT_EQ(f.insert(std::uint64_t{7}), insert_result::inserted);
  ASSERT_EQ(f.insert("seven"), insert_result::inserted);
  const std::vector<std::string> texts = {"one", "two", "three"};
  ASSERT_EQ(f.insert_many(texts), 3u);
  EXPECT_TRUE(f.may_contain(std::uint64_t{7}));
  EXPECT_TRUE(f.may_contain("seven"));
  for (const std::string& text : texts) EXPECT_TRUE(f.may_contain(text));
  const capabilities can = f.can();
  EXPECT_EQ(f.insert_if_absent("one"), can.erase || can.adapt ? insert_result::unsupported : insert_result::present);
}

TEST_P(kinds, saved_and_loaded_they_are_the_same) {
  concurrent_filter f = make();
  const std::vector<digest> in = keys(2000);
  ASSERT_EQ(f.insert_many(in), in.size());
  for (const save_moment moment : {save_moment::of_each_stripe, save_moment::of_the_whole}) {
    const byte_vector bytes = f.save_bytes(moment);
    concurrent_filter loaded = load(bytes).value();
    EXPECT_EQ(loaded.kind(), f.kind());
    EXPECT_EQ(loaded.stripes(), f.stripes());
    EXPECT_EQ(loaded.size(), f.size());
    EXPECT_EQ(loaded.capacity(), f.capacity());
    for (const digest d : strangers(2000)) ASSERT_EQ(loaded.may_contain(d), f.may_contain(d));
    for (const digest d : in) ASSERT_TRUE(loaded.may_contain(d));
    EXPECT_EQ(loaded.save_bytes(), bytes);
    ASSERT_EQ(loaded.insert("another"), insert_result::inserted);
  }
}

TEST_P(kinds, damaged_files_are_refused) {
  concurrent_filter f = make(100, 2);
  ASSERT_EQ(f.insert_many(keys(50)), 50u);
  const byte_vector bytes = f.save_bytes();
  EXPECT_TRUE(refused(load({bytes.begin(), bytes.end() - 1})));
  random_source random(5);
  for (int i = 0; i < 300; ++i) EXPECT_TRUE(refused(load(with_flipped_bit(bytes, random.below(8 * bytes.size())))));
  byte_vector payload = payload_of(bytes);
  put_number(payload, 0, std::uint32_t{2});
  EXPECT_TRUE(refused(load(reframed(bytes, payload)), "there are 2 stripes"));
  put_number(payload, 0, std::uint32_t{40});
  EXPECT_TRUE(refused(load(reframed(bytes, payload)), "too many"));
  put_number(payload, 0, std::uint32_t{1});
  put_number(payload, 4, ~std::uint64_t{0});  // how many filters follow
  EXPECT_TRUE(refused(load(reframed(bytes, payload))));
  EXPECT_TRUE(refused(load(bytes, hasher::fast(99)), "seed"));
  EXPECT_TRUE(refused(load_bytes(bytes)));  // as any_filter
}

TEST_P(kinds, merge_stripe_by_stripe) {
  concurrent_filter a = make(), b = make();
  const std::vector<digest> left = keys(1000), right = keys(1000, 1000);
  ASSERT_EQ(a.insert_many(left), left.size());
  ASSERT_EQ(b.insert_many(right), right.size());
  const status merged = a.merge(b);
  ASSERT_EQ(merged.ok(), a.can().merge) << (merged.ok() ? "" : merged.message());
  for (const digest d : left) ASSERT_TRUE(a.may_contain(d));
  if (!merged.ok()) return;
  for (const digest d : right) ASSERT_TRUE(a.may_contain(d));
  EXPECT_EQ(a.size(), 2000u);
  EXPECT_TRUE(refused(a.merge(make(capacity, 4)), "stripes"));
}

TEST_P(kinds, are_rebuilt_larger_from_what_is_stored) {
  concurrent_filter f = make(500, 4);
  multiset_remote truth(keys(2500));
  ASSERT_EQ(f.insert_many(keys(300)), 300u);
  ASSERT_TRUE(f.rebuild({.capacity = 5000, .fpr = 0.01}, remote_ref(truth)).ok());
  EXPECT_EQ(f.size(), truth.size());
  EXPECT_GE(f.capacity(), 2500u);
  EXPECT_TRUE(has_all(f, truth));
  EXPECT_EQ(f.stats().rebuilds, 4u);
  EXPECT_LE(f.expected_fpr(), 0.02);
}

TEST_P(kinds, a_rebuild_that_fails_loses_nothing) {
  concurrent_filter f = make(500, 4);
  ASSERT_EQ(f.insert_many(keys(300)), 300u);
  struct unreachable {};
  struct broken_store {
    void for_each_in(digest_range range, const std::function<bool(digest)>& visit) const {
      for (const digest d : keys(300)) {
        if (range.contains(d)) visit(d);
      }
      if (range.first.high >> 62 == 2) throw unreachable();
    }
  };
  const broken_store store;
  EXPECT_THROW(static_cast<void>(f.rebuild({.capacity = 5000, .fpr = 0.01}, remote_ref(store))), unreachable);
  EXPECT_TRUE(has_all(f, multiset_remote(keys(300))));
  EXPECT_EQ(f.size(), 300u);
  ASSERT_EQ(f.insert("after"), insert_result::inserted);  // no lock was left behind
}

TEST_P(kinds, those_that_expand_grow_beside_their_readers) {
  concurrent_filter f = make(200, 2);
  if (!f.can().expand) {
    EXPECT_TRUE(refused(f.expand(), "cannot expand"));
    return;
  }
  constexpr std::size_t many = 6000;
  const std::size_t alone = many / 3;
  const std::vector<digest> in = keys(many);
  // The toy expands only if it is told to.
  const auto grows = [&](digest d) {
    return f.insert(d) == insert_result::inserted || (f.expand().ok() && f.insert(d) == insert_result::inserted);
  };
  for (std::size_t i = 0; i < alone; ++i) ASSERT_TRUE(grows(in[i])) << i;
  const auto went_in = std::make_unique<bool[]>(many - alone);
  static_cast<void>(f.insert_many(std::span(in).subspan(alone), {went_in.get(), many - alone}));
  for (std::size_t i = alone; i < many; ++i) ASSERT_TRUE(went_in[i - alone] || grows(in[i]));
  EXPECT_TRUE(has_all(f, multiset_remote(in)));
  EXPECT_EQ(f.size(), in.size());
  EXPECT_GT(f.stats().growths, 0u);
}

// A remote that fails, and one that is slow, outside of the lock.
TEST_P(kinds, a_failing_remote_changes_nothing) {
  concurrent_filter f = make_concurrent(GetParam(), 1000, 4, 0.2);
  ASSERT_EQ(f.insert_many(keys(900)), 900u);
  const multiset_remote truth(keys(900));
  struct unreachable {};
  struct broken_store {
    void for_each_in(digest_range, const std::function<bool(digest)>&) const { throw unreachable(); }
  };
  const broken_store store;
  const byte_vector before = f.save_bytes();
  std::uint64_t thrown = 0;
  for (const digest d : strangers(300)) {
    try {
      if (f.may_contain(d) && f.adapt(d, remote_ref(store)) == adapt_result::fixed) break;  // it has its own memory
    } catch (const unreachable&) {
      ++thrown;
      ASSERT_EQ(f.save_bytes(), before);
    }
  }
  EXPECT_TRUE(has_all(f, truth));
  ASSERT_EQ(f.insert("after"), insert_result::inserted);
}

TEST_P(kinds, mistakes_are_fixed) {
  concurrent_filter f = make_concurrent(GetParam(), 2000, 4, 0.1);
  if (!f.can().adapt) return;
  multiset_remote truth;
  for (const digest d : keys(1500)) {
    if (f.insert(d) == insert_result::inserted) truth.insert(d);
  }
  std::uint64_t fixed = 0;
  for (const digest d : strangers(60000)) {
    if (fixed == 50 || !f.may_contain(d) || f.adapt(d, remote_ref(truth)) != adapt_result::fixed) continue;
    ++fixed;
    ASSERT_FALSE(f.may_contain(d));
  }
  EXPECT_GT(fixed, 10u);
  EXPECT_EQ(f.stats().adaptations, fixed);
  EXPECT_TRUE(has_all(f, truth));
}

TEST_P(kinds, turns_change_one_key) {
  concurrent_filter f = make();
  {
    concurrent_filter::turn turn = f.take_turn("alice");
    EXPECT_FALSE(turn.may_contain());
    ASSERT_EQ(turn.insert(), insert_result::inserted);
    EXPECT_TRUE(turn.may_contain());
    EXPECT_TRUE(f.may_contain("alice"));
  }
  concurrent_filter::turn turn = f.take_turn("alice");
  EXPECT_EQ(turn.erase(), f.can().erase ? erase_result::erased : erase_result::unsupported);
}

TEST(concurrent, wrong_arguments_are_refused) {
  const filter_params params{.capacity = 1000, .fpr = 0.01};
  EXPECT_TRUE(refused(concurrent_filter::create("bloom", params, {}, {.stripes = 3}), "power of two"));
  EXPECT_TRUE(refused(concurrent_filter::create("bloom", params, {}, {.stripes = 512}), "256"));
  EXPECT_TRUE(refused(concurrent_filter::create("no-such-filter", params), "no-such-filter"));
  EXPECT_TRUE(refused(concurrent_filter::create("bloom", {.capacity = 0, .fpr = 0.01}), "capacity"));
  concurrent_filter bloom = make_concurrent("bloom", 1000, 2);
  EXPECT_TRUE(refused(bloom.erase_many(keys(2)), "a bloom filter cannot erase"));
  EXPECT_TRUE(refused(bloom.rejuvenate(keys(1)[0]), "rejuvenate"));
  EXPECT_TRUE(refused(bloom.merge(make_concurrent("bloom1", 1000, 2))));
}

TEST(concurrent, stripes_follow_from_the_capacity) {
  EXPECT_EQ(make_concurrent("bloom", 1000, 0).stripes(), 1u);
  EXPECT_EQ(make_concurrent("bloom", 100'000, 0).stripes(), 4u);
  EXPECT_EQ(make_concurrent("bloom", 10'000'000, 0).stripes(), 16u);
}

TEST(concurrent, files_go_out_and_in) {
  const temporary_directory directory;
  concurrent_filter f = make_concurrent("cuckoo", 1000, 4);
  ASSERT_EQ(f.insert("alice"), insert_result::inserted);
  const std::string path = directory / "filter";
  ASSERT_TRUE(f.save_file(path).ok());
  EXPECT_TRUE(concurrent_filter::load_file(path).value().may_contain("alice"));
  EXPECT_TRUE(refused(concurrent_filter::load_file(directory / "none"), "none"));
  EXPECT_TRUE(
      refused(concurrent_filter::load_bytes(any_filter::create("bloom", {.capacity = 10, .fpr = 0.1}).value().save_bytes()),
              "of the kind bloom"));
  EXPECT_TRUE(refused(load_file(path), "concurrent"));
}

}  // namespace
}  // namespace tamis::test
