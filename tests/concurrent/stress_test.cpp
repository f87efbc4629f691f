// Sixteen threads on one filter. Each owns its keys and so knows which are in; it asks for them while the others insert, erase,
// adapt, grow, save and merge. TAMIS_STRESS=N makes N operations in each thread, of one test (the default is small).

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "support.hpp"

namespace tamis::test {

using namespace detail;

namespace {

constexpr unsigned threads = 16;

std::uint64_t operations() {
  const char* const asked = std::getenv("TAMIS_STRESS");
  return asked != nullptr ? std::strtoull(asked, nullptr, 10) : 1500;
}

// A store that threads share.
class locked_store {
 public:
  void insert(digest d) {
    const std::lock_guard lock(m_);
    stored_.insert(d);
  }
  void erase_one(digest d) {
    const std::lock_guard lock(m_);
    stored_.erase_one(d);
  }
  template <class Visit>
  void for_each_in(digest_range range, Visit visit) const {
    const std::lock_guard lock(m_);
    stored_.for_each_in(range, visit);
  }

 private:
  mutable std::mutex m_;
  multiset_remote stored_;
};

// One thread's keys, and what it does with them.
class worker {
 public:
  worker(concurrent_filter& shared, locked_store* store, unsigned number)
      : shared_(shared), store_(store), random_(number + 1), next_(std::uint64_t{number} << 32) {}

  std::uint64_t lost() const { return lost_; }
  std::uint64_t in() const { return in_.size(); }

  void work(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t chance = random_.below(100);
      if (chance < 50) {
        look();
      } else if (chance < 70) {
        static_cast<void>(shared_.may_contain(stranger()));
      } else if (chance < 82) {
        insert();
      } else if (chance < 90) {
        erase();
      } else if (chance < 92) {
        look_at_many();
      } else if (chance < 93 && store_ == nullptr) {
        insert_many();
      } else {
        adapt();
      }
    }
    for (const digest d : in_) lost_ += !shared_.may_contain(d);
  }

  void take_all_out() {
    while (!in_.empty()) erase();
  }

 private:
  static constexpr std::size_t most_keys = 100;

  // From a small set, so that the same mistakes are met again and again.
  digest stranger() { return test_hash()((std::uint64_t{1} << 60) + random_.below(5000)); }
  digest fresh() { return test_hash()(next_++); }

  void look() {
    if (!in_.empty()) lost_ += !shared_.may_contain(in_[random_.below(in_.size())]);
  }
  void look_at_many() {
    std::array<bool, most_keys> said{};
    shared_.may_contain_many(in_, std::span(said.data(), in_.size()));
    for (std::size_t i = 0; i < in_.size(); ++i) lost_ += !said[i];
  }
  void insert() {
    if (in_.size() == most_keys) return;
    const digest d = fresh();
    if (store_ == nullptr) {
      if (shared_.insert(d) == insert_result::inserted) in_.push_back(d);
    } else {
      auto turn = shared_.take_turn(d);
      store_->insert(d);
      if (turn.insert() == insert_result::inserted) {
        in_.push_back(d);
      } else {
        store_->erase_one(d);
      }
    }
    look();
  }
  void insert_many() {
    if (in_.size() + 8 > most_keys) return;
    std::array<digest, 8> some;
    for (digest& d : some) d = fresh();
    std::array<bool, 8> went_in{};
    static_cast<void>(shared_.insert_many(some, went_in));
    for (std::size_t i = 0; i < some.size(); ++i) {
      if (went_in[i]) in_.push_back(some[i]);
    }
  }
  void erase() {
    if (in_.empty()) return;
    std::swap(in_[random_.below(in_.size())], in_.back());
    const digest d = in_.back();
    if (!shared_.can().erase) return;
    if (store_ == nullptr) {
      lost_ += shared_.erase(d) != erase_result::erased;
    } else {
      auto turn = shared_.take_turn(d);
      lost_ += turn.erase() != erase_result::erased;
      store_->erase_one(d);
    }
    in_.pop_back();
  }
  void adapt() {
    if (!shared_.can().adapt) return;
    const digest d = stranger();
    if (!shared_.may_contain(d)) return;
    if (store_ == nullptr) {
      shared_.adapt(d);
    } else {
      const adapt_result how = shared_.adapt(d, remote_ref(*store_));
      lost_ += how == adapt_result::is_member;
    }
  }

