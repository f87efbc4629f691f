// tamis remote: one filter in many servers of a Redis or Valkey cluster that have the module.

#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <memory>

#include "command_files.hpp"
#include "commands.hpp"
#include "failure.hpp"
#include "filter_flags.hpp"
#include "interrupt.hpp"
#include "json.hpp"
#include "key_reader.hpp"
#include "numbers.hpp"
#include "output.hpp"
#include "printable.hpp"
#include "progress.hpp"
#include "remote_keys.hpp"
#include "remote_report.hpp"
#include "tamis/any_filter.hpp"
#include "terminal.hpp"

namespace tamis::cli {
namespace {

constexpr std::uint64_t most_remote_capacity = std::uint64_t{1} << 42;
constexpr std::uint64_t shard_bytes = std::uint64_t{32}
                                      << 20;  // planned; moving one of 64 MB blocks two nodes for a second or two
constexpr unsigned usual_shards = 64;

// What all of them have in common.
struct remote_command {
  std::string name;
  std::string nodes;
  std::string patience = "60";
  std::string replicas;
  created_file json;
  command_files files;

  std::unique_ptr<cluster> connect() const {
    const char* const user = std::getenv("TAMIS_REDIS_USER");
    const char* const password = std::getenv("TAMIS_REDIS_PASSWORD");
    const std::uint64_t seconds = parse_count("--patience", patience, 1, 86'400);
    return std::make_unique<cluster>(cluster_settings{.known = parse_nodes("--cluster", nodes),
                                                      .patience = std::chrono::seconds(seconds),
                                                      .user = user == nullptr ? "" : user,
                                                      .password = password == nullptr ? "" : password});
  }
  // Without --replicas: one in a cluster, none where there is a single server.
  unsigned wanted_replicas(const cluster& on) const {
    if (replicas.empty()) return on.is_cluster() ? 1 : 0;
    return static_cast<unsigned>(parse_count("--replicas", replicas, 0, 100));
  }
};
struct remote_create : remote_command {
  std::string filter;
  std::string capacity;
  std::string fpr;
  std::string shards;
  std::string mode = "set";
  std::string mistakes = "0";
  std::string family = "fast";
  seed_flag seed;
  std::vector<std::string> options;
};
struct remote_keys : remote_command {
  key_flags keys;
  bool absent = false;
  bool count_only = false;
};

// The capacity of a shard: its share, and so much more that none of them gets more keys than that but once in 10,000 filters.
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

// The filter that a command works on, and how it counts what is done.
struct remote_target {
  std::unique_ptr<cluster> on;
  remote_filter filter;
  unsigned replicas;

