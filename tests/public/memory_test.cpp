#include "tamis/memory.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "tamis/any_filter.hpp"
#include "tamis/detail/base/table_list.hpp"
#include "tamis/detail/base/zeroed_array.hpp"
#include "tamis/filters/evergreen.hpp"
#include "tamis/memory_remote.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/counting_memory.hpp"
#include "tests/support/keys.hpp"

namespace tamis::test {

using namespace detail;

namespace {

using table = zeroed_array<std::uint8_t>;

TEST(memory_scope, tables_come_from_the_innermost_and_go_back_to_where_they_came_from) {
  counting_memory outer;
  counting_memory inner;
  std::vector<table> tables;
  {
    const memory_scope first(outer);
    tables.push_back(table::make(1000).value());
    EXPECT_EQ(outer.bytes(), 1024u);  // whole cache lines
    {
      const memory_scope second(inner);
      EXPECT_EQ(&current_memory(), &inner);
      tables.push_back(table::make(64).value());
      tables.push_back(tables.front());  // a copy belongs to where it is made
    }
    EXPECT_EQ(&current_memory(), &outer);
    EXPECT_EQ(inner.bytes(), 64u + 1024u);
    std::swap(tables[0], tables[1]);
  }
  EXPECT_EQ(&current_memory(), &default_memory());
  tables.push_back(table::make(5000).value());
  EXPECT_EQ(outer.blocks() + inner.blocks(), 3u);
  std::thread([&tables] { tables.clear(); }).join();
  EXPECT_EQ(outer.blocks() + inner.blocks(), 0u);
}

TEST(memory_scope, nothing_is_no_scope) {
  counting_memory mine;
  const memory_scope outer(mine);
  const memory_scope none(nullptr);
  EXPECT_EQ(&current_memory(), &mine);
  const memory_scope huge(huge_page_memory());
  EXPECT_EQ(&current_memory(), &huge_page_memory());
}

TEST(memory_scope, is_of_one_thread) {
  counting_memory mine;
  const memory_scope here(mine);
  std::thread([] { EXPECT_EQ(&current_memory(), &huge_page_memory()); }).join();
}

TEST(default_memory, is_of_the_whole_process_and_may_change) {
  counting_memory mine;
  EXPECT_EQ(&default_memory(), &huge_page_memory());
  std::optional<table> before = table::make(3000).value();
  set_default_memory(&mine);
  EXPECT_EQ(&default_memory(), &mine);
  std::optional<table> with;
  std::thread([&with] { with = table::make(3000).value(); }).join();
  before.reset();
  set_default_memory(nullptr);
  EXPECT_EQ(&current_memory(), &huge_page_memory());
  const table after = table::make(3000).value();
  EXPECT_EQ(mine.blocks(), 1u);
  with.reset();
  EXPECT_EQ(mine.blocks(), 0u);
}

TEST(memory_resource, the_built_in_ones_answer_as_promised) {
  for (memory_resource* const memory : {&huge_page_memory(), &heap_memory()}) {
    for (const std::uint64_t bytes : {1u, 8u, 24u, 64u, 1000u, 100'000u, 1u << 21, (1u << 22) + 1}) {
      for (const std::uint64_t alignment : {1u, 8u, 64u}) {
        auto* const got = static_cast<unsigned char*>(memory->allocate_zeroed(bytes, alignment));
        ASSERT_NE(got, nullptr);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(got) % alignment, 0u);
        EXPECT_EQ(std::count(got, got + bytes, 0), static_cast<std::ptrdiff_t>(bytes));
        std::fill_n(got, bytes, static_cast<unsigned char>(7));
        memory->release(got, bytes, alignment);
      }
    }
    for (const std::uint64_t bytes : {~std::uint64_t{0}, ~std::uint64_t{0} - 100, std::uint64_t{1} << 62}) {
      EXPECT_EQ(memory->allocate_zeroed(bytes, 64), nullptr);
    }
  }
}

// What a server does that wants to know, and to keep its huge pages.
class forwarding_memory final : public memory_resource {
 public:
  std::uint64_t bytes = 0;

