// A filter with a list of known mistakes: learns what it was told of, and never loses a key by it.

#include "tamis/detail/any/known_mistakes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <new>
#include <vector>

#include "tamis/detail/any/model.hpp"
#include "tamis/detail/base/random.hpp"
#include "tamis/detail/mistakes/mistake_list.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/counting_memory.hpp"
#include "tests/support/keys.hpp"
#include "tests/support/remote.hpp"

namespace tamis::test {

using namespace detail;

namespace {

// Counts of the digests' first six bits: as wrong as a filter can be, and does everything but adapt.
class coarse {
 public:
  static constexpr filter_info info{.id = "coarse", .summary = "six bits", .paper = "none"};
  static inline std::uint64_t throw_at = ~std::uint64_t{0};  // inserts of how many keys are the last straw

  static result<coarse> create(const filter_params& params) {
    TAMIS_CHECK(check_params(info, params));
    coarse made;
    made.capacity_ = params.capacity;
    made.bits_per_key_ = params.bits_per_key.value_or(0);
    return made;
  }
  insert_result insert(digest d) {
    if (keys_ == throw_at) throw std::bad_alloc();
    if (keys_ == capacity_) return insert_result::full;
    ++counts_[d.bits(0, 6)];
    ++keys_;
    return insert_result::inserted;
  }
  bool may_contain(digest d) const { return counts_[d.bits(0, 6)] != 0; }
  std::uint64_t count(digest d) const { return counts_[d.bits(0, 6)]; }
  erase_result erase(digest d) {
    if (!may_contain(d)) return erase_result::absent;
    --counts_[d.bits(0, 6)];
    --keys_;
    return erase_result::erased;
  }
  status merge(const coarse& other) {
    if (other.keys_ > capacity_ - keys_) return failure{"no room for both"};
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    keys_ += other.keys_;
    return {};
  }
  status expand() { return capacity_ *= 2, status(); }
  std::uint64_t keys() const { return keys_; }
  std::uint64_t capacity() const { return capacity_; }
  double expected_fpr() const { return static_cast<double>(64 - std::ranges::count(counts_, 0u)) / 64; }
  memory_bits bits() const { return {64 * 64, 0}; }
  option_list settings() const { return {{"bits", std::to_string(bits_per_key_)}}; }

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.capacity_, self.keys_, self.bits_per_key_);
    for (auto& count : self.counts_) archive(count);
  }

 private:
  std::uint64_t capacity_ = 0;
  std::uint64_t keys_ = 0;
  double bits_per_key_ = 0;
  std::array<std::uint64_t, 64> counts_{};
};

// Fixes even digests by itself, and those with a remote only.
class half_adaptive : public coarse {
 public:
  static constexpr filter_info info{.id = "half-adaptive", .summary = "fixes every other", .paper = "none"};
  static result<half_adaptive> create(const filter_params& params) {
    half_adaptive made;
    TAMIS_TRY(static_cast<coarse&>(made), coarse::create(params));
    return made;
  }
  bool may_contain(digest d) const { return coarse::may_contain(d) && std::ranges::count(denied_, d.low) == 0; }
  status merge(const half_adaptive&) { return failure{"cannot"}; }
  adapt_result adapt(digest d, const remote_ref&) {
    if (!may_contain(d)) return adapt_result::not_positive;
    if (d.low % 2 != 0) return adapt_result::unfixable;
    denied_.push_back(d.low);
    return adapt_result::fixed;
  }

 private:
  std::vector<std::uint64_t> denied_;
};

const registry& toys() {
  static const registry made = [] {
    registry all;
    all.add(entry_of<coarse>());
    all.add(entry_of<half_adaptive>());
    return all;
  }();
  return made;
}

