// tamis remote: one filter in many servers of a Redis or Valkey cluster that have the module.

#include <unistd.h>

#include <memory>

#include "commands.hpp"
#include "json.hpp"
#include "key_reader.hpp"
#include "numbers.hpp"
#include "output.hpp"
#include "printable.hpp"
#include "progress.hpp"
#include "remote_command.hpp"
#include "remote_keys.hpp"
#include "remote_report.hpp"
#include "terminal.hpp"

namespace tamis::cli {
namespace {

struct remote_keys : remote_command {
  key_flags keys;
  bool absent = false;
  bool count_only = false;
};

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

void reads_keys(CLI::App& command, remote_keys& given) { given.keys.add_to(command, given.files); }
void reads_nothing(CLI::App&, remote_command&) {}

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
  CLI::App* remote = tool.add_subcommand("remote", "one filter over many servers of Redis or Valkey");
  remote->require_subcommand(1);
  remote->footer(
      "The servers need the module tamis.so; `./run redis-cluster` makes a cluster to\n"
      "try. Every command takes --json FILE|-. A password is given in the environment\n"
      "variable TAMIS_REDIS_PASSWORD, and a user in TAMIS_REDIS_USER.\n\n"
      "Example:\n"
      "  tamis remote add --help");
  add_remote_create(*remote);
  add_keys_commands(*remote);
  add_remote_command<remote_command>(*remote, "info", "describe a filter and where it is", example("info"), run_info, false,
                                     reads_nothing);
  add_remote_command<remote_command>(*remote, "metrics", "the same as text for Prometheus", example("metrics"), run_metrics,
                                     false, reads_nothing);
  add_remote_command<remote_command>(*remote, "drop", "delete a filter and all of its shards", example("drop"), run_drop, true,
                                     reads_nothing);
}

}  // namespace tamis::cli
