// lock_free<bloom>, <bloom1> and <counting_bloom>: what sixteen threads do to one table is what one would have done to a plain
// one.

#include "tamis/filters/lock_free.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <latch>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "tamis/batch.hpp"
#include "tamis/filters/bloom.hpp"
#include "tamis/filters/bloom1.hpp"
#include "tamis/filters/counting_bloom.hpp"
#include "tests/support/keys.hpp"

namespace tamis::test {
namespace {

constexpr unsigned threads = 16;

// Calls work(number) in so many threads, which begin together.
template <class Work>
void at_once(unsigned count, Work work) {
  std::latch all_are_there(count);
  std::vector<std::thread> running;
  for (unsigned t = 0; t < count; ++t) {
    running.emplace_back([&, t] {
      all_are_there.arrive_and_wait();
      work(t);
    });
  }
  for (std::thread& thread : running) thread.join();
}

template <class Filter>
void fill(Filter& f, std::span<const digest> in) {
  for (const digest d : in) ASSERT_EQ(f.insert(d), insert_result::inserted);
}
template <class Filter>
std::uint64_t missing(const Filter& f, std::span<const digest> in) {
  std::uint64_t lost = 0;
  for (const digest d : in) lost += !f.may_contain(d);
  return lost;
}

template <class Shape>
class lock_free_filter : public ::testing::Test {
 protected:
  using plain = typename Shape::filter;
  using tested = lock_free<plain>;
  static_assert(filter_type<tested> && mergeable<tested>);
  static_assert(erasable<tested> == erasable<plain> && counting<tested> == counting<plain>);

  static filter_params params(std::uint64_t capacity) {
    return {.capacity = capacity, .bits_per_key = 10 * Shape::bits, .options = Shape::options()};
  }
  // Many keys in few words, so that threads meet in them.
  static constexpr std::uint64_t capacity = 8000;
  static constexpr std::size_t keys_each = 1000;
  std::span<const digest> of_thread(unsigned t) const { return std::span(in_).subspan(t * keys_each, keys_each); }