result<any_filter> create(filter_params params, std::string_view id = "coarse") {
  return any_filter::create(toys(), id, params, test_hash());
}
any_filter listed(std::uint64_t entries, std::uint64_t capacity = 1000, std::string_view id = "coarse") {
  return create({.capacity = capacity, .fpr = 0.5, .options = {{"mistakes", std::to_string(entries)}}}, id).value();
}
result<any_filter> load(const byte_vector& bytes) { return load_bytes(bytes, {std::nullopt, &toys()}); }
std::string kind_of(const byte_vector& frame) {
  const byte_vector kind = kind_in(frame);
  return {reinterpret_cast<const char*>(kind.data()), kind.size()};
}
std::string setting(const any_filter& f, std::string_view name) {
  for (const auto& [key, value] : f.settings()) {
    if (key == name) return value;
  }
  return "";
}

const multiset_remote nothing_stored;

TEST(known_mistakes, option_is_a_number_of_entries_or_bits_per_key) {
  const auto entries = [](const std::string& value, std::uint64_t capacity = 1000) {
    return setting(create({.capacity = capacity, .fpr = 0.1, .options = {{"mistakes", value}}}).value(), "mistakes");
  };
  EXPECT_EQ(entries("1"), "1");
  EXPECT_EQ(entries("1234"), "1234");
  EXPECT_EQ(entries("0"), "");
  EXPECT_EQ(entries("2b", 72500), std::to_string(mistake_list::entries_for(145000)));
  EXPECT_EQ(entries("0.5b", 1 << 20), std::to_string(mistake_list::entries_for(1 << 19)));
}

TEST(known_mistakes, can_be_asked_for_by_name) {
  const auto made = [](option_list options) {
    return create({.capacity = 6400, .fpr = 0.1, .options = options}, "coarse+mistakes").value();
  };
  EXPECT_EQ(setting(made({}), "mistakes"), "100");
  EXPECT_EQ(made({}).kind(), "coarse+mistakes");
  EXPECT_EQ(made({{"mistakes", "7"}}).kind(), "coarse+mistakes");
  EXPECT_EQ(setting(made({{"mistakes", "7"}}), "mistakes"), "7");
  EXPECT_EQ(made({{"mistakes", "0"}}).kind(), "coarse");
  EXPECT_EQ(create({.capacity = 9, .fpr = 0.1}, "coarse").value().kind(), "coarse");
  EXPECT_EQ(setting(create({.capacity = 9, .fpr = 0.1}, "coarse+mistakes").value(), "mistakes"), "1");
  EXPECT_TRUE(refused(create({.capacity = 9, .fpr = 0.1}, "corse+mistakes"), "'corse'"));
  EXPECT_TRUE(refused(create({.capacity = 9, .fpr = 0.1}, "+mistakes"), "''"));
}

TEST(known_mistakes, bad_values_are_named) {
  for (const char* value : {"", "b", "0b", "-1", "-1b", "1.5", " 1", "1 ", "garbage", "nanb", "infb", "1e2b", "5000b", "1bb",
                            "4294967297", "99999999999999999999999"}) {
    const std::string named = std::string("mistakes=") + value + ":";
    EXPECT_TRUE(refused(create({.capacity = 100, .fpr = 0.01, .options = {{"mistakes", value}}}), named));
  }
  EXPECT_TRUE(refused(create({.capacity = 100, .fpr = 0.01, .options = {{"mistakes", "0.1b"}}}), "too little for one entry"));
  EXPECT_TRUE(refused(create({.capacity = 9, .fpr = 0.01, .options = {{"mistakes", "1"}, {"mistakes", "1"}}}), "twice"));
  EXPECT_TRUE(refused(create({.capacity = 0, .fpr = 0.01, .options = {{"mistakes", "1b"}}}), "capacity 0"));
  EXPECT_TRUE(refused(create({.capacity = 9, .fpr = 0.01, .options = {{"mistakes", "1"}, {"other", "1"}}}), "'other'"));
}

