#pragma once

// A gate before something that many threads read and one at a time changes. A reader passes without writing to memory that
// other readers write to; who changes closes the gate, waits for those inside, and opens it again.
//
//   reader                                     closer (one at a time: callers see to that)
//   mark := this gate                          word := closed
//   ── fence ──                                ── fence ──
//   word says closed?  then back, and wait     wait until no mark says this gate
//   read                                       change
//   mark := none (release)                     word := open (release)
//
// Why it holds. Mark and look, on either side, are a store and then a load of another place: the two fences make sure that at
// least one of the two sees the other (Dekker). If the reader does not see "closed", the closer sees the mark and waits until
// it is gone; mark := none is a release and the closer's look an acquire, so all that was read comes before the change. If the
// reader finds the gate open again, it has read what the closer stored with release, so the change comes before all that is
// read. A mark that goes from one gate to another is stored with release, too: the closer then reads the later value, and what
// was read before it still comes first.
//
// The fence is paid by one side only. `fenced` gates: mark and look are sequentially consistent, and so are the closer's store
// and looks. In the single order S of these, either mark < word := closed, and the closer's look, which is later still, finds
// the mark (or a later value of it); or word := closed < mark < the reader's look, which finds "closed". A mark that is claimed
// while somebody closes is covered as well: its number is in `used` before its first mark, in S.
// Gates that nobody has closed for a while lose `fenced`: readers then store, and load, without a fence, and the next closer
// has the system pass a fence through every thread of the process (membarrier) between its store and its looks. That fence
// falls before or after a reader's look: before it, the look finds "closed"; after it, the mark is seen. C++20 has no word for
// such a fence; where there is none, gates stay fenced.
//
// Nobody starves. A closed gate keeps later readers out, so a closer waits for those inside alone. A reader that has met a
// closed gate is counted, and nobody closes while somebody is counted: it waits for two closers at most.
//
// Rules: behind a gate nothing else is waited for, but what was asked behind another gate. Who closes must not read.

#include <atomic>
#include <cstdint>
#include <thread>

#include "tamis/detail/base/compiler.hpp"
#include "tamis/detail/threads/reader_marks.hpp"

namespace tamis::detail {

// What a test can watch, put in an order of its own, or leave out.
enum class gate_step : std::uint8_t { mark, look, unmark, let_readers_in, close, fence_all, look_for_readers, open };

// What a gate does between its steps: nothing. Tests have others.
struct no_steps {
  static void at(gate_step) {}
  static constexpr bool skips(gate_step) { return false; }
  // Somebody else has to move first; `turns` counts how often that was said.
  static void wait(unsigned turns) {
    constexpr unsigned spins = 64;
    if (turns >= spins) return std::this_thread::yield();
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  }
};

template <class Steps = no_steps>
class reader_gate {  // NOLINT(clang-analyzer-optin.performance.Padding): lines of their own are what it is for
 public:
  // The reader's side.
  class passage {
   public:
    explicit passage(const reader_gate& gate) : gate_(gate), mark_(gate.enter()) {}
    passage(const passage&) = delete;
    passage& operator=(const passage&) = delete;
    ~passage() { gate_.leave(mark_); }

   private:
    const reader_gate& gate_;
    reader_mark* mark_;
  };

  // The closer's.  Requires: no other one at this gate, and the thread does not read behind it.
  class closure {
   public:
    explicit closure(reader_gate& gate) : gate_(gate) { gate.close(); }
    closure(const closure&) = delete;
    closure& operator=(const closure&) = delete;
    ~closure() { gate_.open(); }

   private:
    reader_gate& gate_;
  };

  // Do readers pay for a fence now?
  bool is_fenced() const { return word_.load(std::memory_order_relaxed) != 0; }

 private:
  static constexpr std::uint32_t closed = 1;
  static constexpr std::uint32_t fenced = 2;
  static constexpr std::uint32_t reads_before_a_look = 1024;  // at whether the gate is still in use by closers

