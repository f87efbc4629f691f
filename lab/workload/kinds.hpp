#pragma once

// One line per workload: what the registry in lab/workload.cpp knows about it. Each is defined in the file of its name.

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/workload.hpp"
#include "tamis/result.hpp"

namespace tamis::lab {

// The options of one workload after parsing: every option has a value within its range.
class option_values {
 public:
  explicit option_values(std::span<const option_info> options);

  static result<option_values> parse(const workload_info& info, workload_options given);

  double real(std::string_view name) const;
  std::uint64_t whole(std::string_view name) const { return static_cast<std::uint64_t>(real(name)); }

 private:
  std::size_t index(std::string_view name) const;  // options_.size() if there is none

  std::span<const option_info> options_;
  std::vector<double> values_;
};

using made_workload = result<std::unique_ptr<workload>>;

struct workload_kind {
  workload_info info;
  made_workload (*make)(const option_values& options, std::uint64_t seed);
};

template <class Kind, class... Args>
made_workload made(Args&&... args) {
  return std::unique_ptr<workload>(std::make_unique<Kind>(std::forward<Args>(args)...));
}

extern const workload_kind firehose_activeset_kind;  // active_set.cpp
extern const workload_kind firehose_powerlaw_kind;   // ranked.cpp
extern const workload_kind packets_kind;             // packets.cpp
extern const workload_kind uniform_kind;             // uniform.cpp
extern const workload_kind uniform_repeats_kind;     // uniform.cpp
extern const workload_kind zipf_kind;                // ranked.cpp

}  // namespace tamis::lab
