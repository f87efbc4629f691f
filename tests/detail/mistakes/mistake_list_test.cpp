// The list of known mistakes against a queue: at every step it holds what the queue holds, forgets in the same order, and its
// saved bytes say so.

#include "tamis/detail/mistakes/mistake_list.hpp"

#include <algorithm>
#include <deque>
#include <vector>

#include "tamis/detail/base/random.hpp"
#include "tamis/detail/io/archive.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/keys.hpp"
#include "tests/support/property.hpp"

namespace tamis::test {

using namespace detail;

namespace {

constexpr digest hole{};

mistake_list made(std::uint64_t entries) { return mistake_list::make(entries).value(); }

byte_vector saved(const mistake_list& list) {
  memory_sink sink;
  writer out(sink);
  out(list);
  out.finish().value();
  return std::move(sink).take();
}

result<mistake_list> loaded(const byte_vector& bytes) {
  memory_source source(bytes);
  reader in(source);
  mistake_list list;
  in(list);
  if (!in.ok()) return failure{in.state().message()};
  if (in.remaining() != 0) return failure{"bytes are left"};
  return list;
}

// The bytes of a list with these entries, the oldest first, whatever they are.
byte_vector forged(const std::vector<digest>& entries) {
  byte_vector bytes(8 + entries.size() * sizeof(digest));
  put_number(bytes, 0, std::uint64_t{entries.size()});
  for (std::size_t i = 0; i < entries.size(); ++i) {
    put_number(bytes, 8 + i * 16, entries[i].high);
    put_number(bytes, 16 + i * 16, entries[i].low);
  }
  return bytes;
}

// What the list is meant to be: the last N reports, with a hole for each that was taken off.
struct queue_model {
  std::deque<digest> reports;

  explicit queue_model(std::uint64_t entries) : reports(entries, hole) {}

  bool contains(digest d) const { return d != hole && std::find(reports.begin(), reports.end(), d) != reports.end(); }
  bool add(digest d) {
    if (d == hole || contains(d)) return false;
    reports.pop_front();
    reports.push_back(d);
    return true;
  }
  bool remove(digest d) {
    if (!contains(d)) return false;
    *std::find(reports.begin(), reports.end(), d) = hole;
    return true;
  }
  std::vector<digest> listed() const {
    std::vector<digest> all(reports.begin(), reports.end());
    std::erase(all, hole);
    return all;
  }
};

std::vector<digest> listed(const mistake_list& list) {
  std::vector<digest> all;
  list.for_each([&](digest d) { all.push_back(d); });
  return all;
}

// Digests that differ in one word only, or not much, and the one that cannot be listed.
digest awkward(std::uint64_t i) {
  switch (i % 5) {
    case 0: return {i, 0};
    case 1: return {0, i};
    case 2: return {i << 40, i << 40};
    case 3: return {~i, ~std::uint64_t{0}};
    default: return hole;
  }
}

void run_against_the_queue(std::uint64_t entries, std::uint64_t universe, int steps, random_source source) {
  mistake_list list = made(entries);
  queue_model model(entries);
  for (int step = 0; step < steps; ++step) {
    const std::uint64_t i = source.below(universe);
    const digest d = i % 3 == 0 ? awkward(i) : digest{mix64(i), mix64(i + 1)};
    const std::uint64_t what = source.below(16);
    if (what < 9) {
      ASSERT_EQ(list.add(d), model.add(d));
    } else if (what < 12) {
      ASSERT_EQ(list.remove(d), model.remove(d));
    } else {
      ASSERT_EQ(list.contains(d), model.contains(d));
    }
    ASSERT_EQ(list.size(), model.listed().size());
    if (source.below(64) == 0) {
      ASSERT_EQ(listed(list), model.listed());
      const byte_vector bytes = saved(list);
      ASSERT_EQ(bytes, forged({model.reports.begin(), model.reports.end()}));
      if (source.below(2) == 0) list = loaded(bytes).value();
    }
    if (source.below(256) == 0) list = mistake_list(list);
  }
  for (std::uint64_t i = 0; i < universe; ++i) {
    ASSERT_EQ(list.contains(awkward(i)), model.contains(awkward(i)));
    ASSERT_EQ(list.contains({mix64(i), mix64(i + 1)}), model.contains({mix64(i), mix64(i + 1)}));
  }
}

TEST(mistake_list, is_a_queue_at_every_step) {
  constexpr std::uint64_t seed = 27;
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  random_source source(seed);
  for (const std::uint64_t entries : {1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 100, 257}) {
    for (const std::uint64_t universe : {entries / 2 + 2, 2 * entries + 3, 8 * entries}) {
      SCOPED_TRACE(::testing::Message() << entries << " entries, " << universe << " digests");
      run_against_the_queue(entries, universe, 20000, source.split());
      if (HasFatalFailure()) return;
    }
  }
}

TEST(mistake_list, any_sequence_is_that_of_the_queue) {
  using change = std::pair<bool, std::uint8_t>;
  expect_always(1, 400, [](const std::vector<change>& changes) {
    const auto entries = *rc::gen::inRange<std::uint64_t>(1, 20);
    mistake_list list = made(entries);
    queue_model model(entries);
    for (const auto& [adds, i] : changes) {
      const digest d{i % 40u, i % 3u};
      RC_ASSERT((adds ? list.add(d) == model.add(d) : list.remove(d) == model.remove(d)));
    }
    RC_ASSERT(listed(list) == model.listed());
    RC_ASSERT(saved(list) == forged({model.reports.begin(), model.reports.end()}));
    RC_ASSERT(saved(loaded(saved(list)).value()) == saved(list));
  });
}

// Many rounds of a long list: what is listed are the last reports, and nobody else.
TEST(mistake_list, holds_the_last_reports_and_no_other) {
  constexpr std::uint64_t entries = 1000;
  const std::vector<digest> reports = strangers(10 * entries + 17);
  mistake_list list = made(entries);
  for (const digest d : reports) ASSERT_TRUE(list.add(d));
  EXPECT_EQ(list.size(), entries);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    ASSERT_EQ(list.contains(reports[i]), i + entries >= reports.size()) << i;
  }
  for (const digest d : keys(10000)) ASSERT_FALSE(list.contains(d));
}

TEST(mistake_list, half_a_digest_is_not_one) {
  mistake_list list = made(100);
  const std::vector<digest> reports = strangers(100);
  for (const digest d : reports) list.add(d);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const digest d = reports[i];
    EXPECT_FALSE(list.contains({d.high, d.low ^ 1}));
    EXPECT_FALSE(list.contains({d.high ^ std::uint64_t{1} << 63, d.low}));
    EXPECT_FALSE(list.contains({d.high, reports[(i + 1) % 100].low}));
  }
}

