// Operations that run out of memory half way: whichever allocation fails, nothing is lost, and what failed has changed nothing.

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <new>

#include "tamis/any_filter.hpp"
#include "tamis/memory_remote.hpp"
#include "tamis/registry.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/keys.hpp"

namespace {

std::uint64_t allocations_left = std::numeric_limits<std::uint64_t>::max();

void* allocate(std::size_t bytes) {
  if (allocations_left == 0) throw std::bad_alloc();
  --allocations_left;
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes); }
// Tables.
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  if (allocations_left == 0) return nullptr;
  --allocations_left;
  void* memory = nullptr;
  return posix_memalign(&memory, alignment, bytes) == 0 ? memory : nullptr;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace tamis::test {
namespace {

// Calls `attempt` with every number of allocations until there are enough of them. After each that was not enough, `check`.
template <class Prepare, class Attempt, class Check>
void with_too_few_allocations(Prepare prepare, Attempt attempt, Check check) {
  constexpr std::uint64_t most = 400;
  for (std::uint64_t enough = 0; enough < most; ++enough) {
    prepare();
    bool failed = false;
    allocations_left = enough;
    try {
      attempt();
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    allocations_left = std::numeric_limits<std::uint64_t>::max();
    check(failed);
    if (testing::Test::HasFailure()) FAIL() << "with " << enough << " allocations";
    if (!failed) return;
  }
}

struct world {
  explicit world(const filter_params& params, std::string_view id) : first(any_filter::create(id, params).value()) {
    for (const digest d : in) {
      stored.insert(d);
      EXPECT_EQ(first.insert(d, remote_ref(stored)), insert_result::inserted);
    }
    bytes = first.save_bytes();
  }
  void start() { f = load_bytes(bytes).value(); }
  // Everything is as it was, if the operation failed; and every key but those that went away is in, anyway.
  void check(bool failed, std::uint64_t without = 0) const {
    for (std::uint64_t i = failed ? 0 : without; i < in.size(); ++i) EXPECT_TRUE(f->may_contain(in[i])) << "lost key " << i;
    if (failed) {
      EXPECT_EQ(f->keys(), first.keys());
      for (const digest d : in) EXPECT_EQ(f->count(d), first.count(d));
    }
    const auto again = load_bytes(f->save_bytes());
    EXPECT_TRUE(again.ok()) << again.message();
  }

  std::vector<digest> in = keys(200);
  memory_remote stored;
  any_filter first;
  byte_vector bytes;
  std::optional<any_filter> f;
};

class no_memory : public testing::TestWithParam<std::string> {};

void check_all(const filter_params& params, std::string_view id) {
  world w(params, id);
  const remote_ref stored(w.stored);
  for (const digest d : strangers(5)) {
    with_too_few_allocations([&] { w.start(); }, [&] { w.f->insert(d, stored); }, [&](bool failed) { w.check(failed); });
  }
  if (w.first.can().erase) {
    with_too_few_allocations([&] { w.start(); }, [&] { w.f->erase(w.in[0], stored); },
                             [&](bool failed) { w.check(failed, 1); });
  }
  if (w.first.can().expand) {
    with_too_few_allocations([&] { w.start(); }, [&] { (void)w.f->expand(); }, [&](bool failed) { w.check(failed); });
  }
  if (w.first.can().adapt) {
    unsigned wrong = 0;
    for (const digest d : strangers(30000)) {
      if (!w.first.may_contain(d) || ++wrong > 60) continue;
      with_too_few_allocations([&] { w.start(); }, [&] { w.f->adapt(d, stored); }, [&](bool failed) { w.check(failed); });
    }
    EXPECT_GT(wrong, 20u);
  }
}

TEST_P(no_memory, loses_nothing) { check_all({.capacity = 210, .fpr = 0.1, .options = {}}, GetParam()); }

// So full that a fix moves more keys than a change log holds without memory.
TEST(no_memory_where_chains_are_long, loses_nothing) {
  for (const char* path : {"paper", "shortest", "guided"}) {
    check_all({.capacity = 200, .fpr = 0.1, .options = {{"path", path}, {"load", "96"}}}, "acf-cuckooing");
  }
}

// Fingerprints so long that segments are plain before they adapt.
TEST(no_memory_where_segments_are_plain, loses_nothing) {
  for (const char* fingerprint : {"8", "9"}) {
    check_all({.capacity = 210, .fpr = 0.1, .options = {{"fingerprint", fingerprint}}}, "evergreen");
  }
}

// So small fingerprints that blocks are reset.
TEST(no_memory_where_symbols_are_many, loses_nothing) {
  for (const char* id : {"taf", "utaf", "exaf"}) check_all({.capacity = 210, .fpr = 0.5, .options = {{"remainder", "2"}}}, id);
}

std::vector<std::string> all_filters() {
  std::vector<std::string> ids;
  for (const registry_entry& entry : registry::builtin().entries()) ids.emplace_back(entry.info->id);
  return ids;
}
INSTANTIATE_TEST_SUITE_P(every_filter, no_memory, testing::ValuesIn(all_filters()), [](const auto& of) {
  std::string name = of.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace tamis::test
