#pragma once

// Counters of queries that no two threads share: each thread adds to its own, on cache lines of their own, and who wants to
// know adds them up. Threads are told apart by their reader marks (reader_marks.hpp); those without one share the last
// counters.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "tamis/detail/threads/reader_marks.hpp"

namespace tamis {

enum class counted : std::uint8_t {
  queries,
  negatives,
  first_wrong,
  repeated_wrong,
  unguarded,
  store_reads,
  adaptations,
  unfixable,
  adaptations_left,
  rejuvenations,
};

class thread_counts {
 public:
  void add(counted what, std::uint64_t by = 1) {
    const std::uint32_t number = detail::reader_marks::my_number();
    std::atomic<std::uint64_t>& mine = of_threads_[number].counts[static_cast<std::size_t>(what)];
    if (number == detail::reader_marks::most) {
      mine.fetch_add(by, std::memory_order_relaxed);
    } else {  // nobody else writes to it, so no read-modify-write is needed
      mine.store(mine.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
    }
  }
  std::uint64_t sum(counted what) const {
    std::uint64_t all = 0;
    for (std::uint32_t i = 0; i <= detail::reader_marks::most; ++i)
      all += of_threads_[i].counts[static_cast<std::size_t>(what)].load(std::memory_order_relaxed);
    return all;
  }

 private:
  static constexpr std::size_t kinds = static_cast<std::size_t>(counted::rejuvenations) + 1;
  struct alignas(128) of_thread {
    std::array<std::atomic<std::uint64_t>, kinds> counts{};
  };
  std::unique_ptr<of_thread[]> of_threads_ = std::make_unique<of_thread[]>(detail::reader_marks::most + 1);
};

}  // namespace tamis
