// A value outside of a server: bytes that somebody forged, and what the rules of the modes take for granted.

#include "integrations/redis/value.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "tamis/registry.hpp"
#include "tests/support/bytes.hpp"

namespace tamis::redis {
namespace {

using test::byte_vector;
using test::frame_layout;

constexpr std::uint64_t limit = 64 << 20;

digest key(std::uint64_t number) { return hasher::fast(1)(number); }

byte_vector saved(const value& v) {
  memory_sink sink;
  v.save(sink).value();
  return std::move(sink).take();
}

result<std::unique_ptr<value>> loaded(const byte_vector& bytes) {
  memory_source source(bytes);
  return value::load(source, limit, 0);
}

// A small value of every offered filter, with and without a list.
std::vector<byte_vector> samples() {
  std::vector<byte_vector> all;
  for (const registry_entry& entry : registry::builtin().entries()) {
    for (const std::uint64_t mistakes : {0, 4}) {
      request asked{.mode = add_mode::multi, .filter = std::string(entry.info->id), .rate = 0.1, .capacity = 64};
      asked.mistakes = mistakes;
      if (!check_offered(asked)) continue;
      const auto made = value::create(asked, limit).value();
      for (std::uint64_t i = 0; i < 40; ++i) made->add(key(i), {});
      for (std::uint64_t i = 1000; i < 1100; ++i) {
        if (mistakes != 0) made->report(key(i), 0, 0, {.must = true});
      }
      all.push_back(saved(*made));
    }
  }
  return all;
}

// Flips bits of the filter's payload or of the value's own fields, and makes both frames' checksums right.
byte_vector forged(byte_vector bytes, std::mt19937_64& random) {
  const byte_vector magic = test::bytes_of("TAMIS\r\n\x1a");
  const auto inside = std::search(bytes.begin() + 8, bytes.end(), magic.begin(), magic.end());
  byte_vector filter(inside, bytes.end());
  const frame_layout outer(bytes);
  const std::size_t own_end = static_cast<std::size_t>(inside - bytes.begin());
  const frame_layout inner(filter);
  for (std::uint64_t flips = 1 + random() % 3; flips > 0; --flips) {
    const auto bit = static_cast<unsigned>(random() % 8);
    if (random() % 4 == 0) {
      bytes[outer.payload + random() % (own_end - outer.payload)] ^= std::byte{1} << bit;
    } else {
      // Lengths and counts stand first; tables are most of the bytes.
      const std::size_t size =
          random() % 2 == 0 ? std::min<std::size_t>(96, filter.size() - inner.payload) : filter.size() - inner.payload;
      filter[inner.payload + random() % size] ^= std::byte{1} << bit;
    }
  }
  filter = test::resealed(std::move(filter));
  std::copy(filter.begin(), filter.end(), bytes.begin() + static_cast<std::ptrdiff_t>(own_end));
  return test::resealed(std::move(bytes));
}

TEST(value, forged_bytes_are_refused_or_harmless) {
  const char* const longer = std::getenv("TAMIS_LONG");
  const int tries = longer != nullptr && *longer == '1' ? 1'000'000 : 20'000;
  constexpr std::uint64_t seed = 35;
  std::mt19937_64 random(seed);
  const std::vector<byte_vector> values = samples();
  ASSERT_GT(values.size(), 40u);
  int accepted = 0;
  for (int i = 0; i < tries; ++i) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed << ", try " << i);
    const auto one = loaded(forged(values[random() % values.size()], random));
    if (!one) {
      EXPECT_FALSE(one.message().empty());
      continue;
    }
    ++accepted;
    const auto copy = (*one)->clone();
    EXPECT_LE(copy->bytes(), limit);
    for (std::uint64_t k = 0; k < 60; ++k) (void)copy->may_contain(key(k));
    for (std::uint64_t k = 100; k < 110; ++k) (void)copy->add(key(k), {});
    EXPECT_TRUE(loaded(saved(*copy)).ok());
  }
  std::printf("%d forged values, %d accepted\n", tries, accepted);
  EXPECT_GT(accepted, 0);
  EXPECT_LT(accepted, tries);
}

TEST(value, the_whole_of_it_comes_back) {
  for (const byte_vector& bytes : samples()) EXPECT_EQ(saved(*loaded(bytes).value()), bytes);
}

// The list of known mistakes may stand beside a filter in mode SET only if a report leaves its table alone.
TEST(value, adapts_alone_is_what_the_filters_do) {
  for (const registry_entry& entry : registry::builtin().entries()) {
    if (!entry.can.adapt) {
      EXPECT_FALSE(adapts_alone(entry.info->id)) << entry.info->id;
      continue;
    }
    any_filter filter = any_filter::create(entry.info->id, {.capacity = 500, .fpr = 0.2}).value();
    for (std::uint64_t i = 0; i < 400; ++i) ASSERT_EQ(filter.insert(key(i)), insert_result::inserted);
    bool fixes = false;
    for (std::uint64_t i = 1000; i < 3000 && !fixes; ++i) {
      fixes = filter.may_contain(key(i)) && filter.adapt(key(i)) == adapt_result::fixed;
    }
    EXPECT_EQ(adapts_alone(entry.info->id), fixes) << entry.info->id;
  }
}

// Mode SET stores nothing where the filter says "maybe": that answer has to stay, whatever is added.
TEST(value, a_maybe_stays_where_mode_set_is_offered) {
  for (const registry_entry& entry : registry::builtin().entries()) {
    const request asked{.filter = std::string(entry.info->id), .rate = 0.2, .capacity = 400};
    if (!check_offered(asked)) continue;
    const auto made = value::create(asked, limit).value();
    std::vector<bool> before(2000, false);
    for (std::uint64_t i = 0; i < 2000; ++i) {
      if (made->add(key(i), {}) == value::add_result::full) break;
      if (i % 20 != 0) continue;
      for (std::uint64_t k = 0; k < before.size(); ++k) {
        const bool now = made->may_contain(key(10'000 + k));
        ASSERT_TRUE(now || !before[k]) << entry.info->id << " after " << i << " adds";
        before[k] = now;
      }
    }
  }
}

}  // namespace
}  // namespace tamis::redis
