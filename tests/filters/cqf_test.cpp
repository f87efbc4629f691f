#include "tamis/filters/cqf.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>
#include <map>
#include <vector>

#include "tamis/detail/base/random.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;

digest draw(random_source& random) { return {random(), random()}; }

cqf make(std::uint64_t capacity, unsigned remainder) {
  return cqf::create({.capacity = capacity, .fpr = 0.5, .options = {{"remainder", std::to_string(remainder)}}}).value();
}

TEST(run_counters, every_count_of_every_remainder_comes_back_beside_others) {
  for (const unsigned width : {2u, 3u, 4u, 8u, 13u}) {
    const run_counters counters(width);
    const std::uint64_t values = std::uint64_t{1} << width;
    random_source random(width);
    std::size_t before = 0;
    for (int round = 0; round < 20000; ++round) {
      std::vector<counted_remainder> expected;
      std::vector<std::uint64_t> slots;
      for (std::uint64_t x = 0; x < values; ++x) {
        if (!random.chance(values <= 16 ? 0.4 : 4.0 / static_cast<double>(values))) continue;
        expected.push_back({x, 1 + (random() >> (40 + random.below(24)))});
        counters.append(expected.back(), slots);
      }
      std::vector<counted_remainder> found;
      for (std::uint64_t i = 0; i < slots.size();) {
        const auto here = counters.parse([&](std::uint64_t j) { return slots[j]; }, i, slots.size());
        found.push_back(here.counted);
        i += here.slots;
      }
      ASSERT_EQ(found, expected) << "width " << width << " round " << round;
    }
    for (const std::uint64_t x : {std::uint64_t{0}, std::uint64_t{1}, values / 2, values - 1}) {
      for (std::uint64_t count = 1; count < 5000; ++count) {
        std::vector<std::uint64_t> slots;
        counters.append({x, count}, slots);
        if (count > 1) {
          ASSERT_LE(slots.size(), before + 1) << "a count takes more than one slot more";
        }
        before = slots.size();
      }
    }
  }
}

TEST(cqf, counts_take_few_slots) {
  random_source random(1);
  cqf filter = make(100, 8);
  const digest x = draw(random);
  for (std::uint64_t i = 1; i <= 100000; ++i) {
    ASSERT_EQ(filter.insert(x), insert_result::inserted);
    if (i % 977 == 0) {
      ASSERT_EQ(filter.count(x), i);
    }
  }
  EXPECT_EQ(filter.keys(), 100000u);
  EXPECT_TRUE(filter.validate().ok());
  for (std::uint64_t i = 0; i < 100000; ++i) ASSERT_EQ(filter.erase(x), erase_result::erased);
  EXPECT_EQ(filter, make(100, 8));
}

TEST(cqf, merges_counts) {
  random_source random(2);
  cqf a = make(2000, 9);
  cqf b = make(2000, 9);
  cqf both = make(2000, 9);
  for (int i = 0; i < 900; ++i) {
    const digest x = draw(random);
    for (std::uint64_t copies = random.below(5); copies != 0; --copies) {
      (random.chance(0.5) ? a : b).insert(x);
      both.insert(x);
    }
  }
  ASSERT_TRUE(a.merge(b).ok());
  EXPECT_EQ(a, both);
  EXPECT_FALSE(a.merge(make(2000, 8)).ok());
}

TEST(cqf, a_full_filter_refuses_and_loses_nothing) {
  random_source random(3);
  cqf filter = make(100, 4);
  std::vector<digest> in;
  for (int i = 0; i < 5000; ++i) {
    const digest x = in.empty() || random.chance(0.8) ? draw(random) : in[random.below(in.size())];
    const cqf before = filter;
    if (filter.insert(x) == insert_result::inserted) {
      in.push_back(x);
    } else {
      ASSERT_EQ(filter, before);
    }
  }
  EXPECT_TRUE(filter.validate().ok());
  for (const digest x : in) ASSERT_TRUE(filter.may_contain(x));
}

