// Whose memory the filters of a store are in, and which threads it starts.

#include <atomic>
#include <thread>

#include "support.hpp"
#include "tests/support/counting_memory.hpp"

namespace tamis::test {
namespace {

void put_keys(guarded_store& to, std::uint64_t first, std::uint64_t last) {
  write_batch batch;
  for (std::uint64_t i = first; i < last; ++i) batch.put(key_of(i), "v");
  ASSERT_TRUE(to.write(batch));
}

void expect_all_in(const guarded_store& guarded, const counting_memory& memory) {
  const auto said = static_cast<double>(guarded.bits().fast + guarded.bits().slow) / 8;
  EXPECT_NEAR(static_cast<double>(memory.bytes()), said, 0.03 * said + 4096);
}

// Filters that are made, grown, loaded from a snapshot, and rebuilt by this thread or another.
TEST(guard_memory, is_that_of_all_filters) {
  const temporary_directory directory;
  counting_memory memory;
  counting_memory others;
  const memory_scope elsewhere(others);
  for (const char* id : {"evergreen", "bloom1", "cuckoo", "taf"}) {
    SCOPED_TRACE(id);
    const auto behind = std::make_shared<memory_store>(directory / id);
    guard_options options = options_of(id);
    options.params.memory = &memory;
    const auto open = [&] { return guarded_store::open(behind, options).value(); };
    {
      guarded_store tested = open();
      put_keys(tested, 0, 20'000);
      expect_all_in(tested, memory);
      ASSERT_TRUE(tested.snapshot());
    }
    EXPECT_EQ(memory.bytes(), 0u);
    {
      guarded_store tested = open();
      EXPECT_EQ(tested.recovered().way, recovery_way::snapshot);
      put_keys(tested, 20'000, 21'000);
      expect_all_in(tested, memory);
    }
    options.params.fpr = 0.001;  // no snapshot is of this filter
    for (const bool in_background : {true, false}) {
      options.background_rebuild = in_background;
      guarded_store tested = open();
      EXPECT_EQ(tested.recovered().way, recovery_way::rebuilt);
      tested.wait_until_ready();
      expect_all_in(tested, memory);
    }
    EXPECT_EQ(memory.bytes(), 0u);
  }
  EXPECT_EQ(others.calls(), 0u);
}

TEST(guard_memory, is_what_was_in_force_when_it_was_opened) {
  counting_memory memory;
  std::optional<guarded_store> tested;
  {
    const memory_scope here(memory);
    tested = guarded_store::open(std::make_shared<memory_store>(), options_of("evergreen")).value();
  }
  std::thread([&] { put_keys(*tested, 0, 20'000); }).join();
  expect_all_in(*tested, memory);
  tested.reset();
}

TEST(guard_memory, refused_is_an_error_of_open_and_loses_no_key_later) {
  counting_memory memory;
  guard_options options = options_of("evergreen");
  options.params.memory = &memory;
  memory.left = 0;
  EXPECT_TRUE(refused(guarded_store::open(std::make_shared<memory_store>(), options), "of memory were refused"));
  memory.left = counting_memory::unlimited;
  guarded_store tested = guarded_store::open(std::make_shared<memory_store>(), options).value();
  memory.left = 50;
  std::uint64_t in = 0;
  EXPECT_THROW(for (; in < 100'000; ++in) ASSERT_TRUE(tested.put(key_of(in), "v")), std::bad_alloc);
  EXPECT_GT(in, 4000u);
  for (std::uint64_t i = 0; i < in; ++i) ASSERT_TRUE(tested.contains(key_of(i)).value());
  EXPECT_FALSE(tested.contains(key_of(in)).value());
  memory.left = counting_memory::unlimited;
  EXPECT_TRUE(tested.put(key_of(in), "v"));
}

// Notes which threads make tables.
class watching_memory final : public memory_resource {
 public:
  std::atomic<unsigned> of_this_thread = 0;
  std::atomic<unsigned> of_others = 0;

 private:
  void* allocate_zeroed(std::uint64_t bytes, std::uint64_t alignment) noexcept override {
    ++(std::this_thread::get_id() == here_ ? of_this_thread : of_others);
    return heap_memory().allocate_zeroed(bytes, alignment);
  }
  void release(void* memory, std::uint64_t bytes, std::uint64_t alignment) noexcept override {
    heap_memory().release(memory, bytes, alignment);
  }

  std::thread::id here_ = std::this_thread::get_id();
};

TEST(guard_threads, none_rebuilds_where_the_background_is_switched_off) {
  for (const bool in_background : {false, true}) {
    const auto behind = std::make_shared<memory_store>();
    guard_options options = options_of("bloom1");
    {
      guarded_store tested = guarded_store::open(behind, options).value();
      put_keys(tested, 0, 1000);
    }
    watching_memory memory;
    options.params.memory = &memory;
    options.background_rebuild = in_background;
    guarded_store tested = guarded_store::open(behind, options).value();
    tested.wait_until_ready();
    EXPECT_EQ(tested.recovered().way, recovery_way::rebuilt);
    EXPECT_GT(memory.of_this_thread, 0u);  // that the filter can be made is checked here
    EXPECT_EQ(memory.of_others != 0, in_background);
  }
}

}  // namespace
}  // namespace tamis::test