  std::vector<digest> in_ = keys(threads * keys_each);
  plain plain_ = plain::create(params(capacity)).value();
  tested shared_ = tested::create(params(capacity)).value();
};

struct classic {
  using filter = bloom;
  static constexpr double bits = 1;
  static option_list options() { return {}; }
};
struct counters {
  using filter = counting_bloom;
  static constexpr double bits = 4;
  static option_list options() { return {}; }
};
template <unsigned Width, bool Split, unsigned K = 0>
struct blocks {
  using filter = bloom1;
  static constexpr double bits = 1;
  static option_list options() {
    option_list made{{"word", std::to_string(Width)}, {"split", Split ? "yes" : "no"}};
    if (K != 0) made.emplace_back("k", std::to_string(K));
    return made;
  }
};
using shapes = ::testing::Types<classic, counters, blocks<32, false>, blocks<64, false>, blocks<128, false>, blocks<256, false>,
                                blocks<256, true>, blocks<512, false>, blocks<512, false, 16>, blocks<512, true>>;
TYPED_TEST_SUITE(lock_free_filter, shapes);

TYPED_TEST(lock_free_filter, of_one_thread_is_the_plain_filter) {
  fill(this->plain_, this->in_);
  fill(this->shared_, this->in_);
  EXPECT_EQ(this->shared_.copy(), this->plain_);
  EXPECT_EQ(this->shared_.keys(), this->plain_.keys());
  EXPECT_EQ(this->shared_.expected_fpr(), this->plain_.expected_fpr());
  for (const digest d : strangers(20'000)) ASSERT_EQ(this->shared_.may_contain(d), this->plain_.may_contain(d));
  EXPECT_EQ(missing(this->shared_, this->in_), 0u);
}

TYPED_TEST(lock_free_filter, takes_a_plain_filter_with_what_it_holds) {
  fill(this->plain_, this->of_thread(0));
  typename TestFixture::tested shared(this->plain_);
  EXPECT_EQ(shared.keys(), this->keys_each);
  EXPECT_EQ(shared.copy(), this->plain_);
}

TYPED_TEST(lock_free_filter, answers_batches_like_single_lookups) {
  fill(this->shared_, this->of_thread(0));
  const std::vector<digest> asked = strangers(5000);
  const auto said = std::make_unique<bool[]>(asked.size());
  may_contain_many(this->shared_, asked, std::span(said.get(), asked.size()));
  for (std::size_t i = 0; i < asked.size(); ++i) ASSERT_EQ(said[i], this->shared_.may_contain(asked[i]));
  ASSERT_EQ(insert_many(this->shared_, asked), asked.size());
  EXPECT_EQ(missing(this->shared_, asked), 0u);
  EXPECT_EQ(this->shared_.keys(), this->keys_each + asked.size());
}

// Every thread asks for its own keys all the time; in the end every bit is there, and none besides.
TYPED_TEST(lock_free_filter, loses_no_insert_of_sixteen_threads) {
  fill(this->plain_, this->in_);
  std::atomic<std::uint64_t> lost = 0;
  at_once(threads, [&](unsigned t) {
    const auto mine = this->of_thread(t);
    for (std::size_t i = 0; i < mine.size(); ++i) {
      this->shared_.insert(mine[i]);
      lost += missing(this->shared_, mine.subspan(i - i % 16, i % 16 + 1));
    }
  });
  EXPECT_EQ(lost, 0u);
  EXPECT_EQ(this->shared_.keys(), this->in_.size());
  EXPECT_EQ(this->shared_.copy(), this->plain_);
}

// The same, many times, of two threads that both write to the same few words at nearly the same moment.
TYPED_TEST(lock_free_filter, loses_no_insert_among_few_words) {
  constexpr std::size_t rounds = 500, each = 60;
  std::vector<typename TestFixture::tested> shared;
  for (std::size_t r = 0; r < rounds; ++r) shared.push_back(TestFixture::tested::create(this->params(60)).value());
  std::array<std::atomic<std::size_t>, 2> at{};
  at_once(2, [&](unsigned t) {
    for (std::size_t r = 0; r < rounds; ++r) {
      at[t] = r;
      while (at[1 - t] < r) std::this_thread::yield();
      fill(shared[r], this->of_thread(t).first(each));
    }
    at[t] = rounds;
  });
  auto all = TestFixture::plain::create(this->params(60)).value();
  for (unsigned t = 0; t < 2; ++t) fill(all, this->of_thread(t).first(each));
  for (std::size_t r = 0; r < rounds; ++r) ASSERT_EQ(shared[r].copy(), all) << "in round " << r;
}

// A key that one thread has told another about is found by it.
TYPED_TEST(lock_free_filter, what_is_told_is_found) {
  std::array<std::atomic<std::size_t>, threads / 2> told{};
  std::atomic<std::uint64_t> lost = 0;
  at_once(threads, [&](unsigned t) {
    const auto shown = this->of_thread(t / 2);
    if (t % 2 == 0) {
      for (std::size_t i = 0; i < shown.size(); ++i) {
        this->shared_.insert(shown[i]);
        told[t / 2].store(i + 1, std::memory_order_release);
      }
    } else {
      for (std::size_t known = 0; known < shown.size();) {
        const std::size_t before = known;
        known = told[t / 2].load(std::memory_order_acquire);
        lost += missing(this->shared_, shown.subspan(before, known - before));
        if (known == before) std::this_thread::yield();
      }
    }
  });
  EXPECT_EQ(lost, 0u);
}

TYPED_TEST(lock_free_filter, merges_while_it_is_read_and_written) {
  auto& all = this->plain_;
  fill(all, this->in_);
  auto other = TestFixture::tested::create(this->params(this->capacity)).value();
  std::atomic<std::uint64_t> lost = 0;
  at_once(3, [&](unsigned t) {
    if (t == 0) {
      for (unsigned i = 0; i < 4; ++i) fill(other, this->of_thread(i));
      ASSERT_TRUE(this->shared_.merge(other));
      for (unsigned i = 0; i < 4; ++i) lost += missing(this->shared_, this->of_thread(i));
    } else {
      for (unsigned i = 0; i < 6; ++i) {
        const auto mine = this->of_thread(4 + (t - 1) * 6 + i);
        fill(this->shared_, mine);
        lost += missing(this->shared_, mine);
        static_cast<void>(this->shared_.copy());
      }
    }
  });
  EXPECT_EQ(lost, 0u);
  EXPECT_EQ(this->shared_.keys(), all.keys());
  EXPECT_EQ(this->shared_.copy(), all);
}

TYPED_TEST(lock_free_filter, refuses_to_merge_another_shape) {
  fill(this->shared_, this->of_thread(0));
  const auto before = this->shared_.copy();
  const status done = this->shared_.merge(TestFixture::plain::create(this->params(2 * this->capacity)).value());
  EXPECT_FALSE(done);
  EXPECT_NE(done.message().find("different shapes"), std::string::npos);
  EXPECT_EQ(this->shared_.copy(), before);
}

// Keys come and go: the first half of each thread's stay.
TYPED_TEST(lock_free_filter, loses_no_erase_of_sixteen_threads) {
  if constexpr (erasable<typename TestFixture::tested>) {
    for (unsigned t = 0; t < threads; ++t) fill(this->plain_, this->of_thread(t).first(this->keys_each / 2));
    std::atomic<std::uint64_t> lost = 0;
    at_once(threads, [&](unsigned t) {
      const auto stay = this->of_thread(t).first(this->keys_each / 2);
      const auto go = this->of_thread(t).last(this->keys_each / 2);
      for (std::size_t i = 0; i < stay.size(); ++i) {
        this->shared_.insert(go[i]);
        this->shared_.insert(stay[i]);
        lost += this->shared_.count(go[i]) == 0;
        lost += this->shared_.erase(go[i]) != erase_result::erased;
        lost += missing(this->shared_, stay.first(i + 1).last(std::min<std::size_t>(i + 1, 8)));
      }
      lost += missing(this->shared_, stay);
    });
    EXPECT_EQ(lost, 0u);
    EXPECT_EQ(this->shared_.copy(), this->plain_);
    EXPECT_EQ(this->shared_.erase(strangers(1)[0]), this->plain_.erase(strangers(1)[0]));
  }
}

}  // namespace
}  // namespace tamis::test
