// Every allocation of a call may fail: the caller gets TAMIS_MEMORY, and the filter is as it was.

#include <cctype>
#include <cstdlib>
#include <limits>
#include <new>

#include "tests/c/support.hpp"

namespace {

// Allocations of this thread that still succeed. Others are never refused.
thread_local std::uint64_t allocations_left = std::numeric_limits<std::uint64_t>::max();

void* allocated(std::size_t size) {
  if (allocations_left == 0) throw std::bad_alloc();
  --allocations_left;
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) { return allocated(size); }
void* operator new[](std::size_t size) { return allocated(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace tamis::test {
namespace {

// Calls `call` with 0, 1, 2, … allocations until it does not run out of memory. Answers how often it did.
template <class Call>
int starved(Call call) {
  for (int allowed = 0;; ++allowed) {
    tamis_error error{};
    allocations_left = static_cast<std::uint64_t>(allowed);
    const std::int64_t answer = call(&error);
    allocations_left = std::numeric_limits<std::uint64_t>::max();
    if (answer != TAMIS_MEMORY) {
      EXPECT_GE(answer, 0) << error.message;
      return allowed;
    }
    EXPECT_EQ(error.code, TAMIS_MEMORY);
    EXPECT_STRNE(error.message, "");
    if (allowed > 100000) return -1;
  }
}

// The saved bytes, in the midst of a call that is starved.
std::string saved_at_ease(const tamis_filter* f) {
  allocations_left = std::numeric_limits<std::uint64_t>::max();
  std::string bytes = saved(f);
  allocations_left = 0;
  return bytes;
}

class c_no_memory : public testing::TestWithParam<std::string> {};

TEST_P(c_no_memory, a_filter_is_made_and_copied_or_not_there) {
  const std::string spec = GetParam() + " capacity=1000";
  tamis_filter* f = nullptr;
  EXPECT_GT(starved([&](tamis_error* e) { return tamis_filter_create(spec.c_str(), nullptr, &f, e); }), 0);
  const filter_handle kept(f);
  ASSERT_NE(f, nullptr);
  tamis_filter* copy = nullptr;
  EXPECT_GT(starved([&](tamis_error* e) { return tamis_filter_copy(f, &copy, e); }), 0);
  const filter_handle kept_copy(copy);
  EXPECT_EQ(saved(copy), saved(f));
}

TEST_P(c_no_memory, saving_and_loading_fail_whole) {
  const filter_handle f = made(GetParam() + " capacity=1000");
  const std::vector<std::uint64_t> members = numbers(1, 500);
  const tamis_keys keys = integers(members);
  ASSERT_EQ(tamis_insert(f.get(), &keys, nullptr, nullptr, nullptr), 500);
  const std::string bytes = saved(f.get());
  const auto discard = [](void*, const void*, size_t) { return 0; };
  starved([&](tamis_error* e) { return tamis_filter_save(f.get(), discard, nullptr, e); });
  tamis_filter* loaded = nullptr;
  EXPECT_GT(starved([&](tamis_error* e) { return tamis_filter_load_bytes(bytes.data(), bytes.size(), nullptr, &loaded, e); }),
            0);
  const filter_handle kept(loaded);
  ASSERT_NE(loaded, nullptr);
  EXPECT_EQ(saved(loaded), bytes);
}

// An insert that needs memory grows: what was in stays in, and the key that failed may be offered again.
TEST_P(c_no_memory, an_insert_that_fails_loses_nothing) {
  const filter_handle f = made(GetParam() + " capacity=64");
  std::vector<std::uint64_t> in;
  bool full = false;
  for (const std::uint64_t key : numbers(1, 600)) {
    const std::string before = in.size() % 50 == 0 ? saved(f.get()) : std::string();
    starved([&](tamis_error* e) {
      const int answer = tamis_insert_u64(f.get(), key, e);
      if (answer == TAMIS_MEMORY && !before.empty()) {
        EXPECT_EQ(saved_at_ease(f.get()), before);
      }
      full = answer == TAMIS_FULL;
      return full ? 0 : answer;
    });
    if (full) break;
    in.push_back(key);
  }
  const tamis_keys keys = integers(in);
  EXPECT_EQ(answers(f.get(), keys), std::vector<std::uint8_t>(in.size(), 1));
}

// Every filter, alone and concurrent.
std::vector<std::string> specs() {
  std::vector<std::string> all = kinds();
  for (const std::string& kind : kinds()) all.push_back(kind + " concurrent=1 stripes=2");
  return all;
}

INSTANTIATE_TEST_SUITE_P(every_filter, c_no_memory, testing::ValuesIn(specs()), [](const auto& of) {
  std::string name = of.param;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
});

}  // namespace
}  // namespace tamis::test
