#pragma once

// Where a replay's members and queries come from: two files of keys, or a workload made on the spot.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "key_reader.hpp"
#include "tamis/digest.hpp"
#include "tamis/hasher.hpp"

namespace tamis::cli {

class replay_source {
 public:
  virtual ~replay_source() = default;

  virtual std::string description() const = 0;
  // Every member in the order of its source, repeated ones repeated. Called once, before the queries.
  virtual std::vector<digest> members() = 0;
  // Replaces `queries` by the next ones of the log; none at its end.
  virtual void next_queries(std::vector<digest>& queries) = 0;
  // How much of the log is done, in the unit of `total`.
  virtual std::uint64_t done() const = 0;
  virtual std::optional<std::uint64_t> total() const = 0;
};

struct built_in_workload {
  std::uint64_t keys;
  std::uint64_t queries;
  std::uint64_t seed;
  double member_share;  // of the queries that ask for a member
};

std::unique_ptr<replay_source> replay_of_files(const std::string& members, const std::string& queries, const key_style& style,
                                               const hasher& hash);
std::unique_ptr<replay_source> replay_of(const built_in_workload& workload, const hasher& hash);

}  // namespace tamis::cli
