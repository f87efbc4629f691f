#pragma once

// Stores that are restarted again and again, each life with options, work and an end of its own, as the crash test of RocksDB
// does it. Every number comes from the seed of the store.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "harness.hpp"
#include "tamis/detail/base/random.hpp"

namespace tamis::crash {

struct life_count {
  std::uint64_t disturbed = 0;
  std::uint64_t undisturbed = 0;  // ended before the operation or the moment came
  std::uint64_t wrong = 0;

  life_count& operator+=(const life_count& more);
};

// How lives end.
inline constexpr std::string_view endings[] = {
    "kill at any moment", "kill", "half a write, then kill", "power cut", "power cut, ragged", "EIO", "ENOSPC", "short write"};

// A running total that a file keeps: one line per ending, and the number of the next store.
class life_totals {
 public:
  // Without a file that is there: nothing yet. A line that is none of ours throws.
  static life_totals from(const std::string& file);
  // The old file stays until the new one is whole.
  void keep(const std::string& file) const;

  std::array<life_count, std::size(endings)> of{};
  std::uint64_t stores = 0;

  life_count all() const;
  std::string text() const;
};

// One store, from its making on.
class lived_store {
 public:
  // `skipped_steps`: of the protocol, to see that this is noticed.
  lived_store(const std::string& root, std::uint64_t seed, std::uint32_t skipped_steps = 0);

  struct life {
    std::size_t ending = 0;  // of `endings`
    life_count count;
    std::string problem;  // nothing: all is well
    std::string about;    // options and disturbance, enough to do it again
  };
  life next();

 private:
  settings draw_filter(settings given);
  settings draw_options(settings given);
  disturbance draw_end(std::size_t ending, std::size_t steps);

  std::uint64_t seed_;
  std::uint64_t lives_ = 0;
  detail::random_source random_;
  site site_;
};

}  // namespace tamis::crash