RC_GTEST_PROP(cqf, counts_like_a_multiset_of_fingerprints, ()) {
  const auto remainder = *rc::gen::inRange(2u, 12u);
  const auto capacity = *rc::gen::inRange<std::uint64_t>(1, 200);
  cqf filter = make(capacity, remainder);
  random_source random(*rc::gen::arbitrary<std::uint64_t>());
  std::vector<digest> world;
  for (std::uint64_t i = 0; i < capacity; ++i) world.push_back(draw(random));
  std::map<cqf::fingerprint, std::uint64_t> model;
  std::uint64_t keys = 0;
  for (int i = 0; i < 1500; ++i) {
    const digest x = world[std::min(random.below(world.size()), random.below(world.size()))];
    const auto f = filter.fingerprint_of(x);
    if (random.chance(0.7)) {
      if (filter.insert(x) == insert_result::inserted) ++model[f], ++keys;
    } else {
      const bool in = model.contains(f);
      RC_ASSERT((filter.erase(x) == erase_result::erased) == in);
      if (in && --model[f] == 0) model.erase(f);
      keys -= in;
    }
    RC_ASSERT(filter.may_contain(x) == model.contains(f));
  }
  RC_ASSERT(filter.keys() == keys);
  RC_ASSERT(filter.validate().ok());
  std::map<cqf::fingerprint, std::uint64_t> found;
  filter.for_each([&](cqf::fingerprint f, std::uint64_t count) { found[f] = count; });
  RC_ASSERT(found == model);
  for (const digest x : world)
    RC_ASSERT(filter.count(x) == (model.contains(filter.fingerprint_of(x)) ? model[filter.fingerprint_of(x)] : 0));
}

// Slots of a forger, with the numbers of keys and fingerprints that they would have. What is taken must be what a judge takes
// who reads every run and writes it again.
class counter_judge {
 public:
  explicit counter_judge(const cqf& honest) {
    memory_sink sink;
    writer out(sink);
    out(honest);
    EXPECT_TRUE(out.finish().ok());
    const std::vector<std::byte> bytes = std::move(sink).take();
    std::memcpy(&capacity_, bytes.data(), sizeof capacity_);
    memory_source source{std::span(bytes).subspan(3 * sizeof(std::uint64_t))};
    reader in(source);
    in(table_);
    EXPECT_TRUE(in.ok());
    table_.for_each_run([this](std::uint64_t, slot_range run) {
      for (; !run.empty(); ++run.first) slots_.push_back(run.first);
    });
  }

  // Requires: slots in use.
  void forge(random_source& random) {
    const std::uint64_t slot = slots_[random.below(slots_.size())];
    const std::uint64_t other = slots_[random.below(slots_.size())];
    const std::uint64_t beside = slot == 0 ? 0 : table_.value(slot - 1);
    const std::uint64_t all = low_mask(table_.width());
    const std::uint64_t values[] = {0, 1, 2 & all, all, beside, (beside + 1) & all, table_.value(other), random() & all};
    table_.set_value(slot, values[random.below(std::size(values))]);
  }
  void set(std::size_t i, std::uint64_t value) { table_.set_value(slots_[i], value); }
  std::size_t size() const { return slots_.size(); }
  bool accepts() {
    keys_ = fingerprints_ = 0;
    bool sound = true;
    const run_counters counters(table_.width());
    table_.for_each_run([&](std::uint64_t, slot_range run) {
      std::vector<std::uint64_t> slots;
      std::uint64_t least = 0;
      for (std::uint64_t slot = run.first; slot < run.last;) {
        const auto here = counters.parse([&](std::uint64_t i) { return table_.value(i); }, slot, run.last);
        sound = sound && here.counted.remainder >= least && keys_ + here.counted.count >= keys_;
        least = here.counted.remainder + 1;
        keys_ += here.counted.count;
        ++fingerprints_;
        counters.append(here.counted, slots);
        slot += here.slots;
      }
      sound = sound && slots.size() == run.size();
      for (std::uint64_t i = 0; sound && i < run.size(); ++i) sound = table_.value(run.first + i) == slots[i];
    });
    return sound;
  }
  // The file may say something else about them, of which no more is known than that it is wrong.
  void lie(random_source& random) {
    const std::uint64_t lies = random.below(3);
    fingerprints_ -= 1 + lies;
    if (random.chance(0.3)) ++keys_;
  }
  std::uint64_t keys() const { return keys_; }
  std::uint64_t fingerprints() const { return fingerprints_; }
  bool is_taken() const { return is_taken_as(keys_, fingerprints_); }
  bool is_taken_as(std::uint64_t keys, std::uint64_t fingerprints) const {
    memory_sink sink;
    writer out(sink);
    out(capacity_, keys, fingerprints, table_);
    EXPECT_TRUE(out.finish().ok());
    const std::vector<std::byte> bytes = std::move(sink).take();
    memory_source source(bytes);
    reader in(source);
    cqf loaded = stored_access::blank<cqf>();
    in(loaded);
    return in.ok();
  }