  explicit remote_target(const remote_command& given, bool complete = true)
      : on(given.connect()), filter(*on, given.name, complete), replicas(given.wanted_replicas(*on)) {}
};

void run_add(remote_keys& given) {
  remote_target to(given);
  key_rounds keys(given.keys);
  acknowledged_keys done(given.name, "added");
  add_tally added;
  progress bar("adding", keys.bytes_total());
  done.run([&] {
    while (keys.next()) {
      add_round(to.filter, keys.items(), to.replicas, done, added);
      bar.at(keys.bytes_done(), done.all());
    }
  });
  bar.clear();
  output out;
  if (given.files.text_wanted()) {
    out.print("{}: added {}, {} that were in already, or seemed to be\n", printable(given.name), counted(added.fresh, "key"),
              grouped(added.present));
  }
  write_json(given.json, {{"added", added.fresh}, {"present", added.present}, {"replicas", to.replicas}});
  out.flush();
}

void run_check(remote_keys& given) {
  remote_target to(given);
  key_rounds keys(given.keys);
  output out;
  const bool print = !given.count_only && given.files.text_wanted();
  progress bar("checking", keys.bytes_total(), !(print && is_terminal(STDOUT_FILENO)));
  std::uint64_t maybe = 0;
  std::uint64_t all = 0;
  while (keys.next()) {
    const std::vector<bool> found = check_round(to.filter, keys.items());
    for (std::size_t i = 0; i < found.size(); ++i) {
      maybe += found[i] ? 1 : 0;
      if (!print || found[i] == given.absent) continue;
      out.write(keys.items()[i]);
      out.write(given.keys.style.separator());
    }
    all += found.size();
    if (keys.waiting()) out.flush();
    bar.at(keys.bytes_done(), all);
  }
  bar.clear();
  if (given.count_only && given.files.text_wanted()) out.print("maybe {}\nno {}\n", maybe, all - maybe);
  write_json(given.json, {{"maybe", maybe}, {"no", all - maybe}});
  out.flush();
}

// Asks for every key, and adds those again that are missing: after a failover that may have lost some.
void run_verify(remote_keys& given) {
  remote_target to(given);
  key_rounds keys(given.keys);
  acknowledged_keys done(given.name, "verified");
  std::uint64_t missing = 0;
  progress bar("verifying", keys.bytes_total());
  done.run([&] {
    while (keys.next()) {
      done.round_of(keys.items().size());
      const std::vector<bool> found = check_round(to.filter, keys.items());
      std::vector<std::string_view> lost;
      for (std::size_t i = 0; i < found.size(); ++i) {
        if (!found[i]) lost.push_back(keys.items()[i]);
      }
      add_tally again;
      acknowledged_keys added(given.name, "added");
      if (!lost.empty()) add_round(to.filter, lost, to.replicas, added, again);
      missing += lost.size();
      done.count(found.size());
      bar.at(keys.bytes_done(), done.all());
    }
  });
  bar.clear();
  output out;
  if (given.files.text_wanted()) {
    out.print("{}: asked for {}, {} missing{}\n", printable(given.name), counted(done.all(), "key"),
              missing == 0 ? "none" : grouped(missing), missing == 0 ? "" : " and added again");
  }
  write_json(given.json, {{"asked", done.all()}, {"missing", missing}});
  out.flush();
}

void run_mistake(remote_keys& given) {
  remote_target to(given);
  key_rounds keys(given.keys);
  acknowledged_keys done(given.name, "reported");
  mistake_tally words;
  progress bar("reporting", keys.bytes_total());
  done.run([&] {
    while (keys.next()) {
      mistake_round(to.filter, keys.items(), to.replicas, done, words);
      bar.at(keys.bytes_done(), done.all());
    }
  });
  bar.clear();
  output out;
  json told;
  for (const auto& [word, count] : words) {
    if (given.files.text_wanted()) out.print("{} {}\n", word, count);
    told[word] = count;
  }
  write_json(given.json, told);
  out.flush();
}

void run_info(remote_command& given) {
  remote_target of(given);
  const remote_report report(of.filter, of.filter.info());
  if (given.files.text_wanted()) report.print();
  write_json(given.json, report.as_json());
}

void run_metrics(remote_command& given) {
  remote_target of(given);
  const remote_report report(of.filter, of.filter.info());
  output out;
  if (given.files.text_wanted()) out.write(report.metrics());
  write_json(given.json, report.as_json());
  out.flush();
}

void run_drop(remote_command& given) {
  remote_target of(given, false);
  const std::uint64_t shards = of.filter.drop(of.replicas);
  output out;
  if (given.files.text_wanted()) out.print("{}: dropped {}\n", printable(given.name), counted(shards, "shard"));
  write_json(given.json, {{"dropped_shards", shards}});
  out.flush();
}

// `own` adds a command's own flags.
template <class Command, class Own>
void add_remote_command(CLI::App& remote, const char* name, const char* summary, const std::string& footer,
                        void (*run)(Command&), bool writes, Own own) {
  auto given = std::make_shared<Command>();
  CLI::App* command = remote.add_subcommand(name, summary);
  command->add_option("NAME", given->name, "the filter: its shards are keys NAME:{number}")->type_name("NAME")->required();
  command->add_option("--cluster", given->nodes, "any node of the cluster, or several: it tells the others")
      ->type_name("HOST:PORT,...")
      ->required();
  own(*command, *given);
  if (writes) {
    command
        ->add_option("--replicas", given->replicas,
                     "what is added counts once so many replicas have it (default: 1 in a cluster, 0 with a single server)")
        ->type_name("N");
  }
  command->add_option("--patience", given->patience, "give up after so long without any success (default: 60)")
      ->type_name("SECONDS");
  given->files.creates_json(*command, given->json);
  command->footer(footer);
  given->files.run(*command, [given, run] { run(*given); });
}

void reads_keys(CLI::App& command, remote_keys& given) { given.keys.add_to(command, given.files); }
void reads_nothing(CLI::App&, remote_command&) {}

void add_create_command(CLI::App& remote) {
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
        command.add_option("--filter", given.filter, "which filter, see `tamis filters`")->type_name("ID")->required();
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

std::string example(const char* name, const char* rest = "") {
  return std::string("Example:\n  ") + rest + "tamis remote " + name + " seen --cluster 127.0.0.1:7000";
}

void add_keys_commands(CLI::App& remote) {
  const std::string keys_help = std::string(key_help) + "\n\n";
  add_remote_command<remote_keys>(remote, "add", "insert keys",
                                  keys_help +
                                      "If a node fails for good, it is said how many keys are in for certain. To add a\n"
                                      "key again does no harm in mode set; in mode multi it takes room again.\n\n" +
                                      example("add", "seq 1 1000 | "),
                                  run_add, true, reads_keys);
  add_remote_command<remote_keys>(
      remote, "check", "print the keys that may be in", keys_help + example("check", "seq 990 1010 | "), run_check, false,
      [](CLI::App& command, remote_keys& given) {
        reads_keys(command, given);
        command.add_flag("-v,--absent", given.absent, "print the keys that are certainly not in, instead");
        command.add_flag("-c,--count", given.count_only, "print how many there are of both, and no keys");
      });
  add_remote_command<remote_keys>(
      remote, "verify", "ask for every key, and add missing ones again",
      keys_help + "For after a failover, which may lose what no replica had.\n\n" + example("verify", "seq 1 1000 | "),
      run_verify, true, reads_keys);
  add_remote_command<remote_keys>(remote, "mistake", "report keys that the database has not",
                                  keys_help +
                                      "Keys that `check` has printed, and that the database, asked within the grace\n"
                                      "time (tamis.adapt-grace-ms), does not have. It prints how many were fixed, were\n"
                                      "negative already, came too soon after an add (recent), and so on. Needs\n"
                                      "--mistakes, or a filter that adapts in mode multi.\n\n" +
                                      example("mistake", "seq 2000 2100 | "),
                                  run_mistake, true, reads_keys);
}

}  // namespace

void add_remote(CLI::App& tool) {
  CLI::App* remote = tool.add_subcommand("remote", "one filter in many servers of a Redis or Valkey cluster");
  remote->require_subcommand(1);
  remote->footer(
      "The servers need the module tamis.so; `./run redis-cluster` makes a cluster to\n"
      "try. Every command takes --json FILE|-. A password is given in the environment\n"
      "variable TAMIS_REDIS_PASSWORD, and a user in TAMIS_REDIS_USER.\n\n"
      "Example:\n"
      "  tamis remote add --help");
  add_create_command(*remote);
  add_keys_commands(*remote);
  add_remote_command<remote_command>(*remote, "info", "describe a filter and where it is", example("info"), run_info, false,
                                     reads_nothing);
  add_remote_command<remote_command>(*remote, "metrics", "the same as text for Prometheus", example("metrics"), run_metrics,
                                     false, reads_nothing);
  add_remote_command<remote_command>(*remote, "drop", "delete a filter and all of its shards", example("drop"), run_drop, true,
                                     reads_nothing);
}

}  // namespace tamis::cli
