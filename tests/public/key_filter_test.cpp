#include "tamis/key_filter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tamis/filters/bloom.hpp"
#include "tamis/filters/bloom1.hpp"
#include "tamis/filters/cqf.hpp"
#include "tamis/filters/evergreen.hpp"
#include "tamis/filters/infini.hpp"
#include "tamis/filters/rsqf.hpp"
#include "tamis/filters/taf.hpp"
#include "tamis/memory_remote.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/temporary_directory.hpp"

namespace tamis {
namespace {

using test::refused;

struct flow {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::string protocol;
};
void tamis_key_parts(key_parts& parts, const flow& f) { parts(f.from, f.to, f.protocol); }

// A hash of our own: letters of either case are the same.
struct case_blind {
  std::uint64_t seed = 0;
  digest operator()(std::string_view key) const {
    std::string lower(key);
    for (char& c : lower) c = static_cast<char>(c | 0x20);
    return hasher::fast(seed)(lower);
  }
  hash_identity identity() const { return custom_hash("case-blind", seed); }
};
struct other_hash : case_blind {
  hash_identity identity() const { return custom_hash("other"); }
};

std::string text(std::size_t i) { return "key number " + std::to_string(i); }
flow flow_of(std::size_t i) {
  return {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i >> 3), i % 2 ? "tcp" : "udp"};
}

// What a filter cannot do does not exist.
template <class F>
concept erases = requires(F f) {
  f.erase(1);
};
template <class F>
concept inserts_if_absent = requires(F f) {
  f.insert_if_absent(1);
};
static_assert(erases<key_filter<int, rsqf>> && !erases<key_filter<int, bloom>>);
static_assert(inserts_if_absent<key_filter<int, bloom>> && inserts_if_absent<key_filter<int, bloom1>>);
static_assert(!inserts_if_absent<key_filter<int, rsqf>> && !inserts_if_absent<key_filter<int, evergreen>>);
template <class F>
concept shows_filter = requires(F f) {
  f.filter();
};
static_assert(shows_filter<key_filter<std::string>> && shows_filter<key_filter<std::string, bloom, case_blind>>);
static_assert(!shows_filter<key_filter<std::string, any_filter, case_blind>>, "its hash is not the filter's");

template <class F>
class key_filters : public ::testing::Test {};
struct static_texts {
  using type = key_filter<std::string, rsqf>;
  static auto make() { return type::create({.capacity = 1000, .fpr = 0.001}).value(); }
  static std::string key(std::size_t i) { return text(i); }
};
struct erased_texts {
  using type = key_filter<std::string>;
  static auto make() { return type::create("rsqf", {.capacity = 1000, .fpr = 0.001}).value(); }
  static std::string key(std::size_t i) { return text(i); }
};
struct static_numbers {
  using type = key_filter<std::int32_t, cqf>;
  static auto make() { return type::create({.capacity = 1000, .fpr = 0.001}, hasher::keyed({1, 2})).value(); }
  static std::int32_t key(std::size_t i) { return -static_cast<std::int32_t>(i); }
};
struct erased_flows {
  using type = key_filter<flow>;
  static auto make() { return type::create("evergreen", {.capacity = 1000, .fpr = 0.001}).value(); }
  static flow key(std::size_t i) { return flow_of(i); }
};
struct static_own_hash {
  using type = key_filter<std::string, rsqf, case_blind>;
  static auto make() { return type::create({.capacity = 1000, .fpr = 0.001}, case_blind{5}).value(); }
  static std::string key(std::size_t i) { return text(i); }
};
struct erased_own_hash {
  using type = key_filter<std::string, any_filter, case_blind>;
  static auto make() { return type::create("rsqf", {.capacity = 1000, .fpr = 0.001}, case_blind{5}).value(); }
  static std::string key(std::size_t i) { return text(i); }
};
using kinds = ::testing::Types<static_texts, erased_texts, static_numbers, erased_flows, static_own_hash, erased_own_hash>;
TYPED_TEST_SUITE(key_filters, kinds);

std::uint64_t number(std::uint64_t n) { return n; }
std::uint64_t number(const result<std::uint64_t>& n) { return n.value(); }

template <class Kind>
auto keys_of(std::size_t count, std::size_t first = 0) {
  std::vector<decltype(Kind::key(0))> made;
  for (std::size_t i = 0; i < count; ++i) made.push_back(Kind::key(first + i));
  return made;
}

TYPED_TEST(key_filters, keys_go_in_and_out) {
  auto f = TypeParam::make();
  EXPECT_TRUE(f.empty());
  for (std::size_t i = 0; i < 500; ++i) ASSERT_EQ(f.insert(TypeParam::key(i)), insert_result::inserted);
  EXPECT_EQ(f.size(), 500u);
  for (std::size_t i = 0; i < 500; ++i) ASSERT_TRUE(f.may_contain(TypeParam::key(i)));
  std::size_t wrong = 0;
  for (std::size_t i = 1000; i < 2000; ++i) wrong += f.may_contain(TypeParam::key(i));
  EXPECT_LT(wrong, 20u);  // 1 expected; Poisson: below 1e-18
  EXPECT_GE(number(f.count(TypeParam::key(3))), 1u);
  ASSERT_EQ(f.insert(TypeParam::key(3)), insert_result::inserted);
  EXPECT_GE(number(f.count(TypeParam::key(3))), 2u);
  for (std::size_t i = 0; i < 500; ++i) ASSERT_EQ(f.erase(TypeParam::key(i)), erase_result::erased);
  EXPECT_EQ(f.size(), 1u);
  EXPECT_TRUE(f.may_contain(TypeParam::key(3)));
}

TYPED_TEST(key_filters, batches_do_what_single_calls_do) {
  for (const std::size_t size : {0u, 1u, 31u, 32u, 33u, 64u, 96u, 97u, 128u, 300u}) {
    auto one_by_one = TypeParam::make();
    auto at_once = TypeParam::make();
    const auto keys = keys_of<TypeParam>(size);
    for (const auto& key : keys) ASSERT_EQ(one_by_one.insert(key), insert_result::inserted);
    const auto went = std::make_unique<bool[]>(size + 1);
    EXPECT_EQ(at_once.insert_many(keys, std::span(went.get(), size)), size);
    EXPECT_EQ(std::count(went.get(), went.get() + size, true), static_cast<std::ptrdiff_t>(size));
    EXPECT_EQ(at_once.save_bytes(), one_by_one.save_bytes());
    const auto asked = keys_of<TypeParam>(2 * size, size / 2);
    const auto answers = std::make_unique<bool[]>(2 * size + 1);
    at_once.may_contain_many(asked, std::span(answers.get(), 2 * size));
    for (std::size_t i = 0; i < asked.size(); ++i) ASSERT_EQ(answers[i], one_by_one.may_contain(asked[i]));
    for (const auto& key : keys) ASSERT_EQ(one_by_one.erase(key), erase_result::erased);
    EXPECT_EQ(number(at_once.erase_many(keys)), size);
    EXPECT_EQ(at_once.save_bytes(), one_by_one.save_bytes());
  }
}

TYPED_TEST(key_filters, saved_ones_load_and_damaged_ones_do_not) {
  using filter = typename TypeParam::type;
  auto f = TypeParam::make();
  ASSERT_EQ(f.insert_many(keys_of<TypeParam>(100)), 100u);
  const auto hash = f.hash();
  auto bytes = f.save_bytes();
  auto loaded = filter::load_bytes(bytes, hash);
  ASSERT_TRUE(loaded.ok()) << loaded.message();
  for (const auto& key : keys_of<TypeParam>(100)) ASSERT_TRUE(loaded->may_contain(key));
  EXPECT_EQ(loaded->save_bytes(), bytes);

  const test::temporary_directory folder;
  const std::string path = (folder.path() / "keys.tamis").string();
  ASSERT_TRUE(f.save_file(path).ok());
  EXPECT_EQ(filter::load_file(path, hash).value().save_bytes(), bytes);
  EXPECT_TRUE(refused(filter::load_file(path + "x", hash), path + "x"));
  for (std::size_t bit = 0; bit < 8 * bytes.size(); bit += 7) {
    ASSERT_FALSE(filter::load_bytes(test::with_flipped_bit(bytes, bit), hash).ok()) << bit;
  }
  while (!bytes.empty()) {
    bytes.pop_back();
    ASSERT_FALSE(filter::load_bytes(bytes, hash).ok()) << bytes.size();
  }
}

TYPED_TEST(key_filters, swap_and_merge) {
  auto a = TypeParam::make();
  auto b = TypeParam::make();
  ASSERT_EQ(a.insert_many(keys_of<TypeParam>(50)), 50u);
  ASSERT_EQ(b.insert_many(keys_of<TypeParam>(30, 50)), 30u);
  swap(a, b);
  EXPECT_EQ(a.size(), 30u);
  EXPECT_EQ(b.size(), 50u);
  ASSERT_TRUE(a.merge(b).ok());
  for (const auto& key : keys_of<TypeParam>(80)) EXPECT_TRUE(a.may_contain(key));
}

TYPED_TEST(key_filters, cleared_ones_are_as_they_were_made) {
  auto f = TypeParam::make();
  if constexpr (requires { f.clear(); }) {
    const std::vector<std::byte> made = f.save_bytes();
    ASSERT_EQ(f.insert_many(keys_of<TypeParam>(50)), 50u);
    const std::vector<std::byte> filled = f.save_bytes();
    const status is_clear = f.clear();
    EXPECT_EQ(f.save_bytes(), is_clear.ok() ? made : filled);
    EXPECT_EQ(f.empty(), is_clear.ok());
    if (!is_clear) {
      EXPECT_EQ(is_clear.code(), error_code::unsupported);
    }
  }
}

// The same bytes, whichever of the two filled it: files go both ways.
TEST(key_filter, static_files_are_those_of_any_filter) {
  auto typed = key_filter<std::string, rsqf>::create({.capacity = 500, .fpr = 0.01}, hasher::fast(7)).value();
  any_filter erased = any_filter::create("rsqf", {.capacity = 500, .fpr = 0.01}, hasher::fast(7)).value();
  for (std::size_t i = 0; i < 300; ++i) {
    ASSERT_EQ(typed.insert(text(i)), insert_result::inserted);
    ASSERT_EQ(erased.insert(text(i)), insert_result::inserted);
  }
  EXPECT_EQ(typed.save_bytes(), erased.save_bytes());
  EXPECT_TRUE(load_bytes(typed.save_bytes()).value().may_contain(text(5)));
  const auto back = key_filter<std::string, rsqf>::load_bytes(erased.save_bytes());
  ASSERT_TRUE(back.ok()) << back.message();
  EXPECT_EQ(back->hash().identity(), hasher::fast(7).identity());
  EXPECT_TRUE(refused(key_filter<std::string, cqf>::load_bytes(erased.save_bytes()), "rsqf, not cqf"));
  EXPECT_EQ(key_filter<std::string>::load_bytes(erased.save_bytes()).value().save_bytes(), erased.save_bytes());
}

TEST(key_filter, a_static_type_becomes_an_any_filter) {
  auto typed = key_filter<flow, evergreen>::create({.capacity = 500, .fpr = 0.01}, hasher::keyed({1, 2})).value();
  for (std::size_t i = 0; i < 300; ++i) ASSERT_EQ(typed.insert(flow_of(i)), insert_result::inserted);
  const auto bytes = typed.save_bytes();
  any_filter erased = std::move(typed).to_any();
  EXPECT_EQ(erased.save_bytes(), bytes);
  EXPECT_TRUE(erased.can().adapt);
  EXPECT_EQ(erased.info().id, "evergreen");
  for (std::size_t i = 0; i < 300; ++i) ASSERT_TRUE(erased.may_contain(flow_of(i)));
}

TEST(key_filter, files_of_another_hash_are_refused_by_name) {
  using mine = key_filter<std::string, bloom1, case_blind>;
  using others = key_filter<std::string, bloom1, other_hash>;
  using ours = key_filter<std::string, bloom1>;
  mine f = mine::create({.capacity = 100, .fpr = 0.01}).value();
  f.insert("Alice");
  EXPECT_TRUE(f.may_contain("ALICE"));
  const auto bytes = f.save_bytes();
  EXPECT_TRUE(mine::load_bytes(bytes).value().may_contain("aLICE"));
  EXPECT_TRUE(refused(mine::load_bytes(bytes, case_blind{1}), "another seed"));
  EXPECT_TRUE(refused(others::load_bytes(bytes), "'case-blind', not through the hash 'other'"));
  EXPECT_TRUE(refused(ours::load_bytes(bytes), "'case-blind'"));
  EXPECT_TRUE(refused(ours::load_bytes(bytes, hasher()), "'case-blind', not through the fast hash"));
  EXPECT_TRUE(refused(load_bytes(bytes), "'case-blind'"));
  EXPECT_EQ(load_bytes(bytes).code(), error_code::wrong_hash);
  const auto plain = ours::create({.capacity = 100, .fpr = 0.01}).value().save_bytes();
  EXPECT_TRUE(refused(mine::load_bytes(plain), "the fast hash, not through the hash 'case-blind'"));
  const auto keyed = ours::create({.capacity = 100, .fpr = 0.01}, hasher::keyed({3, 4})).value().save_bytes();
  EXPECT_TRUE(refused(ours::load_bytes(keyed), "secret"));
  EXPECT_TRUE(ours::load_bytes(keyed, hasher::keyed({3, 4})).ok());
}

TEST(key_filter, filters_of_different_hashes_do_not_merge) {
  using filter = key_filter<std::string, bloom1, case_blind>;
  filter a = filter::create({.capacity = 100, .fpr = 0.01}).value();
  const filter b = filter::create({.capacity = 100, .fpr = 0.01}, case_blind{1}).value();
  EXPECT_TRUE(refused(a.merge(b), "hash"));
}

TEST(key_filter, adapts_with_a_remote_of_digests) {
  auto f =
      key_filter<std::uint64_t, evergreen>::create({.capacity = 2000, .fpr = 0.05, .options = {{"segment", "64"}}}).value();
  const filter_params params{.capacity = 2000, .fpr = 0.05, .options = {{"segment", "64"}}};
  auto erased = key_filter<std::uint64_t>::create("evergreen", params).value();
  memory_remote stored;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    ASSERT_EQ(f.insert(i), insert_result::inserted);
    ASSERT_EQ(erased.insert(i), insert_result::inserted);
    stored.insert(f.digest_of(i));
  }
  std::size_t fixed = 0;
  for (std::uint64_t i = 5000; i < 10000; ++i) {
    if (!f.may_contain(i)) continue;
    ASSERT_EQ(f.adapt(i, stored), erased.adapt(i, stored));
    fixed += !f.may_contain(i);
  }
  EXPECT_GT(fixed, 50u);  // of about 250
  EXPECT_EQ(f.adapt(7, stored), adapt_result::is_member);
  for (std::uint64_t i = 0; i < 2000; ++i) ASSERT_TRUE(f.may_contain(i) && erased.may_contain(i));
}

