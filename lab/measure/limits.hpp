#pragma once

// What this machine's memory gives, over a table of a given size: the floor under every filter that reads one line per key.

#include <cstdint>

#include "tamis/detail/base/zeroed_array.hpp"
#include "tamis/result.hpp"

namespace tamis::lab {

class line_reads {
 public:
  // Takes and fills the table, in the same kind of memory as a filter's.
  static result<line_reads> make(std::uint64_t bytes);

  // Nanoseconds per read of one random cache line, ...
  double prefetched_ns(std::size_t reads) const;  // ... asked for well ahead: a batched lookup cannot be faster
  double dependent_ns(std::size_t reads) const;   // ... whose address depends on the read before: one whole memory latency

 private:
  detail::zeroed_array<std::uint64_t> table_;
};

}  // namespace tamis::lab
