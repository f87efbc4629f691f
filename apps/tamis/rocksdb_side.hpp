#pragma once

// Members of a replay in RocksDB: once without a filter, behind ours, and once with RocksDB's own Bloom filter. DIR holds
// `plain` and `bloom`; members that are there already are not loaded again.

#include <memory>
#include <span>
#include <string>

#include "slow_side.hpp"

namespace tamis::cli {

// Stops the command with a message if the directory holds something else.
std::unique_ptr<slow_side> open_rocksdb_side(const std::string& directory, std::span<const digest> members);
std::shared_ptr<filtering_side> open_rocksdb_bloom(const std::string& directory, std::span<const digest> members,
                                                   double bits_per_key);

}  // namespace tamis::cli