 private:
  void* allocate_zeroed(std::uint64_t more, std::uint64_t alignment) noexcept override {
    bytes += more;
    return huge_page_memory().allocate_zeroed(more, alignment);
  }
  void release(void* memory, std::uint64_t less, std::uint64_t alignment) noexcept override {
    bytes -= less;
    huge_page_memory().release(memory, less, alignment);
  }
};

TEST(memory_resource, one_that_passes_on_keeps_tables_on_huge_pages) {
  forwarding_memory mine;
  constexpr std::uint64_t page = 2u << 20;
  {
    const memory_scope here(mine);
    const auto one = table::make(page).value();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(one.data()) % page, 0u);
    EXPECT_EQ(mine.bytes, page);
  }
  EXPECT_EQ(mine.bytes, 0u);
}

TEST(memory_resource, many_may_exist_and_more_one_after_the_other) {
  std::deque<forwarding_memory> all;
  EXPECT_THROW(while (true) all.emplace_back(), std::bad_alloc);
  EXPECT_GT(all.size(), 65'000u);
  EXPECT_LT(all.size(), 65'536u);
  {
    const memory_scope here(all.back());
    const auto one = table::make(100).value();
    EXPECT_EQ(all.back().bytes, 128u);
  }
  EXPECT_EQ(all.back().bytes, 0u);
  all.pop_front();
  all.emplace_back();
  all.clear();
  for (int i = 0; i < 200'000; ++i) {
    counting_memory mine;
    const memory_scope here(mine);
    const auto one = table::make(10).value();
    ASSERT_EQ(mine.blocks(), 1u);
  }
}

TEST(memory_resource, is_used_by_many_threads) {
  counting_memory shared;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&shared] {
      for (int i = 0; i < 300; ++i) {
        counting_memory mine;
        const memory_scope outer(shared);
        const auto one = table::make(100).value();
        const memory_scope inner(mine);
        const auto other = table::make(100).value();
        EXPECT_EQ(mine.blocks(), 1u);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(shared.calls(), 4u * 300u);
}

TEST(table_list, keeps_its_memory_when_it_moves_and_not_when_it_is_copied) {
  counting_memory mine;
  counting_memory other;
  table_list<std::uint64_t> kept;
  {
    const memory_scope here(mine);
    table_list<std::uint64_t> made(3, 7u);
    kept = std::move(made);
  }
  EXPECT_EQ(mine.bytes(), 24u);
  {
    const memory_scope here(other);
    const table_list<std::uint64_t> copy = kept;  // NOLINT(performance-unnecessary-copy-initialization)
    EXPECT_EQ(other.bytes(), 24u);
    kept.resize(100);  // where it was
    EXPECT_EQ(mine.bytes(), 800u);
    EXPECT_EQ(kept[2], 7u);
    EXPECT_EQ(kept[50], 0u);
  }
  const table_list<std::uint64_t> on_the_heap = kept;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_EQ(mine.blocks(), 1u);
}

// A filter that grows, for one resource while another is in force.

filter_params growing(memory_resource* memory) { return {.capacity = 100, .fpr = 0.01, .options = {}, .memory = memory}; }

// With all its quotients at once, so that it is wrong as often as it may be.
filter_params often_wrong(memory_resource* memory) {
  return {.capacity = 100, .fpr = 0.05, .options = {{"segment", "64"}}, .memory = memory};
}

TEST(any_filter_memory, is_the_filters_own_for_all_it_does) {
  counting_memory mine;
  counting_memory others;
  memory_remote stored;
  for (const digest d : keys(5000)) stored.insert(d);
  const memory_scope not_mine(others);
  std::optional<any_filter> f = any_filter::create("evergreen", growing(&mine)).value();
  EXPECT_GT(mine.bytes(), 0u);
  const std::uint64_t at_first = mine.bytes();
  EXPECT_EQ(f->insert_many(keys(2000)), 2000u);
  for (const digest d : keys(3000, 2000)) static_cast<void>(f->insert(d, remote_ref(stored)));
  EXPECT_GT(mine.bytes(), 4 * at_first);
  for (const digest d : strangers(1000)) {
    if (f->may_contain(d)) f->adapt(d, remote_ref(stored));
  }
  f->expand().value();
  const std::uint64_t grown = mine.bytes();

  any_filter copy = *f;
  EXPECT_GT(mine.bytes(), grown * 19 / 10);
  any_filter loaded = load_bytes(f->save_bytes(), {.memory = &mine}).value();
  EXPECT_GT(mine.bytes(), grown * 28 / 10);
  loaded.merge(copy).value();
  EXPECT_EQ(others.calls(), 0u);

  f = any_filter::create("evergreen", growing(nullptr)).value();  // the one in force
  EXPECT_GT(others.bytes(), 0u);
  const std::uint64_t calls = mine.calls();
  EXPECT_EQ(f->insert_many(keys(2000)), 2000u);
  EXPECT_EQ(mine.calls(), calls);
  copy = *f;
  f.reset();
}

TEST(any_filter_memory, is_kept_by_what_is_cleared) {
  counting_memory mine;
  counting_memory others;
  const memory_scope not_mine(others);
  std::optional<any_filter> f = any_filter::create("infini+mistakes", growing(&mine)).value();
  const std::uint64_t at_first = mine.bytes();
  EXPECT_EQ(f->insert_many(keys(2000)), 2000u);
  EXPECT_GT(mine.bytes(), 4 * at_first);
  f->clear().value();
  EXPECT_EQ(mine.bytes(), at_first);
  EXPECT_EQ(f->insert_many(keys(2000)), 2000u);
  EXPECT_EQ(others.calls(), 0u);
  f.reset();
  EXPECT_EQ(mine.bytes(), 0u);
}

// Also if it has none of its own and was made before any other resource was in force.
TEST(any_filter_memory, default_filters_keep_out_of_a_scope) {
  any_filter f = any_filter::create("evergreen", growing(nullptr)).value();
  counting_memory mine;
  const memory_scope here(mine);
  EXPECT_EQ(f.insert_many(keys(2000)), 2000u);
  f.expand().value();
  const any_filter copy = f;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_EQ(mine.calls(), 0u);
}

// A remote is the caller's code, and what it makes must not depend on the filter's memory.
struct busy_remote {
  memory_remote stored;
  mutable std::vector<table> made;

  template <class Visit>
  void for_each_in(digest_range range, Visit visit) const {
    made.push_back(table::make(100).value());
    stored.for_each_in(range, visit);
  }
};
TEST(any_filter_memory, is_not_that_of_a_remote) {
  busy_remote slow;
  {
    counting_memory mine;
    any_filter f = any_filter::create("evergreen", often_wrong(&mine)).value();
    for (const digest d : keys(2000)) {
      slow.stored.insert(d);
      static_cast<void>(f.insert(d, remote_ref(slow)));
    }
    for (const digest d : strangers(2000)) {
      if (f.may_contain(d)) f.adapt(d, remote_ref(slow));
    }
  }
  EXPECT_GT(slow.made.size(), 5u);
}

TEST(static_filters, take_the_memory_in_force) {
  counting_memory mine;
  EXPECT_TRUE(refused(evergreen::create(growing(&mine)), "memory_scope"));
  std::optional<evergreen> f;
  {
    const memory_scope here(mine);
    f = evergreen::create(growing(&mine)).value();
    for (const digest d : keys(2000)) static_cast<void>(f->insert(d));
  }
  const std::uint64_t bytes = mine.bytes();
  EXPECT_GT(bytes, 2000u);
  for (const digest d : keys(8000, 2000)) static_cast<void>(f->insert(d));  // elsewhere, and nothing breaks
  for (const digest d : keys(10'000)) ASSERT_TRUE(f->may_contain(d));
  f.reset();
}

TEST(refused_memory, is_an_error_of_create_and_load_that_names_the_size) {
  counting_memory mine;
  mine.left = 0;
  const filter_params params{.capacity = 1'000'000, .fpr = 0.01, .options = {}, .memory = &mine};
  EXPECT_TRUE(refused(any_filter::create("bloom", params), "1.1 MiB of memory were refused"));
  const any_filter somewhere = any_filter::create("bloom", {.capacity = 1'000'000, .fpr = 0.01}).value();
  EXPECT_TRUE(refused(load_bytes(somewhere.save_bytes(), {.memory = &mine}), "1.1 MiB of memory were refused"));
  const memory_scope here(mine);
  EXPECT_THROW(static_cast<void>(table::make(1000)), memory_refused);
  try {
    static_cast<void>(table::make(1000));
  } catch (const std::bad_alloc& e) {
    EXPECT_STREQ(e.what(), "1.0 KiB of memory were refused");
  }
}

TEST(refused_memory, leaves_a_growing_filter_as_it_was) {
  counting_memory mine;
  any_filter f = any_filter::create("evergreen", growing(&mine)).value();
  const std::vector<digest> all = keys(10'000);
  mine.left = 60;
  std::size_t in = 0;
  EXPECT_THROW(for (; in < all.size(); ++in) ASSERT_EQ(f.insert(all[in]), insert_result::inserted), memory_refused);
  EXPECT_GT(in, 100u);
  EXPECT_EQ(f.keys(), in);
  for (std::size_t i = 0; i < in; ++i) ASSERT_TRUE(f.may_contain(all[i]));
  mine.left = counting_memory::unlimited;
  EXPECT_EQ(f.insert(all[in]), insert_result::inserted);
}

}  // namespace
}  // namespace tamis::test