TEST(known_mistakes, bits_per_key_pay_for_the_list) {
  const filter_params with{.capacity = 1000, .bits_per_key = 20, .options = {{"mistakes", "100"}}};
  const any_filter f = create(with).value();
  const double rest = 20 - static_cast<double>(mistake_list::bits_for(100)) / 1000;
  EXPECT_EQ(setting(f, "bits"), std::to_string(rest));
  EXPECT_TRUE(refused(create({.capacity = 1000, .bits_per_key = 14, .options = {{"mistakes", "100"}}}), "bits per key 14"));
  EXPECT_TRUE(refused(create({.capacity = 1000, .bits_per_key = -1, .options = {{"mistakes", "100"}}}), "bits per key -1"));
}

TEST(known_mistakes, list_is_fast_memory) {
  const any_filter plain = create({.capacity = 1000, .fpr = 0.5}).value();
  EXPECT_EQ(listed(77).bits().fast, plain.bits().fast + mistake_list::bits_for(77));
  EXPECT_EQ(listed(77).bits().slow, plain.bits().slow);
}

TEST(known_mistakes, every_filter_adapts) {
  EXPECT_FALSE(create({.capacity = 10, .fpr = 0.5}).value().can().adapt);
  any_filter f = listed(100);
  EXPECT_TRUE(f.can().adapt && f.can().erase && f.can().count && f.can().merge && f.can().expand && !f.can().rejuvenate);
  f.insert_many(keys(900));
  const std::vector<digest> asked = strangers(100);
  for (const digest d : asked) {
    ASSERT_TRUE(f.may_contain(d));
    EXPECT_EQ(f.adapt(d), adapt_result::fixed);
    EXPECT_FALSE(f.may_contain(d));
    EXPECT_EQ(f.count(d).value(), 0u);
    EXPECT_EQ(f.adapt(d), adapt_result::not_positive);
    EXPECT_EQ(f.adapt(d, remote_ref(nothing_stored)), adapt_result::not_positive);
  }
  EXPECT_EQ(f.known_mistakes(), 100u);
  for (const digest d : asked) EXPECT_FALSE(f.may_contain(d));
  for (const digest d : keys(900)) EXPECT_TRUE(f.may_contain(d));
  bool out[100];
  f.may_contain_many(asked, out);
  EXPECT_EQ(std::count(out, out + 100, true), 0);
  // One more, and the first is forgotten.
  EXPECT_EQ(f.adapt(strangers(1, 100)[0]), adapt_result::fixed);
  EXPECT_TRUE(f.may_contain(asked[0]));
  EXPECT_FALSE(f.may_contain(asked[1]));
}

TEST(known_mistakes, member_is_not_listed_where_a_remote_can_tell) {
  any_filter f = listed(10);
  const std::vector<digest> in = keys(20);
  f.insert_many(in);
  const multiset_remote truth(in);
  for (const digest d : in) EXPECT_EQ(f.adapt(d, remote_ref(truth)), adapt_result::is_member);
  EXPECT_EQ(f.known_mistakes(), 0u);
}

TEST(known_mistakes, digest_of_zeros_stays_a_mistake) {
  any_filter f = listed(10);
  f.insert(digest{1, 0});
  EXPECT_EQ(f.adapt(digest{}), adapt_result::unfixable);
  EXPECT_TRUE(f.may_contain(digest{}));
}

TEST(known_mistakes, list_takes_what_the_filter_cannot_fix) {
  any_filter f = listed(10, 1000, "half-adaptive");
  f.insert_many(keys(900));
  const multiset_remote truth(keys(900));
  std::uint64_t odd = 0;
  for (const digest d : strangers(10)) {
    EXPECT_EQ(f.adapt(d, remote_ref(truth)), adapt_result::fixed);
    EXPECT_FALSE(f.may_contain(d));
    odd += d.low % 2;
  }
  EXPECT_EQ(f.known_mistakes(), odd);
  EXPECT_EQ(f.adapt(strangers(1, 10)[0]), adapt_result::fixed);  // without a remote the filter can do nothing
  EXPECT_EQ(f.known_mistakes(), odd + 1);
  any_filter plain = create({.capacity = 1000, .fpr = 0.5}, "half-adaptive").value();
  plain.insert_many(keys(900));
  EXPECT_EQ(plain.adapt(strangers(1)[0]), adapt_result::unfixable);
  EXPECT_EQ(create({.capacity = 1000, .fpr = 0.5}, "half-adaptive").value().adapt(digest{}), adapt_result::not_positive);
}