  TAMIS_INLINE reader_mark* enter() const {
    reader_mark* const mark = reader_marks::mine();
    // A thread that reads behind two gates at once is counted at the second.
    if (mark == nullptr || mark->at.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
      return enter_counted();
    Steps::at(gate_step::mark);
    if (!Steps::skips(gate_step::mark)) mark->at.store(this, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    Steps::at(gate_step::look);
    if (word_.load(std::memory_order_acquire) != 0 && !Steps::skips(gate_step::look)) [[unlikely]]
      enter_fenced(*mark);
    return mark;
  }

  TAMIS_INLINE void leave(reader_mark* mark) const {
    Steps::at(gate_step::unmark);
    if (mark != nullptr) [[likely]] {
      mark->at.store(nullptr, std::memory_order_release);
    } else {
      counted_.fetch_sub(1, std::memory_order_release);
    }
  }

  TAMIS_NOINLINE void enter_fenced(reader_mark& mark) const {
    const auto put = [&] { mark.at.store(Steps::skips(gate_step::mark) ? nullptr : this, std::memory_order_seq_cst); };
    put();
    if (!is_closed()) {
      if (++mark.fenced_reads % reads_before_a_look == 0) drop_fence_if_quiet();
      return;
    }
    mark.at.store(nullptr, std::memory_order_release);
    wait_outside(put, [&] { mark.at.store(nullptr, std::memory_order_release); });
  }

  TAMIS_NOINLINE reader_mark* enter_counted() const {
    const auto put = [&] { counted_.fetch_add(1, std::memory_order_seq_cst); };
    const auto take = [&] { counted_.fetch_sub(1, std::memory_order_release); };
    put();
    if (!is_closed()) return nullptr;
    take();
    wait_outside(put, take);
    return nullptr;
  }

  template <class Put, class Take>
  void wait_outside(Put put, Take take) const {
    waiting_.fetch_add(1, std::memory_order_seq_cst);
    for (;;) {
      for (unsigned turns = 0; is_closed(); ++turns) Steps::wait(turns);
      Steps::at(gate_step::mark);
      put();
      Steps::at(gate_step::look);
      if (!is_closed()) break;
      take();
    }
    waiting_.fetch_sub(1, std::memory_order_release);
  }

  bool is_closed() const { return (word_.load(std::memory_order_seq_cst) & closed) != 0; }

  // Twice the same number of closures: nobody has closed in between. Two threads may look at nearly the same time, so a closer
  // may pay for one membarrier in `reads_before_a_look` reads, not more often.
  void drop_fence_if_quiet() const {
    const std::uint32_t closures = closures_.load(std::memory_order_relaxed);
    if (closures_seen_.load(std::memory_order_relaxed) != closures) {
      closures_seen_.store(closures, std::memory_order_relaxed);
    } else if (reader_marks::can_fence_all()) {
      std::uint32_t open_and_fenced = fenced;
      word_.compare_exchange_strong(open_and_fenced, 0, std::memory_order_seq_cst);
    }
  }

  void close() {
    Steps::at(gate_step::let_readers_in);
    for (unsigned turns = 0; waiting_.load(std::memory_order_acquire) != 0 && !Steps::skips(gate_step::let_readers_in); ++turns)
      Steps::wait(turns);
    Steps::at(gate_step::close);
    closures_.store(closures_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    const std::uint32_t before =
        Steps::skips(gate_step::close) ? fenced : word_.exchange(closed | fenced, std::memory_order_seq_cst);
    if (before == 0 && !Steps::skips(gate_step::fence_all)) reader_marks::fence_all();
    Steps::at(gate_step::look_for_readers);
    if (Steps::skips(gate_step::look_for_readers)) return;
    for (const reader_mark& mark : reader_marks::used()) {
      for (unsigned turns = 0; mark.at.load(std::memory_order_seq_cst) == this; ++turns) Steps::wait(turns);
    }
    for (unsigned turns = 0; counted_.load(std::memory_order_seq_cst) != 0; ++turns) Steps::wait(turns);
  }

  void open() {
    Steps::at(gate_step::open);
    word_.store(fenced, std::memory_order_release);
  }

  // What every reader reads.
  mutable std::atomic<std::uint32_t> word_ = fenced;
  std::atomic<std::uint32_t> closures_ = 0;
  mutable std::atomic<std::uint32_t> closures_seen_ = 0;
  // What only those write who have no mark, or have met a closed gate.
  alignas(cache_line_bytes) mutable std::atomic<std::uint32_t> waiting_ = 0;
  mutable std::atomic<std::uint32_t> counted_ = 0;
};

}  // namespace tamis::detail
