// The adaptive cuckoo filters beyond what the conformance suite asks of every filter.

#include "tamis/filters/acf.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>

#include "tamis/detail/base/random.hpp"
#include "tests/support/bounds.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/keys.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

// Puts nonsense into the labels that guide the search for room.
struct label_access {
  template <class Filter>
  static void scramble(Filter& f, random_source& random) {
    auto& slots = f.slots_;
    for (std::uint64_t bin = 0; bin < slots.shape_.bins * slots.shape_.k; ++bin) {
      slots.labels_.set(bin, static_cast<unsigned>(random.below(distance_hints::largest + 1)));
    }
  }
  template <class Filter>
  static void fill(Filter& f, unsigned label) {
    auto& slots = f.slots_;
    for (std::uint64_t bin = 0; bin < slots.shape_.bins * slots.shape_.k; ++bin) slots.labels_.set(bin, label);
  }
};

}  // namespace tamis::detail::inline TAMIS_LEVEL

namespace tamis::test {

using namespace detail;

namespace {

template <class F>
F made(std::uint64_t capacity, option_list options = {}, double fpr = 0.3) {
  return F::create({.capacity = capacity, .fpr = fpr, .options = std::move(options)}).value();
}

template <class F>
F filled(std::uint64_t count, option_list options = {}, double fpr = 0.3) {
  F f = made<F>(count, std::move(options), fpr);
  for (const digest d : keys(count)) {
    if (f.insert(d) != insert_result::inserted) throw std::runtime_error("the filter does not hold its capacity");
  }
  return f;
}

template <class F>
bool may_contain_each(const F& f, std::span<const digest> digests) {
  return std::all_of(digests.begin(), digests.end(), [&](digest d) { return f.may_contain(d); });
}

// As many of them as go in.
template <class F>
std::vector<digest> insert_until_full(F& f, std::span<const digest> digests) {
  std::vector<digest> in;
  for (const digest d : digests) {
    if (f.insert(d) == insert_result::inserted) in.push_back(d);
  }
  return in;
}

// Asks every one of them and reports what is wrong: how often each answer came.
template <class F>
std::map<adapt_result, std::uint64_t> adapt_all(F& f, std::span<const digest> asked) {
  std::map<adapt_result, std::uint64_t> answers;
  for (const digest d : asked) {
    if (f.may_contain(d)) ++answers[f.adapt(d)];
  }
  return answers;
}

template <class F>
class every_acf : public ::testing::Test {};
using all_kinds = ::testing::Types<acf_cuckooing, acf_cyclic, acf_swapping>;
TYPED_TEST_SUITE(every_acf, all_kinds);

static_assert(adaptive_alone<acf_cuckooing> && erasable<acf_cyclic> && !counting<acf_swapping> && !mergeable<acf_cuckooing>);

// Every k and b, at the highest load that the shape allows.
TYPED_TEST(every_acf, any_shape_holds_its_capacity_and_adapts) {
  constexpr std::uint64_t count = 700;
  for (unsigned k = 2; k <= 8; ++k) {
    for (unsigned b = TypeParam::info.id == "acf-swapping" ? 2 : 1; b <= 8; ++b) {
      const unsigned load = std::min(96u, acf_reachable_percent(k, b));
      const option_list shape = {{"k", std::to_string(k)}, {"b", std::to_string(b)}, {"load", std::to_string(load)}};
      SCOPED_TRACE(::testing::Message() << "k = " << k << ", b = " << b << ", load " << load);
      TypeParam f = filled<TypeParam>(count, shape, 0.1);
      EXPECT_EQ(f.slots() % (k * b), 0u);
      EXPECT_TRUE(may_contain_each(f, keys(count)));
      for (const digest d : strangers(500)) {
        if (!f.may_contain(d)) continue;
        const TypeParam before = f;
        if (f.adapt(d) == adapt_result::fixed) {
          ASSERT_FALSE(f.may_contain(d));
        } else {
          ASSERT_EQ(f, before);
        }
      }
      EXPECT_TRUE(may_contain_each(f, keys(count)));
      for (const digest d : keys(count)) ASSERT_EQ(f.erase(d), erase_result::erased);
      EXPECT_EQ(f.keys(), 0u);
    }
  }
}

TYPED_TEST(every_acf, any_fingerprint_width_has_its_rate) {
  constexpr std::uint64_t asked = 100000;
  const std::vector<digest> others = strangers(asked);
  for (unsigned width = 4; width <= 48; ++width) {
    SCOPED_TRACE(width);
    const TypeParam f = filled<TypeParam>(3000, {{"fingerprint", std::to_string(width)}}, 0.45);
    EXPECT_TRUE(may_contain_each(f, keys(3000)));
    const auto positives = std::count_if(others.begin(), others.end(), [&](digest d) { return f.may_contain(d); });
    EXPECT_TRUE(at_most_by_chance(static_cast<std::uint64_t>(positives), asked, f.expected_fpr() * 1.05));
    EXPECT_TRUE(at_least_by_chance(static_cast<std::uint64_t>(positives), asked, f.expected_fpr() * 0.95));
    EXPECT_LE(f.bits().fast, f.slots() * (width + 1) + 128);
    const bool labelled = TypeParam::info.id == "acf-cuckooing";  // two bits for a bin, which is a slot here, and seven bytes
    EXPECT_EQ(f.bits().slow, f.slots() * 136 + (labelled ? (f.slots() + 3) / 4 * 8 + 56 : 0));
  }
}

// A question that collides with several keys is fixed only when all of them are stored differently.
TYPED_TEST(every_acf, all_collisions_of_a_question_are_fixed) {
  TypeParam f = filled<TypeParam>(4000, {}, 0.4);
  const auto answers = adapt_all(f, strangers(3000));
  EXPECT_GT(answers.at(adapt_result::fixed), 500u);
  EXPECT_TRUE(may_contain_each(f, keys(4000)));
}

TYPED_TEST(every_acf, member_is_told_from_a_false_positive_and_changes_nothing) {
  TypeParam f = filled<TypeParam>(2000);
  adapt_all(f, strangers(2000));
  const TypeParam before = f;
  for (const digest d : keys(2000)) ASSERT_EQ(f.adapt(d), adapt_result::is_member);
  for (const digest d : strangers(2000)) {
    if (!f.may_contain(d)) {
      ASSERT_EQ(f.adapt(d), adapt_result::not_positive);
    }
  }
  EXPECT_EQ(f, before);
}

TYPED_TEST(every_acf, load_beyond_reach_is_refused_with_the_reachable_one) {
  const auto refused_load = [](const char* k, const char* b, const char* load) {
    return TypeParam::create({.capacity = 1000, .fpr = 0.1, .options = {{"k", k}, {"b", b}, {"load", load}}});
  };
  EXPECT_TRUE(refused(refused_load("2", "2", "95"), "88 %"));
  EXPECT_TRUE(refused_load("2", "2", "88").ok());
  if (TypeParam::info.id == "acf-swapping") {
    EXPECT_TRUE(refused(refused_load("4", "1", "50"), "option b=1"));
  } else {
    EXPECT_TRUE(refused(refused_load("2", "1", "95"), "48 %"));
    EXPECT_TRUE(refused(refused_load("3", "1", "91"), "90 %"));
    EXPECT_TRUE(refused_load("4", "1", "96").ok());
  }
}

TYPED_TEST(every_acf, refused_insert_changes_nothing) {
  TypeParam f = made<TypeParam>(300);
  std::vector<digest> in;
  std::uint64_t refusals = 0;
  for (const digest d : keys(600)) {
    const TypeParam before = f;
    if (f.insert(d) == insert_result::inserted) {
      in.push_back(d);
    } else {
      ASSERT_EQ(f, before);
      ++refusals;
    }
  }
  EXPECT_GE(in.size(), 300u);
  EXPECT_GT(refusals, 0u);
  EXPECT_TRUE(may_contain_each(f, in));
}

// Tables of two bins cannot hold three keys of the same bins: only new hashes help.
TEST(acf_rebuild, new_hashes_make_room_and_lose_nothing) {
  std::uint64_t rebuilds = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    acf_cuckooing f = made<acf_cuckooing>(8, {{"k", "2"}, {"b", "1"}, {"load", "48"}});
    const std::uint64_t slots = f.slots();
    const std::vector<digest> in = keys(8, seed * 8);
    for (const digest d : in) ASSERT_EQ(f.insert(d), insert_result::inserted) << "seed " << seed;
    EXPECT_TRUE(may_contain_each(f, in));
    EXPECT_EQ(f.slots(), slots);
    rebuilds += f.rebuilds();
    for (const digest d : in) ASSERT_EQ(f.erase(d), erase_result::erased);
    EXPECT_EQ(f.keys(), 0u);
  }
  EXPECT_GT(rebuilds, 0u);
}

// In a table of two bins for a key, a chain that comes back brings the key to the slot that it should leave.
TEST(acf_loops, are_reported_and_change_nothing) {
  for (const char* path : {"guided", "shortest", "paper"}) {
    std::uint64_t loops = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      acf_cuckooing f = made<acf_cuckooing>(20, {{"k", "2"}, {"b", "1"}, {"load", "48"}, {"path", path}, {"fingerprint", "4"}});
      for (const digest d : keys(20, seed * 20)) ASSERT_EQ(f.insert(d), insert_result::inserted);
      for (const digest d : strangers(200)) {
        const acf_cuckooing before = f;
        if (f.adapt(d) != adapt_result::unfixable) continue;
        ++loops;
        ASSERT_EQ(f, before) << path << ", seed " << seed;
        ASSERT_TRUE(f.may_contain(d));
      }
      EXPECT_TRUE(may_contain_each(f, keys(20, seed * 20)));
    }
    EXPECT_GT(loops, 0u) << path;
  }
}