TEST(known_mistakes, inserted_key_is_taken_off) {
  any_filter f = listed(10);
  f.insert_many(keys(500));
  for (const digest d : strangers(6)) f.adapt(d);
  f.insert(strangers(1)[0]);
  f.insert(strangers(1, 1)[0], remote_ref(nothing_stored));
  const std::vector<digest> more = strangers(2, 2);
  f.insert_many(more);
  bool out[2];
  f.insert_many(strangers(2, 4), out);
  EXPECT_EQ(f.known_mistakes(), 0u);
  for (const digest d : strangers(6)) EXPECT_TRUE(f.may_contain(d));
}

TEST(known_mistakes, refused_key_stays_listed) {
  for (const bool asks : {false, true}) {
    any_filter f = listed(400, 1000);
    f.insert_many(keys(900));
    const std::vector<digest> more = strangers(400);
    for (const digest d : more) f.adapt(d);
    bool out[400];
    EXPECT_EQ(f.insert_many(more, asks ? std::span<bool>(out) : std::span<bool>()), 100u);
    EXPECT_EQ(f.insert(more[399]), insert_result::full);
    for (std::size_t i = 0; i < more.size(); ++i) {
      EXPECT_EQ(f.may_contain(more[i]), i < 100);
      if (asks) {
        EXPECT_EQ(out[i], i < 100);
      }
    }
  }
}

TEST(known_mistakes, batch_that_ends_in_the_middle_leaves_nothing_listed_that_may_be_in) {
  any_filter f = listed(100, 1000);
  f.insert_many(keys(900));
  const std::vector<digest> more = strangers(80);
  for (const digest d : more) f.adapt(d);
  coarse::throw_at = 950;
  EXPECT_THROW(f.insert_many(more), std::bad_alloc);
  coarse::throw_at = ~std::uint64_t{0};
  for (const digest d : more) EXPECT_TRUE(f.may_contain(d));
}

TEST(known_mistakes, listed_key_cannot_be_erased) {
  any_filter f = listed(10);
  const std::vector<digest> in = keys(500);
  f.insert_many(in);
  const std::vector<digest> wrong = strangers(3);
  for (const digest d : wrong) f.adapt(d);
  EXPECT_EQ(f.erase(wrong[0]), erase_result::absent);
  EXPECT_EQ(f.erase(wrong[0], remote_ref(nothing_stored)), erase_result::absent);
  const std::vector<digest> mixed = {in[0], wrong[1], in[1], wrong[2]};
  bool out[4];
  EXPECT_EQ(f.erase_many(mixed, out).value(), 2u);
  EXPECT_TRUE(out[0] && !out[1] && out[2] && !out[3]);
  EXPECT_EQ(f.erase_many(std::span(in).subspan(2, 10)).value(), 10u);
  EXPECT_EQ(f.keys(), 488u);
}

