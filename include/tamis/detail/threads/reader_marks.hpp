#pragma once

// Who is reading: a mark per thread, on cache lines of its own, that says behind which gate (reader_gate.hpp) the thread reads.
// A reader writes its own mark and nothing else; who wants the place for itself looks at all marks.
//
// A thread claims a mark when it first reads, keeps it, and gives it back when it ends. Threads beyond `most`, and what runs
// after a thread has given its mark back, have none: the gate then counts them.
//
// After a fork the child has one thread. The marks of all others are cleared and free there.

#include <atomic>
#include <cstdint>
#include <span>

namespace tamis::detail {

// Two lines, since processors fetch neighbouring lines in pairs.
struct alignas(128) reader_mark {
  std::atomic<const void*> at = nullptr;  // the gate
  std::atomic<bool> taken = false;
  std::uint32_t fenced_reads = 0;  // the owner's count
};

extern constinit thread_local reader_mark* own_reader_mark;

class reader_marks {
 public:
  static constexpr std::uint32_t most = 256;

  // The calling thread's, or nullptr if it has none.
  static reader_mark* mine() {
    reader_mark* const own = own_reader_mark;
    return own != nullptr ? own : claim();
  }
  // Its number, below `most`; `most` if the thread has none.
  static std::uint32_t my_number() {
    const reader_mark* const own = mine();
    return own != nullptr ? static_cast<std::uint32_t>(own - all_) : most;
  }
  // All that have ever been claimed.
  static std::span<const reader_mark> used() { return {all_, used_.load(std::memory_order_seq_cst)}; }
  static std::uint32_t claimed() { return claimed_.load(std::memory_order_relaxed); }

  // Can all threads be made to pass a fence from here? Then readers need none of their own. (Linux: membarrier.)
  static bool can_fence_all();
  static void fence_all();

 private:
  friend struct mark_return;
  static reader_mark* claim();
  static void give_back();
  static void forget_other_threads();

  static reader_mark all_[most];
  static std::atomic<std::uint32_t> used_;
  static std::atomic<std::uint32_t> claimed_;
};

}  // namespace tamis::detail