 private:
  std::uint64_t capacity_ = 0;
  std::uint64_t keys_ = 0;
  std::uint64_t fingerprints_ = 0;
  rank_select<> table_;
  std::vector<std::uint64_t> slots_;  // in use
};

TEST(cqf, takes_no_runs_but_those_that_it_would_write) {
  random_source random(7);
  unsigned taken = 0;
  unsigned refused = 0;
  for (int n = 0; n < 120; ++n) {
    constexpr unsigned widths[] = {2, 3, 5, 7, 8, 9, 12, 16, 20};
    cqf filter = make(1 + random.below(200), widths[random.below(std::size(widths))]);
    const std::uint64_t copies = 1 + random.below(9);
    for (std::uint64_t left = 1 + random.below(100); left != 0; --left) {
      // Often of few quotients, so that runs are long.
      const digest d = random.chance(0.5) ? digest{random() >> 7, 0} : draw(random);
      for (std::uint64_t copy = 1 + (random() >> random.below(64)) % copies; copy != 0; --copy) filter.insert(d);
    }
    if (filter.keys() == 0) continue;
    for (int round = 0; round < 200; ++round) {
      counter_judge judge(filter);
      for (std::uint64_t left = random.below(4); left != 0; --left) judge.forge(random);
      bool expected = judge.accepts();
      if (random.chance(0.3)) judge.lie(random), expected = false;
      ASSERT_EQ(judge.is_taken(), expected) << "filter " << n << ", round " << round;
      ++(expected ? taken : refused);
    }
  }
  EXPECT_GT(taken, 1000u);
  EXPECT_GT(refused, 1000u);
}

// One run with all values below six in every order, and every number of keys and fingerprints that it may be said to have.
TEST(cqf, takes_no_run_of_six_slots_but_those_that_it_would_write) {
  random_source random(8);
  for (const unsigned width : {8u, 12u}) {
    cqf filter = make(64, width);
    while (filter.keys() < 6) {
      const digest d{random() >> 7, 0};  // quotient 0
      if (!filter.may_contain(d)) filter.insert(d);
    }
    counter_judge judge(filter);
    ASSERT_EQ(judge.size(), 6u);
    unsigned taken = 0;
    for (unsigned number = 0; number < 46'656; ++number) {
      for (unsigned i = 0, left = number; i < 6; ++i, left /= 6) judge.set(i, left % 6);
      const bool expected = judge.accepts();
      taken += expected;
      ASSERT_EQ(judge.is_taken(), expected) << "run " << number;
      if (number % 5 != 0) continue;
      for (std::uint64_t keys = 5; keys <= 8; ++keys) {
        for (std::uint64_t fingerprints = 1; fingerprints <= 6; ++fingerprints) {
          const bool is_so = expected && keys == judge.keys() && fingerprints == judge.fingerprints();
          ASSERT_EQ(judge.is_taken_as(keys, fingerprints), is_so) << "run " << number << " as " << keys << ", " << fingerprints;
        }
      }
    }
    EXPECT_GT(taken, 100u);
  }
}

}  // namespace