template <class F>
void updates_with_a_remote(F f, F other) {
  memory_remote stored;
  for (std::size_t i = 0; i < 300; ++i) {
    ASSERT_EQ(f.insert(text(i), stored), insert_result::inserted);
    ASSERT_EQ(other.insert(text(1000 + i), stored), insert_result::inserted);
    stored.insert(f.digest_of(text(i)));
    stored.insert(f.digest_of(text(1000 + i)));
  }
  ASSERT_TRUE(f.merge(other, stored).ok());
  EXPECT_EQ(f.size(), 600u);
  for (std::size_t i = 0; i < 300; ++i) ASSERT_TRUE(f.may_contain(text(i)) && f.may_contain(text(1000 + i)));
  for (std::size_t i = 0; i < 300; ++i) ASSERT_EQ(f.erase(text(i), stored), erase_result::erased);
  EXPECT_EQ(f.size(), 300u);
  for (std::size_t i = 0; i < 300; ++i) ASSERT_TRUE(f.may_contain(text(1000 + i)));
}
TEST(key_filter, updates_with_a_remote_of_digests) {
  const filter_params params{.capacity = 1000, .fpr = 0.001};
  using erased = key_filter<std::string>;
  updates_with_a_remote(erased::create("taf", params).value(), erased::create("taf", params).value());
  using fixed = key_filter<std::string, taf>;
  updates_with_a_remote(fixed::create(params).value(), fixed::create(params).value());
  using plain = key_filter<std::string, rsqf>;
  updates_with_a_remote(plain::create(params).value(), plain::create(params).value());
}

