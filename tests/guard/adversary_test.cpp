// Keys of somebody who knows the hash, in front of every filter. Nothing is lost, and what a question or a put can cost is
// bounded: in digests scanned and filters rebuilt, which are counted, and in memory.

#include "adversary.hpp"

#include "support.hpp"

namespace tamis::test {

using namespace detail;

namespace {

constexpr std::uint64_t honest = 3000;       // keys, in four stripes
constexpr std::uint64_t adapt_scan = 129;    // digests that one adaptation may look at, and the one that is too many
constexpr std::uint64_t most_doublings = 3;  // a stripe with 750 honest keys, made for a thousand

class adversary : public ::testing::TestWithParam<std::string> {
 protected:
  adversary() {
    options.hash = hasher();
    guarded.emplace(guarded_store::open(behind, options).value());
    for (std::uint64_t i = 0; i < honest; ++i) put(key_of(i));
    start_bits = guarded->bits().fast + guarded->bits().slow;
    behind->scanned();
  }
  bool put(const std::string& key) {
    const status done = guarded->put(key, "v");
    if (done) truth[key] = "v";
    return done.ok();
  }
  // Puts them all, if the filter lets it, and says how many were refused.
  std::uint64_t put_all(const std::vector<std::string>& keys) {
    std::uint64_t refused_puts = 0;
    for (const std::string& key : keys) refused_puts += !put(key);
    return refused_puts;
  }
  static std::vector<std::string> colliding(std::uint32_t first, std::uint32_t count) {
    std::vector<std::string> keys;
    for (std::uint32_t i = 0; i < count; ++i) keys.push_back(colliding_key(first + i));
    return keys;
  }
  std::uint64_t rebuilds() const { return guarded->stats().rebuilds; }
  // A few doublings of one stripe, and per put a look at the few keys beside it.
  void expect_bounded_puts(std::uint64_t puts) {
    EXPECT_LE(rebuilds(), most_doublings);
    EXPECT_LE(behind->scanned(), most_doublings * (honest + puts) + 70 * puts);
    EXPECT_LE(guarded->bits().fast + guarded->bits().slow, 8 * start_bits);
    EXPECT_EQ(lost_keys(*guarded, truth), 0u);
  }
  void expect_bounded_gets(const std::vector<std::string>& strangers) {
    const std::uint64_t before = rebuilds();
    behind->scanned();
    for (int round = 0; round < 20; ++round) {
      for (const std::string& key : strangers) ASSERT_FALSE(guarded->contains(key).value());
      // Whoever asks the same again does not get the same work done again.
      EXPECT_LE(behind->scanned(), round < 2 ? strangers.size() * adapt_scan : 0u) << "round " << round;
    }
    EXPECT_EQ(rebuilds(), before);
    EXPECT_LE(guarded->bits().fast + guarded->bits().slow, 8 * start_bits);
    EXPECT_EQ(lost_keys(*guarded, truth), 0u);
  }
  // A block of rank-indexed hashing that is full of equal digests has no room for honest keys either.
  std::uint64_t refused_honest_puts() const { return GetParam() == "rank-indexed" ? 200 : 0; }
  void expect_honest_use() {
    std::uint64_t refused_puts = 0;
    for (std::uint64_t i = 0; i < 2000; ++i) refused_puts += !put("later " + key_of(i));
    EXPECT_LE(refused_puts, refused_honest_puts());
    for (std::uint64_t i = 0; i < honest; i += 3) {
      ASSERT_TRUE(guarded->erase(key_of(i)).value());
      truth.erase(key_of(i));
    }
    EXPECT_EQ(lost_keys(*guarded, truth), 0u);
  }
  void reopen() {
    guarded.reset();
    guarded.emplace(guarded_store::open(behind, options).value());
    start_bits = guarded->bits().fast + guarded->bits().slow;
  }