// In tables as full as they are meant to get, where keys have few places: what cannot be fixed with a bounded number of moves
// is left alone, and nobody gives all keys new hashes for it.
TEST(acf_work, of_an_adapt_is_bounded) {
  std::uint64_t unfixable = 0;
  const auto expect_bounded = [&unfixable](auto f) {
    const std::vector<digest> in = insert_until_full(f, strangers(f.capacity(), 1000));
    const std::uint64_t rebuilds = f.rebuilds();
    const std::uint64_t most_moves = 32 * (2 + static_cast<std::uint64_t>(std::bit_width(f.keys())));
    for (const digest d : strangers(20000, 5000)) {
      if (!f.may_contain(d)) continue;
      const std::uint64_t moves = f.moves();
      const auto before = f;
      if (f.adapt(d) == adapt_result::unfixable) {
        ++unfixable;
        ASSERT_EQ(f, before);
      }
      ASSERT_LE(f.moves() - moves, 2 * most_moves);
      ASSERT_EQ(f.rebuilds(), rebuilds);
    }
    EXPECT_TRUE(may_contain_each(f, in));
  };
  for (const char* path : {"guided", "shortest", "paper"}) {
    SCOPED_TRACE(path);
    unfixable = 0;
    expect_bounded(made<acf_cuckooing>(200, {{"k", "2"}, {"b", "1"}, {"load", "48"}, {"path", path}, {"fingerprint", "4"}}));
    EXPECT_GT(unfixable, 0u);
    expect_bounded(made<acf_cuckooing>(200, {{"k", "2"}, {"b", "2"}, {"path", path}, {"load", "85"}, {"fingerprint", "4"}}));
  }
  // The paper's chains become too long here five times.
  expect_bounded(made<acf_cuckooing>(1000, {{"load", "96"}, {"path", "paper"}}));
  expect_bounded(made<acf_cyclic>(200, {{"fingerprint", "4"}}));
  expect_bounded(made<acf_swapping>(200, {{"fingerprint", "5"}}));
}

