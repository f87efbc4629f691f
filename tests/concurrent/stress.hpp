#pragma once

// Many threads on one filter. Each owns its keys and so knows which are in; it asks for them while the others insert, erase,
// adapt, grow, save and merge.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <latch>
#include <mutex>
#include <thread>
#include <vector>

#include "support.hpp"

namespace tamis::test {

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
  worker(concurrent_filter& shared, locked_store* store, unsigned number, std::uint64_t seed)
      : shared_(shared), store_(store), random_(seed + number), next_(std::uint64_t{number} << 32) {}

  std::uint64_t checked() const { return checked_; }
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
    for (const digest d : in_) check(shared_.may_contain(d));
  }

  void take_all_out() {
    while (!in_.empty()) erase();
  }

 private:
  static constexpr std::size_t most_keys = 100;

  void check(bool right) {
    ++checked_;
    lost_ += !right;
  }

  // From a small set, so that the same mistakes are met again and again.
  digest stranger() { return test_hash()((std::uint64_t{1} << 60) + random_.below(5000)); }
  digest fresh() { return test_hash()(next_++); }

  void look() {
    if (!in_.empty()) check(shared_.may_contain(in_[random_.below(in_.size())]));
  }
  void look_at_many() {
    std::array<bool, most_keys> said{};
    shared_.may_contain_many(in_, std::span(said.data(), in_.size()));
    check(std::all_of(said.begin(), said.begin() + static_cast<std::ptrdiff_t>(in_.size()), std::identity()));
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
      check(shared_.erase(d) == erase_result::erased);
    } else {
      auto turn = shared_.take_turn(d);
      check(turn.erase() == erase_result::erased);
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
      check(how != adapt_result::is_member);
    }
  }

  concurrent_filter& shared_;
  locked_store* store_;
  detail::random_source random_;
  std::uint64_t next_;
  std::vector<digest> in_;
  std::uint64_t checked_ = 0;
  std::uint64_t lost_ = 0;
};

struct stress_report {
  std::uint64_t checked = 0;  // operations whose answers were compared with what the asking thread knows
  std::uint64_t wrong = 0;    // of these; and keys that the filter counts too many or too few
};

// `threads` workers with `operations` each, beside `aside(working)` in a thread of its own. With a store they adapt by it.
template <class Aside>
stress_report run_workers(concurrent_filter& shared, locked_store* store, unsigned threads, std::uint64_t operations,
                          std::uint64_t seed, Aside aside) {
  std::vector<worker> workers;
  for (unsigned w = 0; w < threads; ++w) workers.emplace_back(shared, store, w, seed);
  std::vector<std::thread> running;
  std::atomic<unsigned> working = threads;
  std::latch all_are_there(threads);
  for (worker& w : workers) {
    running.emplace_back([&] {
      all_are_there.arrive_and_wait();
      w.work(operations);
      --working;
    });
  }
  running.emplace_back([&] { aside(working); });
  for (std::thread& thread : running) thread.join();
  const auto differs = [&] {
    std::uint64_t in = 0;
    for (const worker& w : workers) in += w.in();
    return shared.size() != in;
  };
  stress_report report;
  report.wrong += differs();
  if (shared.can().erase) {
    for (worker& w : workers) w.take_all_out();
    report.wrong += differs();
  }
  for (const worker& w : workers) {
    report.checked += w.checked();
    report.wrong += w.lost();
  }
  return report;
}

// Saves and loads and looks at everything, for as long as somebody works.
inline std::uint64_t save_and_look(const concurrent_filter& shared, const std::atomic<unsigned>& working) {
  std::uint64_t failed = 0;
  for (int i = 0; working != 0; ++i) {
    const std::vector<std::byte> saved =
        shared.save_bytes(i % 2 != 0 ? save_moment::of_the_whole : save_moment::of_each_stripe);
    failed += !concurrent_filter::load_bytes(saved, {.known = &registry_with_toys()}).ok();
    static_cast<void>(shared.stats());
    static_cast<void>(shared.expected_fpr());
    static_cast<void>(shared.bits());
  }
  return failed;
}

// What can happen to a filter of this kind, once: beside saves, and once more among mistakes and growth with a store behind it
// (every third stranger is a mistake, and filters that grow begin small).
inline stress_report stress_beside_saves(const std::string& kind, unsigned threads, std::uint64_t operations,
                                         std::uint64_t seed = 1) {
  concurrent_filter shared = make_concurrent(kind, 3000, 4);
  std::uint64_t failed = 0;
  stress_report report = run_workers(shared, nullptr, threads, operations, seed,
                                     [&](const auto& working) { failed = save_and_look(shared, working); });
  report.wrong += failed;
  return report;
}
inline stress_report stress_among_mistakes(const std::string& kind, unsigned threads, std::uint64_t operations,
                                           std::uint64_t seed = 1) {
  const bool grows = (*registry_with_toys().find(kind.substr(0, kind.find('+'))))->can.expand;
  concurrent_filter shared = make_concurrent(kind, grows ? 100 : 3000, 2, 0.3);
  locked_store store;
  return run_workers(shared, &store, threads, operations, seed, [](const auto&) {});
}

}  // namespace tamis::test
