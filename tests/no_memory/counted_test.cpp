// Every byte of a filter's tables is the resource's: what it has handed out is what bits() says, next to nothing comes from
// elsewhere, and all of it comes back.

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tamis/any_filter.hpp"
#include "tamis/memory_remote.hpp"
#include "tamis/registry.hpp"
#include "tests/no_memory/heap.hpp"
#include "tests/support/counting_memory.hpp"
#include "tests/support/keys.hpp"

namespace tamis::test {

using namespace detail;

namespace {

constexpr double most_share = 0.03;
constexpr double most_bytes = 1024;       // of rounding, for all tables of a filter together
constexpr std::int64_t most_heap = 2048;  // the filter object itself

void check(const any_filter& f, const counting_memory& memory, std::int64_t heap) {
  const memory_bits bits = f.bits();
  const double said = static_cast<double>(bits.fast + bits.slow) / 8;
  EXPECT_NEAR(static_cast<double>(memory.bytes()), said, most_share * said + most_bytes);
  EXPECT_LE(heap, most_heap);
}

class counted : public testing::TestWithParam<std::string> {};

TEST_P(counted, every_byte) {
  counting_memory memory;
  for (const std::uint64_t capacity : {100u, 3000u, 100'000u}) {
    SCOPED_TRACE(capacity);
    const std::int64_t before = heap_bytes;
    const filter_params params{.capacity = capacity, .fpr = 0.01, .options = {}, .memory = &memory};
    std::optional<any_filter> f = any_filter::create(GetParam(), params).value();
    check(*f, memory, heap_bytes - before);
    // Up to the capacity, and beyond it if the filter grows.
    std::uint64_t in = 0;
    for (const unsigned times : {1u, 2u, 5u, 10u}) {
      const std::uint64_t more = capacity * times - in;
      const std::uint64_t taken = f->insert_many(keys(more, in));
      in += more;
      check(*f, memory, heap_bytes - before);
      if (taken < more || !f->can().expand) break;
    }
    {
      const any_filter copy = *f;  // NOLINT(performance-unnecessary-copy-initialization)
      const std::uint64_t both = memory.bytes();
      f.reset();
      EXPECT_LE(memory.bytes(), both / 2 + both / 20 + 1024);
      f = copy;
    }
    check(*f, memory, heap_bytes - before);
    f = load_bytes(f->save_bytes(), {.memory = &memory}).value();
    check(*f, memory, heap_bytes - before);
    f.reset();
    EXPECT_EQ(memory.bytes(), 0u);
    EXPECT_LE(heap_bytes, before);
  }
}

// Nor is the heap used much in between: not for growth, copies or merges, whose second table is the resource's, too.
TEST_P(counted, next_to_nothing_else_meanwhile) {
  constexpr std::int64_t most_meanwhile = 16 << 10;
  constexpr std::uint64_t capacity = 100'000;
  const std::vector<digest> in = keys(capacity);
  const std::vector<digest> others = keys(capacity / 10, capacity);
  const memory_remote nothing;
  counting_memory memory;
  const filter_params params{.capacity = capacity, .fpr = 0.01, .options = {}, .memory = &memory};
  any_filter other = any_filter::create(GetParam(), params).value();
  other.insert_many(others);
  const std::int64_t before = heap_bytes;
  const auto check_most = [&](const char* step) {
    EXPECT_LE(heap_most - before, most_meanwhile) << step;
    heap_most = heap_bytes;
  };
  heap_most = heap_bytes;
  any_filter f = any_filter::create(GetParam(), params).value();
  check_most("create");
  f.insert_many(in);
  check_most("insert");
  if (f.can().expand) static_cast<void>(f.expand());
  check_most("expand");
  const any_filter copy = f;  // NOLINT(performance-unnecessary-copy-initialization)
  check_most("copy");
  if (f.can().merge) static_cast<void>(f.merge(other));
  check_most("merge");
  static_cast<void>(f.expected_fpr());
  check_most("expected_fpr");
}

// Saving reads: it makes no second table. Those with codes of symbols write them as files have them, from a copy of the
// headers.
TEST_P(counted, a_save_copies_nothing) {
  if (GetParam() == "taf" || GetParam() == "exaf") return;
  counting_memory memory;
  const filter_params params{.capacity = 3000, .fpr = 0.01, .options = {}, .memory = &memory};
  any_filter f = any_filter::create(GetParam(), params).value();
  for (const digest d : keys(2000)) ASSERT_EQ(f.insert(d), insert_result::inserted);
  const std::uint64_t calls = memory.calls();
  static_cast<void>(f.save_bytes());
  EXPECT_EQ(memory.calls(), calls);
}

// Also what adapting adds, and inserts that know the store.
TEST_P(counted, every_byte_after_adapting) {
  memory_remote stored;
  counting_memory memory;
  for (const digest d : keys(20'000)) stored.insert(d);
  const std::vector<digest> more = keys(19'000, 1000);
  const std::vector<digest> absent = strangers(20'000);
  const std::int64_t before = heap_bytes;
  {
    const filter_params params{.capacity = 1000, .fpr = 0.1, .options = {}, .memory = &memory};
    any_filter f = any_filter::create(GetParam(), params).value();
    if (!f.can().adapt) return;
    f.insert_many(keys(1000));
    for (std::size_t i = 0; i < more.size() && f.can().expand; ++i) f.insert(more[i], remote_ref(stored));
    unsigned wrong = 0;
    for (const digest d : absent) {
      if (f.may_contain(d)) ++wrong, f.adapt(d, remote_ref(stored));
    }
    EXPECT_GT(wrong, 200u);
    check(f, memory, heap_bytes - before);
  }
  EXPECT_LE(heap_bytes, before);
}

std::vector<std::string> all_filters() {
  std::vector<std::string> ids;
  for (const registry_entry& entry : registry::builtin().entries()) ids.emplace_back(entry.info->id);
  return ids;
}
INSTANTIATE_TEST_SUITE_P(every_filter, counted, testing::ValuesIn(all_filters()), [](const auto& of) {
  std::string name = of.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace tamis::test
