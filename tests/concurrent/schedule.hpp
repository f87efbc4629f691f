#pragma once

// Two threads in every order of their steps. Only one of them runs at a time; at each step of a gate or a filter (and inside a
// fragile filter's operations) the other may be made to go on instead. Runs are repeated until every order has been tried, up
// to a number of switches away from a thread that could have gone on.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "src/concurrent_parts.hpp"
#include "tests/support/toy_filter.hpp"

namespace tamis::test {

class schedule {
 public:
  struct stuck : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  struct outcome {
    std::uint64_t runs = 0;
    bool was_stuck = false;
  };

  // `prepare` makes what a run needs and says what the two threads do; `check` looks at the end. Ends early if check says so.
  struct two {
    std::function<void()> first, second;
  };
  static outcome try_all(unsigned most_switches, const std::function<two()>& prepare, const std::function<bool()>& check) {
    outcome all;
    std::vector<choice> script;
    do {
      schedule run(std::move(script), most_switches);
      run.go(prepare());
      script = std::move(run.script_);
      ++all.runs;
      all.was_stuck |= run.stuck_;
      if (!check() || all.was_stuck) return all;
    } while (advance(script));
    return all;
  }

  // A step of the calling thread; nothing outside of a run.
  static void step() {
    if (current_ != nullptr) current_->decide(false);
  }
  // It cannot go on before the other has.
  static void wait() {
    if (current_ != nullptr) return current_->decide(true);
    std::this_thread::yield();
  }
  static unsigned me() { return me_; }

 private:
  struct choice {
    bool switches;
    bool has_other;  // could have been the other way
  };

  schedule(std::vector<choice> script, unsigned most_switches) : script_(std::move(script)), left_(most_switches) {}

  // The last choice that has another way is taken that way.
  static bool advance(std::vector<choice>& script) {
    while (!script.empty() && (script.back().switches || !script.back().has_other)) script.pop_back();
    if (script.empty()) return false;
    script.back().switches = true;
    return true;
  }

  void go(const two& what) {
    const auto run = [this](unsigned number, const std::function<void()>& work) {
      me_ = number;
      {
        std::unique_lock lock(m_);
        turns_.wait(lock, [&] { return running_ == number; });
      }
      current_ = this;
      try {
        work();
      } catch (const stuck&) {
        stuck_ = true;
      }
      current_ = nullptr;
      const std::lock_guard lock(m_);
      ended_[number] = true;
      running_ = 1 - number;
      turns_.notify_all();
    };
    std::thread first(run, 0u, what.first);
    std::thread second(run, 1u, what.second);
    first.join();
    second.join();
  }

  void decide(bool is_blocked) {
    constexpr unsigned most_waits = 100;
    const unsigned other = 1 - me_;
    waits_ = is_blocked ? waits_ + 1 : 0;
    if (stuck_ || waits_ > most_waits || (is_blocked && ended_[other])) {
      stuck_ = true;
      throw stuck("nobody can go on");
    }
    if (ended_[other]) return;
    if (!is_blocked) {
      if (at_ == script_.size()) script_.push_back({false, left_ > 0});
      if (!script_[at_++].switches) return;
      --left_;
    }
    std::unique_lock lock(m_);
    running_ = other;
    turns_.notify_all();
    turns_.wait(lock, [&] { return running_ == me_; });
  }

  static inline thread_local schedule* current_ = nullptr;
  static inline thread_local unsigned me_ = 0;

  std::mutex m_;
  std::condition_variable turns_;
  unsigned running_ = 0;
  bool ended_[2] = {};
  std::vector<choice> script_;
  std::size_t at_ = 0;
  unsigned left_;
  unsigned waits_ = 0;
  bool stuck_ = false;
};

// The steps of gates and filters, in the order of the schedule, but for one that may be left out.
struct scheduled_steps {
  static inline int skipped_gate_step = -1;
  static inline int skipped_filter_step = -1;
  static inline unsigned marks[2] = {};  // how often each thread tried to pass a gate

  static void at(detail::gate_step s) {
    if (s == detail::gate_step::mark) ++marks[schedule::me()];
    schedule::step();
  }
  static void at(detail::filter_step) { schedule::step(); }
  static bool skips(detail::gate_step s) { return static_cast<int>(s) == skipped_gate_step; }
  static bool skips(detail::filter_step s) { return static_cast<int>(s) == skipped_filter_step; }
  static void wait(unsigned) { schedule::wait(); }
  static void lock(std::mutex& m) {
    while (!m.try_lock()) schedule::wait();
  }
};

// A filter whose operations have steps in the middle, and which notices who comes in between. Its fingerprints are the first
// eight bits of the second word, so that mistakes are easily made.
class fragile {
 public:
  static constexpr filter_info info{.id = "fragile", .summary = "notices races", .paper = "none", .options = {}};
  static inline std::uint64_t overlaps = 0;

  static result<fragile> create(const filter_params& params) {
    fragile made;
    made.capacity_ = params.capacity;
    return made;
  }

  insert_result insert(digest d) {
    return change([&] {
      denied_.erase(d);
      prints_.insert(print(d));
      return insert_result::inserted;
    });
  }
  bool may_contain(digest d) const {
    overlaps += now_.changing;
    ++now_.reading;
    const bool known = prints_.contains(print(d));
    schedule::step();
    const bool still = prints_.contains(print(d));
    overlaps += known != still || now_.changing;
    --now_.reading;
    return known && !denied_.contains(d);
  }
  erase_result erase(digest d) {
    return change([&] {
      const auto at = prints_.find(print(d));
      if (at == prints_.end()) return erase_result::absent;
      prints_.erase(at);
      return erase_result::erased;
    });
  }
  adapt_result adapt(digest d, const remote_ref& stored) {
    if (!prints_.contains(print(d)) || denied_.contains(d)) return adapt_result::not_positive;
    if (holds(stored, d)) return adapt_result::is_member;
    return change([&] {
      denied_.insert(d);
      return adapt_result::fixed;
    });
  }
  status expand() {
    schedule::step();
    capacity_ *= 2;
    return {};
  }

  std::uint64_t keys() const { return prints_.size(); }
  std::uint64_t capacity() const { return capacity_; }
  double expected_fpr() const { return 0.5; }
  memory_bits bits() const { return {64}; }
  option_list settings() const { return {}; }

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.capacity_);
  }

 private:
  static std::uint64_t print(digest d) { return d.low >> 56; }

  // A change of two halves: what is read before the step is written after it.
  template <class Change>
  std::invoke_result_t<Change> change(Change make) {
    overlaps += now_.changing || now_.reading != 0;
    now_.changing = true;
    const auto before = prints_;
    const auto answer = make();
    const auto after = std::exchange(prints_, before);
    schedule::step();
    prints_ = after;
    overlaps += now_.reading != 0;
    now_.changing = false;
    return answer;
  }

  std::uint64_t capacity_ = 0;
  std::multiset<std::uint64_t> prints_;
  std::set<digest> denied_;
  // Of this object alone: a copy has no readers yet.
  struct visits {
    visits() = default;
    visits(const visits& /*other*/) {}
    visits& operator=(const visits& /*other*/) { return *this; }
    bool changing = false;
    int reading = 0;
  };
  mutable visits now_;
};

inline const registry& registry_with_fragile() {
  static const registry made = [] {
    registry all;
    all.add(detail::entry_of<fragile>());
    return all;
  }();
  return made;
}

}  // namespace tamis::test