  concurrent_filter& shared_;
  locked_store* store_;
  random_source random_;
  std::uint64_t next_;
  std::vector<digest> in_;
  std::uint64_t lost_ = 0;
};

class stress : public ::testing::TestWithParam<std::string> {
 protected:
  void run(concurrent_filter& shared, locked_store* store, bool others) {
    std::vector<worker> workers;
    for (unsigned w = 0; w < threads; ++w) workers.emplace_back(shared, store, w);
    std::vector<std::thread> running;
    std::atomic<unsigned> working = threads;
    for (worker& w : workers) {
      running.emplace_back([&] {
        w.work(operations());
        --working;
      });
    }
    if (others) {
      running.emplace_back([&] {
        for (int i = 0; working != 0; ++i) {
          const std::vector<std::byte> saved =
              shared.save_bytes(i % 2 != 0 ? save_moment::of_the_whole : save_moment::of_each_stripe);
          EXPECT_TRUE(concurrent_filter::load_bytes(saved, {.known = &registry_with_toys()}).ok());
          static_cast<void>(shared.stats());
          static_cast<void>(shared.expected_fpr());
          static_cast<void>(shared.bits());
        }
      });
    }
    for (std::thread& thread : running) thread.join();
    std::uint64_t lost = 0, in = 0;
    for (const worker& w : workers) {
      lost += w.lost();
      in += w.in();
    }
    EXPECT_EQ(lost, 0u);
    EXPECT_EQ(shared.size(), in);
    if (!shared.can().erase) return;
    for (worker& w : workers) w.take_all_out();
    EXPECT_EQ(shared.size(), 0u);
  }
};
INSTANTIATE_TEST_SUITE_P(all, stress, ::testing::ValuesIn(all_kinds()), test_name);

TEST_P(stress, no_key_is_lost) {
  concurrent_filter shared = make_concurrent(GetParam(), 3000, 4);
  run(shared, nullptr, true);
}

// Every third stranger is a mistake, and filters that grow begin small.
TEST_P(stress, no_key_is_lost_among_mistakes_and_growth) {
  const bool grows = (*registry_with_toys().find(GetParam().substr(0, GetParam().find('+'))))->can.expand;
  concurrent_filter shared = make_concurrent(GetParam(), grows ? 100 : 3000, 2, 0.3);
  locked_store store;
  run(shared, &store, false);
}

// Writers all the time: whoever reads gets in, and who writes gets its turn.
TEST(stress_of_one_stripe, everybody_gets_in) {
  concurrent_filter shared = make_concurrent("bloom", 1'000'000, 1);
  ASSERT_EQ(shared.insert("in"), insert_result::inserted);
  std::atomic<bool> ended = false;
  std::vector<std::thread> writers;
  for (unsigned w = 0; w < 4; ++w) {
    writers.emplace_back([&, w] {
      for (std::uint64_t i = 0; !ended; ++i) static_cast<void>(shared.insert(std::uint64_t{w} << 32 | i));
    });
  }
  std::uint64_t lost = 0;
  for (int i = 0; i < 2000; ++i) lost += !shared.may_contain("in");
  ended = true;
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(lost, 0u);
  ended = false;
  std::vector<std::thread> readers;
  for (unsigned r = 0; r < 4; ++r) {
    readers.emplace_back([&] {
      while (!ended) static_cast<void>(shared.may_contain("in"));
    });
  }
  for (std::uint64_t i = 0; i < 2000; ++i) ASSERT_EQ(shared.insert(i), insert_result::inserted);
  ended = true;
  for (std::thread& reader : readers) reader.join();
}

}  // namespace
}  // namespace tamis::test
