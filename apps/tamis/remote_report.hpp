#pragma once

// What `tamis remote info` and `metrics` say of a filter over many nodes.

#include <map>
#include <string>
#include <vector>

#include "json.hpp"
#include "remote_filter.hpp"

namespace tamis::cli {

// The sums over some shards.
struct shard_sums {
  std::uint64_t shards = 0;
  std::uint64_t keys = 0;
  std::uint64_t capacity = 0;
  std::uint64_t bytes = 0;
  std::uint64_t largest = 0;  // bytes of one shard
  std::uint64_t checks = 0;
  std::uint64_t maybes = 0;
  std::uint64_t reports = 0;
  std::uint64_t refused = 0;
  std::uint64_t mistakes = 0;
  double rate = 0;  // expected, the mean of the shards: an item meets one of them

  void add(const shard_info& one);
};

struct remote_report {
  remote_description described;
  std::string name;
  shard_sums all;
  std::map<node_address, shard_sums> by_node;

  remote_report(const remote_filter& filter, const std::vector<shard_info>& shards);
  json as_json() const;
  void print() const;
  // The text format of Prometheus.
  std::string metrics() const;
};

}  // namespace tamis::cli