// Copies of one key fill all its slots, and then no more are taken: new hashes would not help.
TEST(acf_work, copies_of_a_key_are_no_reason_for_new_hashes) {
  const auto expect_no_rebuild = [](auto f) {
    insert_until_full(f, keys(100));
    const std::uint64_t rebuilds = f.rebuilds();
    const digest d = strangers(1)[0];
    std::uint64_t copies = 0;
    for (int i = 0; i < 1000; ++i) copies += f.insert(d) == insert_result::inserted;
    EXPECT_LE(copies, 8u);
    EXPECT_EQ(f.rebuilds(), rebuilds);
  };
  expect_no_rebuild(made<acf_cuckooing>(1000));
  expect_no_rebuild(made<acf_cyclic>(1000));
  expect_no_rebuild(made<acf_swapping>(1000));
}

TEST(acf_paths, shortest_moves_fewest_keys_and_guided_nearly_as_few) {
  const auto moves_per_fix = [](const char* path) {
    acf_cuckooing f = filled<acf_cuckooing>(20000, {{"path", path}}, 0.01);
    adapt_all(f, strangers(20000));
    EXPECT_GT(f.fixes(), 50u);
    return static_cast<double>(f.moves()) / static_cast<double>(f.fixes());
  };
  const double paper = moves_per_fix("paper");
  const double shortest = moves_per_fix("shortest");
  const double guided = moves_per_fix("guided");
  EXPECT_GT(paper, 4 * shortest);
  EXPECT_LE(guided, 1.3 * shortest);
}