TEST(known_mistakes, merging_hides_no_key_of_either) {
  const digest of_both{1, 1}, of_first{1, 2}, of_second{1, 3}, of_none{1, 4}, elsewhere{~std::uint64_t{0}, 5};
  const auto first = [&](std::uint64_t entries) {
    any_filter f = listed(entries);
    f.insert(of_first);
    for (const digest d : {of_both, of_second, of_none}) f.adapt(d);
    return f;
  };
  const auto second = [&](std::uint64_t entries) {
    any_filter f = listed(entries);
    f.insert(of_second);
    f.insert(elsewhere);
    f.insert(of_second);
    for (const digest d : {of_first, of_none, digest{elsewhere.high, 6}}) f.adapt(d);
    return f;
  };
  any_filter f = first(8);
  ASSERT_TRUE(f.merge(second(8)).ok());
  EXPECT_TRUE(f.may_contain(of_first) && f.may_contain(of_second) && f.may_contain(elsewhere));
  EXPECT_FALSE(f.may_contain(of_none));                    // both have it listed
  EXPECT_FALSE(f.may_contain(digest{elsewhere.high, 6}));  // one has it listed, the other says "no"
  EXPECT_TRUE(f.may_contain(of_both));                     // one has it listed, the other says "maybe"
  any_filter plain = create({.capacity = 1000, .fpr = 0.5}).value();
  ASSERT_TRUE(plain.merge(second(8), remote_ref(nothing_stored)).ok());
  EXPECT_TRUE(plain.may_contain(of_first) && plain.may_contain(of_second));
  EXPECT_FALSE(plain.can().adapt);
  any_filter other = create({.capacity = 1000, .fpr = 0.5}).value();
  other.insert(of_none);
  any_filter g = first(8);
  ASSERT_TRUE(g.merge(other, remote_ref(nothing_stored)).ok());
  EXPECT_TRUE(g.may_contain(of_none) && g.may_contain(of_first));
  EXPECT_EQ(g.known_mistakes(), 0u);
  any_filter self = first(8);
  ASSERT_TRUE(self.merge(self).ok());
  EXPECT_EQ(self.known_mistakes(), 3u);
  EXPECT_TRUE(self.may_contain(of_first));
}

TEST(known_mistakes, refused_merge_changes_nothing) {
  any_filter f = listed(8, 10);
  f.insert_many(keys(8));
  for (const digest d : strangers(30)) {
    if (f.may_contain(d)) f.adapt(d);
  }
  any_filter other = listed(8);
  other.insert_many(strangers(30));
  const byte_vector before = f.save_bytes();
  EXPECT_TRUE(refused(f.merge(other)));
  EXPECT_EQ(f.save_bytes(), before);
}

TEST(known_mistakes, file_without_a_list_is_as_ever) {
  any_filter plain = create({.capacity = 1000, .fpr = 0.5}).value();
  any_filter zero = listed(0);
  plain.insert_many(keys(10));
  zero.insert_many(keys(10));
  EXPECT_EQ(plain.save_bytes(), zero.save_bytes());
  EXPECT_EQ(kind_of(plain.save_bytes()), "coarse");
}

TEST(known_mistakes, saved_with_the_filter) {
  any_filter f = listed(10);
  f.insert_many(keys(500));
  const std::vector<digest> wrong = strangers(13);
  for (const digest d : wrong) f.adapt(d);
  f.insert(wrong[5]);
  const byte_vector bytes = f.save_bytes();
  EXPECT_EQ(kind_of(bytes), "coarse+mistakes");
  const any_filter copy = f;
  for (any_filter g : {load(bytes).value(), copy}) {
    EXPECT_EQ(g.save_bytes(), bytes);
    EXPECT_EQ(g.known_mistakes(), 9u);
    EXPECT_EQ(g.settings(), f.settings());
    for (const digest d : wrong) EXPECT_EQ(g.may_contain(d), f.may_contain(d));
    for (const digest d : strangers(20, 13)) ASSERT_EQ(g.adapt(d), adapt_result::fixed);
    EXPECT_EQ(g.known_mistakes(), 10u);
  }
  EXPECT_TRUE(refused(load_bytes(bytes), "'coarse'"));
}

TEST(known_mistakes, list_in_a_file_must_be_whole) {
  any_filter f = listed(2);
  f.insert_many(keys(500));
  for (const digest d : strangers(2)) f.adapt(d);
  byte_vector bytes = f.save_bytes();
  const frame_layout at(bytes);
  byte_vector twice = bytes;
  std::copy(twice.begin() + static_cast<std::ptrdiff_t>(at.payload_end - 32),
            twice.begin() + static_cast<std::ptrdiff_t>(at.payload_end - 16),
            twice.begin() + static_cast<std::ptrdiff_t>(at.payload_end - 16));
  EXPECT_TRUE(refused(load(resealed(twice)), "twice"));
  put_number(bytes, at.payload_end - 40, std::uint64_t{1});
  EXPECT_TRUE(refused(load(resealed(bytes)), "shorter than its length"));
  put_number(bytes, at.payload_end - 40, std::uint64_t{0});
  EXPECT_TRUE(refused(load(resealed(bytes)), "0 entries"));
}

