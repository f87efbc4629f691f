#pragma once

// What holds for every cuckoo filter, wherever its two buckets are.

#include "tamis/detail/any/model.hpp"
#include "tests/filters/fingerprint_checks.hpp"
#include "tests/support/keys.hpp"

namespace tamis::test {

template <class F>
void check_every_width() {
  for (unsigned width = 4; width <= 32; ++width) {
    SCOPED_TRACE(width);
    check_against_multiset<F>(300, width, 4000);
    check_refusals_change_nothing<F>(200, width, 20);
  }
}

// A model knows the usual widths as types.
template <class F>
void check_models_of_every_width() {
  for (unsigned width = 4; width <= 32; ++width) {
    SCOPED_TRACE(width);
    F f = make_of_width<F>(1000, width);
    for (const digest d : keys(950)) f.insert(d);
    const std::unique_ptr<any_model> model = detail::make_model<F>(F(f));
    const std::unique_ptr<any_model> copy = model->clone();
    const std::unique_ptr<any_model> emptied = model->emptied().value();
    for (const digest d : keys(20000)) {
      ASSERT_EQ(model->may_contain(d), f.may_contain(d));
      ASSERT_EQ(copy->may_contain(d), f.may_contain(d));
      ASSERT_FALSE(emptied->may_contain(d));
    }
  }
}

// From 2 buckets on.
template <class F>
void check_small_sizes() {
  for (std::uint64_t capacity = 1; capacity <= 400; capacity += capacity < 40 ? 1 : 17) {
    SCOPED_TRACE(capacity);
    check_holds_capacity<F>(capacity, 12, 3);
    check_against_multiset<F>(capacity, 13, 300);
  }
}

template <class F>
void check_load() {
  for (const std::uint64_t capacity : {1000u, 10007u, 62259u, 65536u}) {  // 62,259 = 0.95 * 2^16
    SCOPED_TRACE(capacity);
    for (const unsigned width : {4u, 5u, 6u, 8u, 12u}) check_holds_capacity<F>(capacity, width, capacity < 20000 ? 10 : 4);
    check_holds_capacity<F>(capacity, 19, 2);
  }
}

// Full at 0.95 of 2^16 slots: at most one table in a hundred may refuse a key. At an odd number of keys, where a hundred tables
// would take too long here, none of three. docs/tuning/results-0.1/ascf.md has a hundred of every size up to 2^24.
template <class F>
void check_load_of_many_seeds() {
  const auto refuses = [](std::uint64_t capacity, std::uint64_t seed) {
    F f = make_of_width<F>(capacity, 12);
    detail::random_source random(fingerprint_seed + seed);
    for (std::uint64_t i = 0; i < capacity; ++i) {
      if (f.insert({random(), random()}) == insert_result::full) return true;
    }
    return false;
  };
  unsigned tables = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) tables += refuses(62259, seed);
  EXPECT_LE(tables, 1u);
  for (std::uint64_t seed = 0; seed < 3; ++seed) EXPECT_FALSE(refuses(1000003, seed)) << seed;
}

// Eight copies fit, with other keys around that have to make room; the ninth is refused and changes nothing. In so large a
// table no other key happens to have the same two buckets: it would take one of their eight slots.
template <class F>
void check_copies() {
  for (const unsigned width : {6u, 12u, 16u, 17u, 25u, 32u}) {
    SCOPED_TRACE(width);
    F f = make_of_width<F>(200'000, width);
    const std::vector<digest> others = random_digests(140'000, fingerprint_seed + width);
    for (const digest d : others) ASSERT_EQ(f.insert(d), insert_result::inserted);
    const digest repeated = random_digests(1, fingerprint_seed)[0];
    const std::uint64_t look_alikes = f.count(repeated);
    for (std::uint64_t copy = look_alikes; copy < 8; ++copy) {
      ASSERT_EQ(f.insert(repeated), insert_result::inserted);
      ASSERT_EQ(f.count(repeated), copy + 1);
    }
    const F before = f;
    EXPECT_EQ(f.insert(repeated), insert_result::full);
    EXPECT_EQ(f, before);
    for (const digest d : others) ASSERT_TRUE(f.may_contain(d));
    for (std::uint64_t copy = 8; copy != look_alikes; --copy) ASSERT_EQ(f.erase(repeated), erase_result::erased);
    EXPECT_EQ(f.count(repeated), look_alikes);
    for (const digest d : others) ASSERT_TRUE(f.may_contain(d));
  }
}

// Fields: capacity 8 bytes, keys 8, the addressing, then the table: buckets 8, width 4, words 8 and themselves.
template <class F>
void check_damage(std::size_t addressing_bytes) {
  for (const unsigned width : {7u, 12u, 23u}) {
    F f = make_of_width<F>(100, width);
    for (const digest d : random_digests(60, fingerprint_seed)) ASSERT_EQ(f.insert(d), insert_result::inserted);
    check_round_trip(f);
    const std::size_t table = 16 + addressing_bytes;
    check_refused(f, 8, std::uint64_t{59});  // keys
    check_refused(f, 8, std::uint64_t{61});
    for (std::size_t field = 16; field < table; field += 4) check_refused(f, field, std::uint32_t{3});
    check_refused(f, table, f.slots() / 4 + 2);  // buckets
    check_refused(f, table, std::uint64_t{0});
    check_refused(f, table, ~std::uint64_t{0});
    for (const std::uint32_t wrong : {0u, 3u, width + 1, 33u, 64u}) check_refused(f, table + 8, wrong);
    const std::size_t words = table + 20;
    const std::vector<std::byte> bytes = saved(f);
    check_refused(f, bytes.size() - 8, std::uint64_t{1});  // the spare word
    std::uint64_t first = 0;
    std::memcpy(&first, bytes.data() + words, sizeof first);
    check_refused(f, words, first == 0 ? ~std::uint64_t{0} : std::uint64_t{0});  // keys appear or vanish
  }
}

}  // namespace tamis::test