TEST(mistake_list, digest_of_zeros_is_never_listed) {
  mistake_list list = made(3);
  EXPECT_FALSE(list.add(hole));
  EXPECT_FALSE(list.contains(hole));
  list.add({0, 1});
  list.remove({0, 1});
  EXPECT_FALSE(list.contains(hole));
  EXPECT_FALSE(list.remove(hole));
  EXPECT_EQ(list.size(), 0u);
}

TEST(mistake_list, costs_what_it_says) {
  for (std::uint64_t entries = 1; entries < 40000; entries += 1 + entries / 7) {
    const mistake_list list = made(entries);
    ASSERT_EQ(list.bits(), mistake_list::bits_for(entries)) << entries;
    ASSERT_EQ(mistake_list::entries_for(list.bits()), entries);
    ASSERT_EQ(mistake_list::entries_for(list.bits() - 1), entries - 1);
    if (entries >= 1000 && entries <= 16384) {
      ASSERT_LE(static_cast<double>(list.bits()), 145.0 * static_cast<double>(entries));
    }
  }
  EXPECT_LE(mistake_list::bits_for(16384), 145u * 16384);
  EXPECT_LE(mistake_list::bits_for(1 << 20), 153u << 20);
  EXPECT_EQ(mistake_list::entries_for(0), 0u);
  EXPECT_EQ(mistake_list::entries_for(~std::uint64_t{0}), mistake_list::most_entries);
}

TEST(mistake_list, equal_histories_give_equal_bytes) {
  mistake_list a = made(50);
  mistake_list b = made(50);
  const std::vector<digest> reports = strangers(180);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    a.add(reports[i]);
    b.add(reports[i]);
    for (std::size_t j = 0; j < i; ++j) a.contains(reports[j]);  // questions leave no trace
    if (i % 7 == 0) {
      a.remove(reports[i / 2]);
      b.remove(reports[i / 2]);
    }
    if (i % 11 == 0) b = loaded(saved(b)).value();
  }
  EXPECT_EQ(saved(a), saved(b));
}

TEST(mistake_list, forged_bytes_are_refused) {
  EXPECT_TRUE(loaded(forged({{1, 2}, hole, {3, 4}})).ok());
  EXPECT_TRUE(loaded(forged({hole, hole})).ok());
  EXPECT_TRUE(refused(loaded(forged({})), "0 entries"));
  EXPECT_TRUE(refused(loaded(forged({{1, 2}, {3, 4}, {1, 2}})), "twice"));
  EXPECT_TRUE(refused(loaded(forged({{1, 2}, hole, {1, 2}})), "twice"));
  byte_vector more = forged({{1, 2}, {3, 4}});
  for (const std::uint64_t entries : {std::uint64_t{3}, std::uint64_t{1} << 33, std::uint64_t{1} << 60, ~std::uint64_t{0}}) {
    put_number(more, 0, entries);
    EXPECT_TRUE(refused(loaded(more), "entries"));
  }
  put_number(more, 0, std::uint64_t{1});
  EXPECT_TRUE(refused(loaded(more), "left"));
}

TEST(mistake_list, every_truncation_is_refused) {
  const byte_vector whole = forged({{1, 2}, {3, 4}, hole, {5, 6}});
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_TRUE(refused(loaded(byte_vector(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)))));
  }
}

}  // namespace
}  // namespace tamis::test