// Any sequence: "maybe" exactly for what the filter itself accepts and is not among the last reports, and for every key.
TEST(known_mistakes, any_sequence_answers_as_filter_and_queue_do) {
  constexpr std::uint64_t seed = 2027;
  constexpr std::uint64_t entries = 24;
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  random_source source(seed);
  any_filter f = listed(entries, 60);
  any_filter plain = create({.capacity = 60, .fpr = 0.5}).value();
  multiset_remote truth;
  std::deque<digest> reports(entries, digest{});
  const std::vector<digest> all = keys(150);
  const auto is_listed = [&](digest d) { return std::find(reports.begin(), reports.end(), d) != reports.end(); };
  const auto insert = [&](digest d) {
    const insert_result went = plain.insert(d);
    if (source.chance(0.5)) {
      ASSERT_EQ(f.insert(d), went);
    } else {
      ASSERT_EQ(f.insert_many(std::span(&d, 1)), went == insert_result::inserted ? 1u : 0u);
    }
    if (went == insert_result::full) return;
    truth.insert(d);
    std::replace(reports.begin(), reports.end(), d, digest{});
  };
  for (int step = 0; step < 200000; ++step) {
    const digest d = all[source.below(all.size())];
    const std::uint64_t what = source.below(100);
    if (what < 20) {
      insert(d);
    } else if (what < 40 && truth.contains(d)) {
      ASSERT_EQ(f.erase(d), erase_result::erased);
      plain.erase(d);
      truth.erase_one(d);
    } else if (what < 70 && f.may_contain(d)) {
      const bool member = truth.contains(d);
      if (member || what % 2 == 0) {
        ASSERT_EQ(f.adapt(d, remote_ref(truth)), member ? adapt_result::is_member : adapt_result::fixed);
      } else {
        ASSERT_EQ(f.adapt(d), adapt_result::fixed);
      }
      if (!member) {
        reports.pop_front();
        reports.push_back(d);
      }
    } else if (what == 70) {
      f = load(f.save_bytes()).value();
    }
    ASSERT_EQ(f.may_contain(d), plain.may_contain(d) && !is_listed(d)) << "step " << step;
    ASSERT_TRUE(f.may_contain(d) || !truth.contains(d));
    if (step % 100 == 0) {
      for (const digest k : all) ASSERT_TRUE(f.may_contain(k) || !truth.contains(k)) << "step " << step;
    }
  }
}

// The list is in the filter's memory: when it is made, copied, merged and loaded.
TEST(known_mistakes, are_kept_in_the_memory_of_the_filter) {
  counting_memory mine;
  counting_memory others;
  const memory_scope elsewhere(others);
  const auto bytes_per_filter = [&](const any_filter& f) { return f.bits().fast / 8; };
  const filter_params params{.capacity = 1000, .fpr = 0.1, .options = {{"mistakes", "500"}}, .memory = &mine};
  any_filter f = any_filter::create("bloom", params).value();
  EXPECT_GE(mine.bytes(), bytes_per_filter(f));
  const any_filter copied = f;
  EXPECT_GE(mine.bytes(), 2 * bytes_per_filter(f));
  ASSERT_TRUE(f.merge(copied));
  EXPECT_GE(mine.bytes(), 2 * bytes_per_filter(f));
  const any_filter loaded = load_bytes(f.save_bytes(), {.memory = &mine}).value();
  EXPECT_GE(mine.bytes(), 3 * bytes_per_filter(f));
  EXPECT_EQ(others.calls(), 0u);
}

}  // namespace
}  // namespace tamis::test
