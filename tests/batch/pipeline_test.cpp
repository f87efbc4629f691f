#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <string>

#include "tamis/batch.hpp"
#include "tamis/filters/bloom.hpp"
#include "tamis/filters/bloom1.hpp"
#include "tamis/filters/counting_bloom.hpp"
#include "tamis/filters/evergreen.hpp"
#include "tamis/filters/exaf.hpp"
#include "tamis/filters/taf.hpp"
#include "tamis/filters/utaf.hpp"
#include "tamis/memory_remote.hpp"
#include "tests/support/keys.hpp"
#include "tests/support/toy_filter.hpp"

namespace tamis {
namespace {

// A filter with a view, one with prefetch and prefetch_insert, and one that offers nothing.
template <class F>
class pipeline : public ::testing::Test {
 protected:
  static F make() {
    F f = F::create({.capacity = 300, .fpr = 0.1}).value();
    for (const digest d : test::keys(100)) f.insert(d);
    return f;
  }
};
using filters = ::testing::Types<bloom, bloom1, counting_bloom, test::toy_everything, test::toy_minimal>;
TYPED_TEST_SUITE(pipeline, filters);

TYPED_TEST(pipeline, batches_of_every_size_answer_in_order) {
  const TypeParam f = this->make();
  const std::vector<digest> asked = test::keys(200);  // the first half is in
  const auto answers = std::make_unique<bool[]>(201);
  for (std::size_t size = 0; size <= 200; ++size) {
    for (const std::size_t first : {std::size_t{0}, 200 - size}) {
      std::fill_n(answers.get(), 201, size % 2 == 1);
      may_contain_many(f, std::span(asked).subspan(first, size), std::span(answers.get(), size));
      for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(answers[i], f.may_contain(asked[first + i])) << i << " of " << size;
      ASSERT_EQ(answers[size], size % 2 == 1) << "written behind the end";
    }
  }
}

TYPED_TEST(pipeline, keys_are_hashed_on_the_way) {
  const TypeParam f = this->make();
  const hasher hash = test::test_hash();
  for (const std::size_t size : {0u, 1u, 32u, 33u, 200u, 256u, 257u, 700u}) {
    std::vector<std::uint64_t> numbers(size);
    std::vector<std::string> texts(size);
    for (std::size_t i = 0; i < size; ++i) numbers[i] = i, texts[i] = "key " + std::to_string(i);
    const auto answers = std::make_unique<bool[]>(size + 1);
    may_contain_many(f, hash, std::span<const std::uint64_t>(numbers), std::span(answers.get(), size));
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(answers[i], f.may_contain(hash(numbers[i])));
    may_contain_many(f, hash, std::span<const std::string>(texts), std::span(answers.get(), size));
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(answers[i], f.may_contain(hash(texts[i])));
  }
}

// What a probe does not keep is asked for again: entries that have lost bits or gained some, runs that leave their block, and
// codes of adapted blocks all need more than a digest's first word now and then.
template <filter_type F>
void expect_answers_by_key(const F& f, const hasher& hash, std::uint64_t keys) {
  std::vector<std::uint64_t> numbers(3 * keys);
  std::vector<std::string> texts(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i, texts[i] = std::to_string(i);
  const auto answers = std::make_unique<bool[]>(numbers.size());
  may_contain_many(f, hash, std::span<const std::uint64_t>(numbers), std::span(answers.get(), numbers.size()));
  for (std::size_t i = 0; i < numbers.size(); ++i) ASSERT_EQ(answers[i], f.may_contain(hash(numbers[i]))) << i;
  may_contain_many(f, hash, std::span<const std::string>(texts), std::span(answers.get(), texts.size()));
  for (std::size_t i = 0; i < texts.size(); ++i) ASSERT_EQ(answers[i], f.may_contain(hash(texts[i]))) << i;
}

template <filter_type F>
void expect_answers_of_adapted(const option_list& options, std::uint64_t capacity, std::uint64_t keys) {
  for (const hasher& hash : {hasher::fast(5), hasher::keyed({1, 2})}) {
    F f = F::create({.capacity = capacity, .fpr = 0.01, .options = options}).value();
    memory_remote stored;
    for (std::uint64_t key = 0; key < keys; ++key) {
      stored.insert(hash(key));
      ASSERT_EQ(f.insert(hash(key)), insert_result::inserted);
    }
    expect_answers_by_key(f, hash, keys);
    for (std::uint64_t key = keys; key < 3 * keys; ++key) {
      if (f.may_contain(hash(key))) f.adapt(hash(key), stored);
    }
    expect_answers_by_key(f, hash, keys);
  }
}

TEST(pipeline, adaptive_filters_answer_for_keys_as_for_digests) {
  for (const char* remainder : {"4", "8", "12"}) {
    expect_answers_of_adapted<exaf>({{"remainder", remainder}}, 5000, 5000);
    expect_answers_of_adapted<taf>({{"remainder", remainder}}, 5000, 5000);
    expect_answers_of_adapted<utaf>({{"remainder", remainder}}, 5000, 5000);
  }
  for (const char* remainder : {"4", "7", "8", "12"}) {
    for (const char* fingerprints : {"growing", "fixed"}) {
      expect_answers_of_adapted<evergreen>({{"remainder", remainder}, {"fingerprints", fingerprints}}, 5000, 5000);
      expect_answers_of_adapted<evergreen>({{"remainder", remainder}, {"fingerprints", fingerprints}}, 64, 20000);
    }
  }
}

TEST(pipeline, says_which_keys_a_full_filter_took) {
  auto f = test::toy_everything::create({.capacity = 40, .fpr = 0.01}).value();
  bool in[100];
  EXPECT_EQ(insert_many(f, test::keys(100), in), 40u);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(in[i], i < 40);
  EXPECT_EQ(insert_many(f, test::keys(1)), 0u);
}

TEST(pipeline, says_which_keys_were_erased) {
  auto f = test::toy_everything::create({.capacity = 1000, .fpr = 1e-6}).value();
  insert_many(f, test::keys(50));
  bool gone[100];
  EXPECT_EQ(erase_many(f, test::keys(100), gone), 50u);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(gone[i], i < 50);
  EXPECT_EQ(f.keys(), 0u);
}

// Memory that ends where nobody may read.
class edge_of_memory {
 public:
  edge_of_memory() : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    void* const mapped = mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    first_ = static_cast<std::byte*>(mapped);
    mprotect(first_ + page_, page_, PROT_NONE);
  }
  ~edge_of_memory() { munmap(first_, 2 * page_); }
  edge_of_memory(const edge_of_memory&) = delete;
  edge_of_memory& operator=(const edge_of_memory&) = delete;

  // A copy that ends there.
  template <class T>
  std::span<const T> holding(std::span<const T> items) const {
    std::byte* const start = first_ + page_ - items.size_bytes();
    std::memcpy(start, items.data(), items.size_bytes());
    return {reinterpret_cast<const T*>(start), items.size()};
  }

 private:
  std::size_t page_;
  std::byte* first_ = nullptr;
};

// Keys are asked for ahead, and those beyond the last one too: that must not be a read.
TYPED_TEST(pipeline, nothing_is_read_behind_the_last_key) {
  const edge_of_memory edge;
  const hasher hash = test::test_hash();
  for (const std::size_t size : {1u, 31u, 32u, 64u, 65u, 96u, 200u}) {
    TypeParam f = this->make();
    std::vector<std::uint64_t> numbers(size);
    std::vector<digest> digests(size);
    for (std::size_t i = 0; i < size; ++i) numbers[i] = i * 7, digests[i] = hash(numbers[i]);
    const auto answers = std::make_unique<bool[]>(size);
    const auto expect_answers = [&] {
      for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(answers[i], f.may_contain(digests[i])) << i << " of " << size;
    };
    may_contain_many(f, hash, edge.holding(std::span<const std::uint64_t>(numbers)), std::span(answers.get(), size));
    expect_answers();
    const std::span<const digest> at_the_edge = edge.holding(std::span<const digest>(digests));
    EXPECT_EQ(insert_many(f, at_the_edge), std::min<std::size_t>(size, 200));
    may_contain_many(f, at_the_edge, std::span(answers.get(), size));
    expect_answers();
    if constexpr (erasable<TypeParam>) {
      EXPECT_EQ(erase_many(f, at_the_edge), size);
    }
  }
}

// An update must see those before it in the same batch: the second copy is refused, the second erase finds nothing.
TEST(pipeline, updates_of_one_batch_see_each_other) {
  auto f = test::toy_everything::create({.capacity = 1, .fpr = 0.01}).value();
  const std::vector<digest> twice(2, test::keys(1)[0]);
  EXPECT_EQ(insert_many(f, twice), 1u);
  EXPECT_EQ(erase_many(f, twice), 1u);
}

}  // namespace
}  // namespace tamis
