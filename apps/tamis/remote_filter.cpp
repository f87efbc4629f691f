#include "remote_filter.hpp"

#include <hiredis/hiredis.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "failure.hpp"
#include "numbers.hpp"
#include "remote_link.hpp"
#include "remote_words.hpp"

namespace tamis::cli {
namespace {

constexpr std::size_t items_per_command = 1000;  // a node answers others in between
constexpr const char* description_version = "1";

node_request request_to(unsigned slot, const std::string& key, std::span<const std::string_view> words) {
  return {slot, pack(words), key};
}

using string_map = std::map<std::string, std::string, std::less<>>;

string_map pairs_of(const redisReply& reply) {
  string_map pairs;
  if (reply.type != REDIS_REPLY_ARRAY) return pairs;
  for (std::size_t i = 0; i + 1 < reply.elements; i += 2) {
    const redisReply& value = *reply.element[i + 1];
    pairs[std::string(text_of(*reply.element[i]))] =
        value.type == REDIS_REPLY_INTEGER ? std::to_string(value.integer) : std::string(text_of(value));
  }
  return pairs;
}

std::uint64_t number_of(const string_map& fields, std::string_view name) {
  const auto at = fields.find(name);
  std::uint64_t number = 0;
  if (at != fields.end()) std::from_chars(at->second.data(), at->second.data() + at->second.size(), number);
  return number;
}

std::string text_in(const string_map& fields, std::string_view name) {
  const auto at = fields.find(name);
  return at == fields.end() ? "" : at->second;
}

remote_description described_by(const std::string& name, const string_map& fields) {
  if (fields.empty()) fail(name, "there is no such filter (`tamis remote create` makes one)");
  if (text_in(fields, "version").empty()) return {};  // whoever began to make it has not come further
  if (const std::string version = text_in(fields, "version"); version != description_version)
    fail(name, "its description has version '" + version + "', this tamis reads version " + description_version);
  remote_description read{.shards = 0,
                          .filter = text_in(fields, "filter"),
                          .rate = text_in(fields, "rate"),
                          .capacity = number_of(fields, "capacity"),
                          .mode = text_in(fields, "mode"),
                          .mistakes = number_of(fields, "mistakes"),
                          .hash = text_in(fields, "hash"),
                          .ready = text_in(fields, "state") == "ready"};
  const std::uint64_t shards = number_of(fields, "shards");
  if (shards == 0 || shards > most_shards) fail(name, "its description is damaged: it has " + counted(shards, "shard"));
  read.shards = static_cast<unsigned>(shards);
  return read;
}

remote_description read_description(cluster& on, const std::string& name) {
  check_remote_name(name);
  const std::string key = meta_key(name);
  string_map fields;
  const std::array requests{request_to(slot_of(key), key, std::array<std::string_view, 2>{"HGETALL", key})};
  on.run(requests, 0, [&](std::size_t, const redisReply& reply, const node_address&) { fields = pairs_of(reply); });
  return described_by(name, fields);
}

void run_words(cluster& on, const std::string& key, const std::vector<std::string_view>& words, unsigned replicas) {
  const std::array requests{request_to(slot_of(key), key, words)};
  on.run(requests, replicas, [](std::size_t, const redisReply&, const node_address&) {});
}

// One command with the key of each shard, to all of them at once.
std::vector<node_request> to_all_shards(const shard_places& places, const std::vector<std::string_view>& before,
                                        const std::vector<std::string>& behind) {
  std::vector<node_request> requests;
  for (unsigned s = 0; s < places.count(); ++s) {
    std::vector<std::string_view> words(before);
    words.emplace_back(places.key(s));
    words.insert(words.end(), behind.begin(), behind.end());
    requests.push_back(request_to(places.slot(s), places.key(s), words));
  }
  return requests;
}

std::uint64_t unlink_shards(cluster& on, const shard_places& places, unsigned replicas) {
  std::uint64_t gone = 0;
  on.run(to_all_shards(places, {"UNLINK"}, {}), replicas,
         [&](std::size_t, const redisReply& reply, const node_address&) { gone += reply.integer > 0 ? 1 : 0; });
  return gone;
}

}  // namespace

std::uint64_t shard_info::number(std::string_view name) const { return number_of(fields, name); }
double shard_info::real(std::string_view name) const { return std::strtod(text_in(fields, name).c_str(), nullptr); }

void check_remote_name(const std::string& name) {
  const bool odd = std::any_of(name.begin(), name.end(), [](char c) {
    return c == '{' || c == '}' || static_cast<unsigned char>(c) <= ' ' || c == '\x7f';
  });
  if (name.empty() || name.size() > 200 || odd) fail("NAME '" + name + "'", "must be 1 to 200 bytes without spaces or braces");
}

remote_filter::remote_filter(cluster& on, std::string name, bool complete)
    : cluster_(on), name_(std::move(name)), description_(read_description(on, name_)), places_(name_, description_.shards) {
  if (complete && !description_.ready)
    fail(name_, "it was never made to the end: `tamis remote drop` takes away what there is");
}

void remote_filter::ask(std::string_view command, std::span<const std::string_view> items, unsigned replicas,
                        const take_answer& answer) {
  std::vector<std::vector<std::size_t>> by_shard(places_.count());
  for (std::size_t i = 0; i < items.size(); ++i) by_shard[shard_of(items[i], places_.count())].push_back(i);
  std::vector<node_request> requests;
  std::vector<std::span<const std::size_t>> numbers;  // of the items of each request
  for (unsigned s = 0; s < places_.count(); ++s) {
    for (std::size_t first = 0; first < by_shard[s].size(); first += items_per_command) {
      const auto some = std::span<const std::size_t>(by_shard[s])
                            .subspan(first)
                            .first(std::min(items_per_command, by_shard[s].size() - first));
      std::vector<std::string_view> words{command, places_.key(s)};
      for (const std::size_t i : some) words.push_back(items[i]);
      requests.push_back(request_to(places_.slot(s), places_.key(s), words));
      numbers.push_back(some);
    }
  }
  cluster_.run(requests, replicas, [&](std::size_t request, const redisReply& reply, const node_address& from) {
    // A reply ends with the first item that is refused.
    const std::size_t answers = reply.type == REDIS_REPLY_ARRAY ? std::min(reply.elements, numbers[request].size()) : 0;
    for (std::size_t i = 0; i < answers; ++i) answer(numbers[request][i], *reply.element[i], from);
    if (answers == 0) fail(from.text(), requests[request].key + ": an answer that is no list");
  });
}

std::vector<shard_info> remote_filter::info() {
  std::vector<shard_info> all(places_.count());
  cluster_.run(to_all_shards(places_, {"TAMIS.INFO"}, {}), 0,
               [&](std::size_t shard, const redisReply& reply, const node_address& from) {
                 all[shard] = {from, pairs_of(reply)};
               });
  return all;
}

std::uint64_t remote_filter::drop(unsigned replicas) {
  const std::string key = meta_key(name_);
  run_words(cluster_, key, {"HSET", key, "state", "going"}, replicas);  // nobody uses what is left, if this stops
  const std::uint64_t gone = unlink_shards(cluster_, places_, replicas);
  run_words(cluster_, key, {"UNLINK", key}, replicas);
  return gone;
}

namespace {

using field_list = std::vector<std::pair<std::string, std::string>>;

// Takes the name, unless somebody has it. A reply that was lost is told from somebody else's filter by the token.
void take_name(cluster& on, const std::string& name) {
  const std::string key = meta_key(name);
  std::array<unsigned char, 8> random{};
  if (::getentropy(random.data(), random.size()) != 0) fail(name, "the system has no random numbers");
  std::string token;
  for (const unsigned char byte : random) token += std::to_string(byte) + '.';
  std::string holder;
  run_words(on, key, {"HSETNX", key, "maker", token}, 0);
  const std::array asked{request_to(slot_of(key), key, std::array<std::string_view, 3>{"HGET", key, "maker"})};
  on.run(asked, 0, [&](std::size_t, const redisReply& reply, const node_address&) { holder = text_of(reply); });
  if (holder != token) fail(name, "there is a filter of that name already (`tamis remote drop` takes it away)");
}

// The name is ours; are those of the shards free?
void check_free(cluster& on, const shard_places& places) {
  on.run(to_all_shards(places, {"EXISTS"}, {}), 0, [&](std::size_t shard, const redisReply& reply, const node_address& from) {
    if (reply.integer != 0) fail(from.text(), places.key(static_cast<unsigned>(shard)) + ": there is such a key already");
  });
}

void make_shards(cluster& on, const shard_places& places, const std::vector<std::string>& reserve, unsigned replicas) {
  std::vector<node_request> requests = to_all_shards(places, {"TAMIS.RESERVE"}, reserve);
  for (node_request& one : requests) one.repeated = "ERR item exists";
  on.run(requests, replicas, [](std::size_t, const redisReply&, const node_address&) {});
}

field_list fields_of(const remote_description& described) {
  return {{"version", description_version},
          {"shards", std::to_string(described.shards)},
          {"filter", described.filter},
          {"rate", described.rate},
          {"capacity", std::to_string(described.capacity)},
          {"mode", described.mode},
          {"mistakes", std::to_string(described.mistakes)},
          {"hash", described.hash},
          {"state", "making"}};
}

}  // namespace

void create_remote(cluster& on, const std::string& name, const remote_description& described, const field_list& more_fields,
                   const std::vector<std::string>& reserve, unsigned replicas) {
  check_remote_name(name);
  const std::string key = meta_key(name);
  const shard_places places(name, described.shards);
  take_name(on, name);
  bool made_shards = false;
  try {
    check_free(on, places);
    field_list fields = fields_of(described);
    fields.insert(fields.end(), more_fields.begin(), more_fields.end());
    std::vector<std::string_view> words{"HSET", key};
    for (const auto& [field, text] : fields) words.insert(words.end(), {field, text});
    run_words(on, key, words, replicas);
    made_shards = true;
    make_shards(on, places, reserve, replicas);
    run_words(on, key, {"HSET", key, "state", "ready"}, replicas);
  } catch (const command_failure& why) {
    try {
      if (made_shards) unlink_shards(on, places, 0);
      run_words(on, key, {"UNLINK", key}, 0);
    } catch (const command_failure& left) {
      throw command_failure(std::string(why.what()) + "; what was made of it is still there (" + left.what() +
                            "): `tamis remote drop` takes it away");
    }
    throw;
  }
}

}  // namespace tamis::cli