// The labels are hints: with nonsense in them keys still find room up to the same load, and nothing is lost.
TEST(acf_labels, wrong_ones_lose_no_key_and_end_every_search) {
  constexpr std::uint64_t count = 3000;
  random_source random(20240903);
  for (const option_list& shape :
       {option_list{}, {{"k", "2"}, {"b", "4"}}, {{"k", "3"}, {"b", "2"}}, {{"k", "8"}, {"b", "8"}}}) {
    for (const unsigned label : {0u, 1u, 2u, 3u, 4u}) {  // all the same, or random
      SCOPED_TRACE(::testing::Message() << shape.size() << " options, label " << label);
      acf_cuckooing f = made<acf_cuckooing>(count, shape, 0.2);
      const auto spoil = [&] {
        label > distance_hints::largest ? label_access::scramble(f, random) : label_access::fill(f, label);
      };
      for (std::uint64_t i = 0; i < count; ++i) {
        if (i % 100 == 0) spoil();
        ASSERT_EQ(f.insert(keys(1, i)[0]), insert_result::inserted);
      }
      std::uint64_t fixed = 0;
      for (const digest d : strangers(4000)) {
        if (!f.may_contain(d)) continue;
        if (fixed % 8 == 0) spoil();
        const acf_cuckooing before = f;
        if (f.adapt(d) == adapt_result::fixed) {
          ++fixed;
          ASSERT_FALSE(f.may_contain(d));
        } else {
          ASSERT_EQ(f, before);
        }
      }
      EXPECT_GT(fixed, 100u);
      EXPECT_TRUE(may_contain_each(f, keys(count)));
      for (const digest d : keys(count)) ASSERT_EQ(f.erase(d), erase_result::erased);
      EXPECT_EQ(f.keys(), 0u);
    }
  }
}

// Against a plain list of what is in, with saving, loading and spoilt labels in between, near and beyond the capacity.
TEST(acf_labels, random_operations_with_saving_and_wrong_labels_lose_nothing) {
  random_source random(20240904);
  for (unsigned run = 0; run < 30; ++run) {
    const bool small = run % 2 == 0;
    acf_cuckooing f = made<acf_cuckooing>(60, small ? option_list{} : option_list{{"k", "2"}, {"b", "4"}}, 0.4);
    std::vector<digest> in;
    for (unsigned step = 0; step < 600; ++step) {
      const digest d = keys(1, random.below(120))[0];
      const auto at = std::find(in.begin(), in.end(), d);
      switch (random.below(8)) {
        case 0:
        case 1:
        case 2:
          if (f.insert(d) == insert_result::inserted) in.push_back(d);
          break;
        case 3:
          ASSERT_EQ(f.erase(d), at == in.end() ? erase_result::absent : erase_result::erased);
          if (at != in.end()) in.erase(at);
          break;
        case 4: {
          memory_sink sink;
          writer out(sink);
          out(f);
          ASSERT_TRUE(out.finish().ok());
          const byte_vector bytes = std::move(sink).take();
          memory_source source(bytes);
          reader back(source);
          acf_cuckooing loaded = made<acf_cuckooing>(1);
          back(loaded);
          ASSERT_TRUE(back.ok()) << back.state().message();
          ASSERT_EQ(loaded, f);
          ASSERT_EQ(loaded.bits().slow, f.bits().slow);
          ASSERT_EQ(loaded.settings(), f.settings());
          f = std::move(loaded);
          break;
        }
        case 5: label_access::scramble(f, random); break;
        default: {
          const digest asked = random.below(2) == 0 ? d : strangers(1, random.below(500))[0];
          const bool member = std::find(in.begin(), in.end(), asked) != in.end();
          ASSERT_EQ(f.adapt(asked) == adapt_result::is_member, member);
        }
      }
      ASSERT_EQ(f.keys(), in.size());
      ASSERT_TRUE(may_contain_each(f, in)) << "run " << run << ", step " << step;
    }
  }
}

