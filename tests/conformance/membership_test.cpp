// A filter never says "no" to a key that is in.

#include <thread>

#include "tests/conformance/cases.hpp"

namespace tamis::test {

using namespace detail;

namespace {

TAMIS_CONFORMANCE(membership, all_variants());

constexpr std::uint64_t awkward_capacities[] = {1, 2, 3, 63, 64, 65, 127, 128, 129, 1023, 1024, 1025, 65535, 65536, 65537};

TEST_P(membership, holds_every_key_at_every_size) {
  for (const std::uint64_t capacity : awkward_capacities) {
    SCOPED_TRACE(capacity);
    any_filter f = make(capacity);
    const std::vector<digest> all = keys(capacity);
    const std::vector<digest> accepted = insert_all(f, all);
    // Very small tables of some kinds cannot place every set of keys; from a thousand on they must.
    EXPECT_GE(accepted.size(), capacity > 1000 ? capacity : 1);
    EXPECT_TRUE(may_contain_all(f, accepted));
    EXPECT_EQ(f.keys(), accepted.size());
    EXPECT_GE(f.capacity(), capacity);
  }
}

TEST_P(membership, empty_filter_says_no_to_everything) {
  for (const std::uint64_t capacity : {std::uint64_t{1}, std::uint64_t{64}, std::uint64_t{1025}}) {
    const any_filter f = make(capacity);
    EXPECT_EQ(f.keys(), 0u);
    EXPECT_EQ(f.expected_fpr(), 0.0);
    EXPECT_EQ(count_positives(f, strangers(10000)), 0u);
    EXPECT_EQ(count_positives(f, extreme_digests), 0u);
  }
}

TEST_P(membership, extreme_digests_are_keys_like_others) {
  any_filter f = make(100);
  insert_all(f, keys(80));
  for (const digest d : extreme_digests) {
    ASSERT_EQ(f.insert(d), insert_result::inserted);
    EXPECT_TRUE(f.may_contain(d));
  }
  EXPECT_TRUE(may_contain_all(f, extreme_digests));
  EXPECT_TRUE(may_contain_all(f, keys(80)));
}

TEST_P(membership, integers_strings_and_bytes_agree) {
  any_filter integers = make(200);
  any_filter strings = make(200);
  any_filter bytes = make(200);
  for (std::uint64_t key = 0; key < 100; ++key) {
    const std::span<const std::byte> raw = std::as_bytes(std::span(&key, 1));
    const std::string_view text(reinterpret_cast<const char*>(raw.data()), raw.size());
    integers.insert(key);
    strings.insert(text);
    bytes.insert(raw);
    EXPECT_TRUE(integers.may_contain(text) && integers.may_contain(raw));
    EXPECT_TRUE(strings.may_contain(key) && bytes.may_contain(key));
  }
  EXPECT_EQ(integers.save_bytes(), strings.save_bytes());
  EXPECT_EQ(integers.save_bytes(), bytes.save_bytes());
}

TEST_P(membership, keyed_hash_works_as_well) {
  any_filter f = make(1000, default_fpr, hasher::keyed({1, 2}));
  for (std::uint64_t key = 0; key < 900; ++key) ASSERT_EQ(f.insert(key), insert_result::inserted);
  for (std::uint64_t key = 0; key < 900; ++key) ASSERT_TRUE(f.may_contain(key));
}

TEST_P(membership, asking_changes_nothing) {
  const any_filter f = make_full(1000);
  const byte_vector before = f.save_bytes();
  for (const digest d : strangers(2000)) static_cast<void>(f.may_contain(d));
  count_positives(f, strangers(2000));
  static_cast<void>(f.expected_fpr());
  static_cast<void>(f.settings());
  if (f.can().count) {
    for (const digest d : strangers(100)) static_cast<void>(f.count(d).value());
  }
  EXPECT_TRUE(unchanged(f, before));
}

TEST_P(membership, many_readers_get_the_same_answers) {
  const any_filter f = make_full(1000);
  const std::vector<digest> asked = strangers(20000);
  const std::uint64_t alone = count_positives(f, asked);
  std::array<std::uint64_t, 3> together{};
  std::vector<std::thread> readers;
  for (std::uint64_t& answer : together) readers.emplace_back([&] { answer = count_positives(f, asked); });
  for (std::thread& reader : readers) reader.join();
  for (const std::uint64_t answer : together) EXPECT_EQ(answer, alone);
}

TEST_P(membership, copies_are_independent) {
  any_filter original = make(1000);
  insert_all(original, keys(500));
  any_filter copy = original;
  const byte_vector before = original.save_bytes();
  EXPECT_EQ(copy.save_bytes(), before);

  insert_all(copy, keys(400, 500));
  EXPECT_TRUE(unchanged(original, before));
  const byte_vector copied = copy.save_bytes();
  insert_all(original, keys(300, 5000));
  EXPECT_TRUE(unchanged(copy, copied));
  EXPECT_TRUE(may_contain_all(copy, keys(900)));

  copy = original;
  EXPECT_TRUE(unchanged(copy, original.save_bytes()));
  original = make(10);
  EXPECT_TRUE(may_contain_all(copy, keys(500)));
}

TEST_P(membership, description_is_complete) {
  const filter_info& info = *GetParam().entry->info;
  EXPECT_FALSE(info.id.empty() || info.summary.empty() || info.paper.empty());
  EXPECT_GE(info.version, 1u);
  for (const option_info& option : info.options) {
    EXPECT_FALSE(option.name.empty() || option.values.empty() || option.fallback.empty() || option.meaning.empty());
  }
  const any_filter f = make(100);
  EXPECT_EQ(f.info().id, info.id);
  const auto same = [](const capabilities& a, const capabilities& b) {
    return a.erase == b.erase && a.count == b.count && a.adapt == b.adapt && a.expand == b.expand && a.merge == b.merge;
  };
  EXPECT_TRUE(same(f.can(), can()));
}

}  // namespace
}  // namespace tamis::test