template <class F>
void counts_a_batch(F f) {
  std::vector<std::int32_t> keys;
  for (std::int32_t i = 0; i < 100; ++i) {
    keys.push_back(i);
    for (std::int32_t copy = 0; copy < i % 3; ++copy) ASSERT_EQ(f.insert(i), insert_result::inserted);
  }
  std::vector<std::uint64_t> copies(keys.size());
  ASSERT_TRUE(f.count_many(keys, copies).ok());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_GE(copies[i], i % 3);
    EXPECT_EQ(copies[i], number(f.count(keys[i])));
  }
}
TEST(key_filter, counts_batches) {
  counts_a_batch(key_filter<std::int32_t, cqf>::create({.capacity = 1000, .fpr = 0.001}).value());
  counts_a_batch(key_filter<std::int32_t>::create("cqf", {.capacity = 1000, .fpr = 0.001}).value());
  auto cannot = key_filter<std::int32_t>::create("bloom", {.capacity = 10, .fpr = 0.01}).value();
  EXPECT_EQ(cannot.count_many({}, {}).code(), error_code::unsupported);
  EXPECT_EQ(cannot.rejuvenate_many({}).code(), error_code::unsupported);
}

// A filter that has grown gives its old entries their bits back.
template <class F>
void rejuvenates_a_batch(F f) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < 5000; ++i) keys.push_back(text(i));
  ASSERT_EQ(f.insert_many(keys), keys.size());
  const double before = f.expected_fpr();
  ASSERT_TRUE(f.rejuvenate_many(keys).ok());
  EXPECT_LT(f.expected_fpr(), before);
  for (const std::string& key : keys) ASSERT_TRUE(f.may_contain(key));
}
TEST(key_filter, rejuvenates_batches) {
  rejuvenates_a_batch(key_filter<std::string, infini>::create({.capacity = 100, .fpr = 0.01}).value());
  rejuvenates_a_batch(key_filter<std::string>::create("infini", {.capacity = 100, .fpr = 0.01}).value());
}

TEST(key_filter, inserts_only_what_is_absent) {
  auto seen = key_filter<std::string, bloom1>::create({.capacity = 100, .fpr = 0.001}).value();
  EXPECT_EQ(seen.insert_if_absent("a"), insert_result::inserted);
  EXPECT_EQ(seen.insert_if_absent("a"), insert_result::present);
  EXPECT_EQ(seen.size(), 1u);
  auto erased = key_filter<std::string>::create("rsqf", {.capacity = 100, .fpr = 0.001}).value();
  EXPECT_EQ(erased.insert_if_absent("a"), insert_result::unsupported);
  EXPECT_TRUE(erased.empty());
}

TEST(key_filter, takes_options_as_a_struct) {
  using filter = key_filter<std::uint64_t, bloom>;
  EXPECT_EQ(filter::create({.capacity = 100, .fpr = 0.01}, {.k = 3}).value().filter().settings(), (option_list{{"k", "3"}}));
  EXPECT_TRUE(refused(filter::create({.capacity = 100, .fpr = 0.01}, {.k = 65}), "k=65"));
}

}  // namespace
}  // namespace tamis