// 2^s fingerprints of f bits: a question that collides once collides under all others with chance (2^f - 1)^-(2^s - 1).
TEST(acf_cyclic, cannot_fix_what_collides_under_every_selector) {
  constexpr std::uint64_t count = 4000;
  acf_cyclic f = filled<acf_cyclic>(count, {{"fingerprint", "4"}, {"selector", "1"}}, 0.45);
  std::uint64_t positives = 0;
  std::uint64_t unfixable = 0;
  for (const digest d : strangers(40000)) {
    if (!f.may_contain(d)) continue;
    ++positives;
    acf_cyclic copy = f;
    unfixable += copy.adapt(d) == adapt_result::unfixable;
  }
  // One key collides in nearly all cases, two in some: between 1/15 and, generously, twice that.
  EXPECT_TRUE(at_least_by_chance(unfixable, positives, 1.0 / 15));
  EXPECT_TRUE(at_most_by_chance(unfixable, positives, 2.0 / 15));
}

TEST(acf_cyclic, longer_selectors_fix_more) {
  for (const char* selector : {"2", "3", "4"}) {
    acf_cyclic f = filled<acf_cyclic>(4000, {{"fingerprint", "6"}, {"selector", selector}}, 0.45);
    auto answers = adapt_all(f, strangers(20000));
    EXPECT_EQ(answers[adapt_result::unfixable], 0u) << selector;
    EXPECT_GT(answers[adapt_result::fixed], 100u);
  }
}

// Long fingerprints, so that a digest which is not the slot's own agrees with it once in 2^32 times.
TYPED_TEST(every_acf, mirror_that_disagrees_is_refused) {
  const TypeParam f = filled<TypeParam>(20, {{"fingerprint", "32"}});
  memory_sink sink;
  writer out(sink);
  out(f);
  ASSERT_TRUE(out.finish().ok());
  const byte_vector bytes = std::move(sink).take();
  const auto loaded = [](const byte_vector& from) -> status {
    memory_source source(from);
    reader in(source);
    TypeParam g = made<TypeParam>(1);
    in(g);
    return in.state();
  };
  ASSERT_TRUE(loaded(bytes).ok());
  const std::size_t mirror = bytes.size() - f.slots() * (sizeof(digest) + 1);  // all digests, then a byte for each slot
  for (std::size_t slot = 0; slot < f.slots(); ++slot) {
    for (std::size_t bit = 0; bit < 128; bit += 3) {
      const byte_vector changed = with_flipped_bit(bytes, (mirror + slot * sizeof(digest)) * 8 + bit);
      ASSERT_TRUE(refused(loaded(changed), "disagree")) << "slot " << slot << ", bit " << bit;
    }
  }
}

TYPED_TEST(every_acf, random_operations_lose_nothing) {
  random_source random(20240612);
  for (unsigned run = 0; run < 30; ++run) {
    TypeParam f = made<TypeParam>(40, {}, 0.4);
    std::vector<digest> in;
    for (unsigned step = 0; step < 400; ++step) {
      const digest d = keys(1, random.below(200))[0];
      switch (random.below(4)) {
        case 0:
        case 1:
          if (f.insert(d) == insert_result::inserted) in.push_back(d);
          break;
        case 2: {
          const auto at = std::find(in.begin(), in.end(), d);
          ASSERT_EQ(f.erase(d), at == in.end() ? erase_result::absent : erase_result::erased);
          if (at != in.end()) in.erase(at);
          break;
        }
        default: {
          const bool member = std::find(in.begin(), in.end(), d) != in.end();
          ASSERT_EQ(f.adapt(d) == adapt_result::is_member, member);
        }
      }
      ASSERT_EQ(f.keys(), in.size());
      ASSERT_TRUE(may_contain_each(f, in)) << "run " << run << ", step " << step;
    }
  }
}

}  // namespace
}  // namespace tamis::test
