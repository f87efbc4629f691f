#include "tamis/detail/threads/reader_marks.hpp"

#include <pthread.h>

#include <cassert>

#if defined(__linux__)
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tamis::detail {

constinit thread_local reader_mark* own_reader_mark = nullptr;
constinit reader_mark reader_marks::all_[most] = {};
constinit std::atomic<std::uint32_t> reader_marks::used_ = 0;
constinit std::atomic<std::uint32_t> reader_marks::claimed_ = 0;

namespace {

constinit thread_local bool is_ending = false;

}  // namespace

// One per thread that has a mark.
struct mark_return {
  bool is_needed = false;
  ~mark_return() {
    if (is_needed) reader_marks::give_back();
    is_ending = true;
  }
};

reader_mark* reader_marks::claim() {
  if (is_ending || claimed_.load(std::memory_order_relaxed) >= most) return nullptr;
  static const int handles_forks = pthread_atfork(nullptr, nullptr, &forget_other_threads);
  thread_local mark_return at_end;
  if (handles_forks != 0) return nullptr;
  for (std::uint32_t i = 0; i < most; ++i) {
    if (all_[i].taken.load(std::memory_order_relaxed) || all_[i].taken.exchange(true, std::memory_order_acquire)) continue;
    claimed_.fetch_add(1, std::memory_order_relaxed);
    // Before the first mark: who closes a gate and does not see this mark among the used ones is seen closing it.
    std::uint32_t used = used_.load(std::memory_order_seq_cst);
    while (used <= i && !used_.compare_exchange_weak(used, i + 1, std::memory_order_seq_cst)) {
    }
    at_end.is_needed = true;
    return own_reader_mark = &all_[i];
  }
  return nullptr;
}

void reader_marks::give_back() {
  reader_mark& own = *own_reader_mark;
  own_reader_mark = nullptr;
  claimed_.fetch_sub(1, std::memory_order_relaxed);
  own.taken.store(false, std::memory_order_release);
}

void reader_marks::forget_other_threads() {
  for (reader_mark& mark : all_) {
    if (&mark == own_reader_mark) continue;
    mark.at.store(nullptr, std::memory_order_relaxed);
    mark.taken.store(false, std::memory_order_relaxed);
  }
  claimed_.store(own_reader_mark != nullptr ? 1 : 0, std::memory_order_relaxed);
}

#if defined(__linux__) && defined(SYS_membarrier)
bool reader_marks::can_fence_all() {
  static const bool can = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
  return can;
}
void reader_marks::fence_all() {
  [[maybe_unused]] const long done = syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  assert(done == 0);  // who asks has been told that it can be done
}
#else
bool reader_marks::can_fence_all() { return false; }
void reader_marks::fence_all() {}
#endif

}  // namespace tamis::detail
