// tamis remote create: a filter of many shards, and its description.

#include <cmath>
#include <memory>

#include "failure.hpp"
#include "filter_flags.hpp"
#include "json.hpp"
#include "numbers.hpp"
#include "output.hpp"
#include "printable.hpp"
#include "remote_command.hpp"
#include "remote_filter.hpp"
#include "tamis/any_filter.hpp"

namespace tamis::cli {
namespace {

constexpr std::uint64_t most_remote_capacity = std::uint64_t{1} << 42;
// That is planned for one: while a shard of 64 MB moves, two nodes answer nobody for a second or two.
constexpr std::uint64_t shard_bytes = std::uint64_t{32} << 20;
constexpr unsigned usual_shards = 64;

struct remote_create : remote_command {
  std::string filter = "evergreen";
  std::string capacity;
  std::string fpr;
  std::string shards;
  std::string mode = "set";
  std::string mistakes = "0";
  std::string family = "fast";
  seed_flag seed;
  std::vector<std::string> options;
};

// The capacity of a shard: its share and six standard deviations of what chance adds to it, so that hardly any filter has a
// shard with more keys.
std::uint64_t share_of(std::uint64_t capacity, unsigned shards) {
  if (shards == 1) return capacity;
  const double mean = static_cast<double>(capacity) / shards;
  return static_cast<std::uint64_t>(std::ceil(mean + 6 * std::sqrt(mean) + 6));
}

// What a filter of the share takes by itself; one that grows may have twice of that for a time.
std::uint64_t bytes_of_share(const remote_create& given, const filter_params& params, std::uint64_t share) {
  constexpr std::uint64_t sample = 1 << 20;
  filter_params small = params;
  small.capacity = std::min(share, sample);
  const any_filter made = must(given.filter, any_filter::create(given.filter, small));
  return static_cast<std::uint64_t>(static_cast<double>(made.bits().fast) / 8 * static_cast<double>(share) /
                                    static_cast<double>(small.capacity));
}

unsigned choose_shards(const remote_create& given, const filter_params& params) {
  if (!given.shards.empty()) {
    const auto shards = static_cast<unsigned>(parse_count("--shards", given.shards, 1, most_shards));
    if ((shards & (shards - 1)) != 0) fail("--shards " + given.shards, "must be a power of two");
    return shards;
  }
  unsigned shards = usual_shards;
  while (shards < most_shards && bytes_of_share(given, params, share_of(params.capacity, shards)) > shard_bytes) shards *= 2;
  return shards;
}

// The seed of a fast hash is one for all shards, so that somebody can make the same filters elsewhere. The secret of a keyed
// one is drawn by each node and kept with the shard.
void add_hash(const remote_create& given, std::vector<std::string>& reserve,
              std::vector<std::pair<std::string, std::string>>& fields) {
  if (given.family == "keyed") {
    if (!given.seed.text.empty()) fail("--seed", "with --hash keyed each node draws a secret for its shards");
    reserve.emplace_back("KEYED");
    return;
  }
  if (given.family != "fast") fail("--hash '" + given.family + "'", "must be fast or keyed");
  seed_flag seed = given.seed;
  if (seed.is_random()) seed.draw(hash_family::fast);
  must("--seed", seed.make(hash_family::fast));
  const std::string text = seed.text.empty() ? "0" : seed.text;
  reserve.insert(reserve.end(), {"SEED", text});
  fields.emplace_back("seed", text);
}

void run_create(remote_create& given) {
  must(registry::builtin().find(given.filter));
  check_remote_name(given.name);
  filter_params params{.capacity = parse_count("--capacity", given.capacity, 1, most_remote_capacity),
                       .fpr = parse_real("--fpr", given.fpr, 0, 1),
                       .options = parse_options(given.options)};
  if (given.mode != "set" && given.mode != "multi") fail("--mode '" + given.mode + "'", "must be set or multi");
  const unsigned shards = choose_shards(given, params);
  const std::uint64_t mistakes = parse_count("--mistakes", given.mistakes, 0, most_remote_capacity);
  const std::uint64_t share = share_of(params.capacity, shards);
  const remote_description described{.shards = shards,
                                     .filter = given.filter,
                                     .rate = given.fpr,
                                     .capacity = params.capacity,
                                     .mode = given.mode == "set" ? "SET" : "MULTI",
                                     .mistakes = mistakes,
                                     .hash = given.family,
                                     .ready = true};
  std::vector<std::string> reserve{given.filter, fmt::format("{}", *params.fpr), std::to_string(share), "MODE", described.mode};
  if (mistakes != 0) reserve.insert(reserve.end(), {"MISTAKES", std::to_string((mistakes + shards - 1) / shards)});
  for (const auto& [name, text] : params.options) reserve.insert(reserve.end(), {"OPT", name, text});
  std::vector<std::pair<std::string, std::string>> fields;
  add_hash(given, reserve, fields);

  const std::unique_ptr<cluster> on = given.connect();
  on->connect();
  create_remote(*on, given.name, described, fields, reserve, given.wanted_replicas(*on));
  output out;
  if (given.files.text_wanted()) {
    out.print("{}: {} filter for {} in {} of {} each\n", printable(given.name), given.filter, counted(params.capacity, "key"),
              counted(shards, "shard"), counted(share, "key"));
  }
  write_json(given.json, {{"name", given.name},
                          {"filter", given.filter},
                          {"capacity", params.capacity},
                          {"shards", shards},
                          {"shard_capacity", share}});
  out.flush();
}

}  // namespace

void add_remote_create(CLI::App& remote) {
  add_remote_command<remote_create>(
      remote, "create", "make a filter over the nodes of a cluster",
      std::string("How many shards there are is for ever. They should be far more than nodes, since\n"
                  "whole shards move, and of at most 64 MB, since a node answers nobody while it\n"
                  "moves one.\n\n") +
          count_help +
          "\n\nExample:\n"
          "  tamis remote create seen --cluster 127.0.0.1:7000 --filter evergreen \\\n"
          "    --capacity 1M --fpr 0.01",
      run_create, true, [](CLI::App& command, remote_create& given) {
        command.add_option("--filter", given.filter, "which filter, see `tamis filters` (default: evergreen)")->type_name("ID");
        command.add_option("--capacity", given.capacity, "number of keys that it is made for")->type_name("N")->required();
        command.add_option("--fpr", given.fpr, "false-positive rate to keep, above 0 and below 1")
            ->type_name("RATE")
            ->required();
        command
            .add_option("--shards", given.shards,
                        "a power of two up to 4096 (default: 64, or more so that none takes over 32 MiB)")
            ->type_name("N");
        command.add_option("--mode", given.mode, "set: a key that seems to be in is not added; multi: it is (default: set)")
            ->type_name("set|multi");
        command.add_option("--mistakes", given.mistakes, "known mistakes to remember, in all shards together (default: 0)")
            ->type_name("N");
        command.add_option("--hash", given.family, "fast, or keyed for keys that an adversary may choose (default: fast)")
            ->type_name("fast|keyed");
        given.seed.add_to(command, "of the fast hash: up to 16 digits (default: 0), or random")->type_name("HEX|random");
        command.add_option("--option", given.options, "option of the filter, see `tamis filters`; may be given several times")
            ->type_name("NAME=VALUE")
            ->allow_extra_args(false);
      });
}

}  // namespace tamis::cli