  std::shared_ptr<counting_store> behind = std::make_shared<counting_store>(std::make_shared<memory_store>());
  guard_options options = options_of(GetParam());
  std::optional<guarded_store> guarded;
  std::map<std::string, std::string> truth;
  std::uint64_t start_bits = 0;
};

TEST_P(adversary, puts_keys_of_equal_digests) {
  const std::uint64_t refused_puts = put_all(colliding(0, 500));
  expect_bounded_puts(500);
  // Once refused, another is refused without any work.
  if (refused_puts != 0) {
    const std::uint64_t before = rebuilds();
    EXPECT_TRUE(refused(guarded->put(colliding_key(1000), "v"), "same first bits"));
    EXPECT_EQ(rebuilds(), before);
    EXPECT_LE(behind->scanned(), 70u);
  }
  expect_honest_use();
}

TEST_P(adversary, puts_keys_of_equal_digests_while_the_filter_grows) {
  std::uint64_t refused_puts = 0;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    refused_puts += !put("between " + std::to_string(i));
    put(colliding_key(static_cast<std::uint32_t>(i % 100)));
  }
  EXPECT_LE(refused_puts, refused_honest_puts());
  // Six thousand keys in a store for four thousand: every stripe has to grow.
  EXPECT_LE(rebuilds(), 4 * most_doublings);
  EXPECT_EQ(lost_keys(*guarded, truth), 0u);
}

TEST_P(adversary, puts_a_batch_of_keys_of_equal_digests) {
  write_batch batch;
  for (const std::string& key : colliding(0, 500)) batch.put(key, "v");
  for (int i = 0; i < 3; ++i) {
    if (guarded->write(batch)) {
      for (const std::string& key : colliding(0, 500)) truth[key] = "v";
    }
  }
  expect_bounded_puts(1500);
  expect_honest_use();
}

TEST_P(adversary, can_put_again_what_was_refused_once_there_is_room) {
  put_all(colliding(0, 100));
  for (std::uint32_t i = 0; i < 100; ++i) {
    ASSERT_EQ(guarded->erase(colliding_key(i)).value(), truth.erase(colliding_key(i)) != 0);
  }
  EXPECT_EQ(put(colliding_key(7)), can(GetParam()).erase || put(colliding_key(8)));
}

TEST_P(adversary, asks_for_strangers_of_an_equal_digest) {
  put_all(colliding(0, 3000));
  expect_bounded_gets(colliding(10'000, 10));
  const bool wrong = can(GetParam()).adapt && guarded->may_contain(colliding_key(10'000));
  EXPECT_GE(guarded->stats().unfixable, wrong ? 200u : 0u);
}

// The digests' first words are equal and the second ones differ: put into the store directly, since such keys take long to
// find.
TEST_P(adversary, asks_for_strangers_whose_first_word_many_share) {
  const std::vector<std::string> strangers = {"asked 1", "asked 2", "asked 3", "asked 4", "asked 5"};
  write_set set;
  std::vector<std::string> names;
  for (std::uint64_t i = 0; i < 3000; ++i) names.push_back("planted " + std::to_string(i));
  for (std::uint64_t i = 0; i < names.size(); ++i) {
    const digest near = hasher()(std::string_view(strangers[i % strangers.size()]));
    set.entries.push_back({{{near.high, mix64(i)}, names[i]}, "v"});
  }
  ASSERT_TRUE(behind->write(set, false));
  reopen();
  behind->scanned();
  expect_bounded_gets(strangers);
}

TEST_P(adversary, puts_and_asks_for_keys_of_one_place) {
  // The last place of all, and one in the middle.
  for (const std::uint64_t place : {std::uint64_t{0xfff}, std::uint64_t{0x48d}}) {
    std::vector<std::string> keys = keys_beginning(place, 12, 320);
    const std::vector<std::string> strangers(keys.end() - 20, keys.end());
    keys.resize(300);
    put_all(keys);
    EXPECT_LE(rebuilds(), 2 * most_doublings);
    EXPECT_LE(behind->scanned(), 2 * most_doublings * (honest + 600) + 70 * 600);
    for (int round = 0; round < 10; ++round) {
      for (const std::string& key : strangers) ASSERT_FALSE(guarded->contains(key).value());
    }
    EXPECT_LE(behind->scanned(), 10 * strangers.size() * adapt_scan);
    EXPECT_LE(rebuilds(), 2 * most_doublings);
    EXPECT_EQ(lost_keys(*guarded, truth), 0u);
  }
  EXPECT_LE(guarded->bits().fast + guarded->bits().slow, 8 * start_bits);
  expect_honest_use();
}

// A filter that takes few equal digests may be asked for in front of a store that holds many.
TEST_P(adversary, changes_the_filter_in_front_of_equal_digests) {
  guarded.reset();
  const std::string wanted = options.filter;
  options.filter = "bloom1";
  guarded.emplace(guarded_store::open(behind, options).value());
  ASSERT_EQ(put_all(colliding(0, 2000)), 0u);
  options.filter = wanted;
  behind->scanned();
  reopen();
  EXPECT_LE(behind->scanned(), 2 * truth.size());
  EXPECT_EQ(lost_keys(*guarded, truth), 0u);
}

INSTANTIATE_TEST_SUITE_P(filters, adversary, ::testing::ValuesIn(all_filters()), test_name);

// One question's scan is an adaptation's, not the store's.
TEST(adversaries, a_question_does_not_scan_all_keys_of_its_digest) {
  for (const char* id : {"taf", "evergreen", "abf", "toy-everything"}) {
    const auto behind = std::make_shared<counting_store>(std::make_shared<memory_store>());
    guard_options options = options_of(id, 200'000);
    options.hash = hasher();
    { static_cast<void>(guarded_store::open(behind, options).value()); }
    std::vector<std::string> keys;
    for (std::uint32_t i = 0; i < 100'000; ++i) keys.push_back("planted " + std::to_string(i));
    write_set set;
    for (const std::string& key : keys) set.entries.push_back({{hasher()(std::string_view("asked")), key}, "v"});
    ASSERT_TRUE(behind->write(set, false));
    guarded_store guarded = guarded_store::open(behind, options).value();
    behind->scanned();
    for (int i = 0; i < 50; ++i) ASSERT_FALSE(guarded.contains("asked").value());
    EXPECT_LE(behind->scanned(), adapt_scan) << id;
    // A filter that refuses so many is not there at all.
    EXPECT_EQ(guarded.stats().unfixable + guarded.stats().unguarded, 50u) << id;
  }
}

}  // namespace
}  // namespace tamis::test
