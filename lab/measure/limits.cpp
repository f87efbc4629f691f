#include "lab/measure/limits.hpp"

#include <algorithm>

#include "lab/measure/timing.hpp"
#include "tamis/detail/base/random.hpp"
#include "tamis/detail/hash/place.hpp"

namespace tamis::lab {

using namespace detail;

namespace {

constexpr std::uint64_t words_per_line = cache_line_bytes / sizeof(std::uint64_t);

}  // namespace

result<line_reads> line_reads::make(std::uint64_t bytes) {
  line_reads made;
  const std::uint64_t lines = std::max<std::uint64_t>(divide_up(bytes, cache_line_bytes), 1);
  TAMIS_TRY(made.table_, zeroed_array<std::uint64_t>::make(lines * words_per_line));
  random_source random(1);
  for (std::uint64_t& word : made.table_) word = random();
  return made;
}

double line_reads::prefetched_ns(std::size_t reads) const {
  const std::uint64_t lines = table_.size() / words_per_line;
  const std::uint64_t* words = table_.data();
  constexpr std::size_t group = 32;
  const auto line = [=](std::size_t i) { return words + reduce(mix64(i), lines) * words_per_line; };
  // Two groups under way, as in batch.hpp, but with nothing to do for a line except to add one word of it.
  const std::uint64_t* waiting[2][group];
  std::uint64_t sum = 0;
  return ns_per_operation(reads, [&] {
    for (std::size_t first = 0, turn = 0; first < reads + group; first += group, turn ^= 1) {
      for (std::size_t i = 0; i < group; ++i) {
        waiting[turn][i] = line(first + i);
        prefetch_read(waiting[turn][i]);
      }
      if (first == 0) continue;
      for (std::size_t i = 0; i < group; ++i) sum += *waiting[turn ^ 1][i];
    }
    use_alone(sum);
  });
}

double line_reads::dependent_ns(std::size_t reads) const {
  const std::uint64_t lines = table_.size() / words_per_line;
  const std::uint64_t* words = table_.data();
  std::uint64_t last = 0;
  return ns_per_operation(reads, [&] {
    for (std::size_t i = 0; i < reads; ++i) last = words[reduce((last ^ i) * 0x9e3779b97f4a7c15u, lines) * words_per_line];
    use_alone(last);
  });
}

}  // namespace tamis::lab
