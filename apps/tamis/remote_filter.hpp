#pragma once

// One filter over many nodes: its description, its shards, and batches of items that go to them (remote_shards.hpp).

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "remote_cluster.hpp"
#include "remote_shards.hpp"

namespace tamis::cli {

// What {NAME}:meta says.
struct remote_description {
  unsigned shards = 0;
  std::string filter;
  std::string rate;
  std::uint64_t capacity = 0;
  std::string mode;  // SET or MULTI
  std::uint64_t mistakes = 0;
  std::string hash;  // fast or keyed
  bool ready = false;
};

// What TAMIS.INFO says of one shard: names and texts.
struct shard_info {
  node_address node;
  std::map<std::string, std::string, std::less<>> fields;

  std::uint64_t number(std::string_view name) const;
  double real(std::string_view name) const;
};

class remote_filter {
 public:
  // Reads the description. Fails if there is none, or, where only a complete filter will do, if it was not made to the end.
  remote_filter(cluster& on, std::string name, bool complete = true);

  const std::string& name() const { return name_; }
  const remote_description& description() const { return description_; }
  const shard_places& places() const { return places_; }

  // Asks `command` of all items, each of the shard that it belongs to; `answer` is told the item's number and its element of
  // the reply. Writes count once `replicas` replicas have them.
  using take_answer = std::function<void(std::size_t item, const redisReply& element, const node_address& from)>;
  void ask(std::string_view command, std::span<const std::string_view> items, unsigned replicas, const take_answer& answer);

  std::vector<shard_info> info();  // by shard
  // Deletes all shards, then the description; answers how many shards there were.
  std::uint64_t drop(unsigned replicas);

 private:
  cluster& cluster_;
  std::string name_;
  remote_description description_;
  shard_places places_;
};

// Makes description and shards, in the order that lets nobody use a filter of which a part is missing. What was made is taken
// back if a shard cannot be made.  `reserve`: the words of TAMIS.RESERVE behind the key.
void create_remote(cluster& on, const std::string& name, const remote_description& described,
                   const std::vector<std::pair<std::string, std::string>>& more_fields, const std::vector<std::string>& reserve,
                   unsigned replicas);

// Fails if no filter can have that name.
void check_remote_name(const std::string& name);

}  // namespace tamis::cli
