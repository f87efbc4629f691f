#pragma once

// What the commands of `tamis remote` have in common.

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "command_files.hpp"
#include "remote_cluster.hpp"

namespace tamis::cli {

struct remote_command {
  std::string name;
  std::string nodes;
  std::string patience = "60";
  std::string replicas;
  created_file json;
  command_files files;

  std::unique_ptr<cluster> connect() const;
  // Without --replicas: one in a cluster, none where there is a single server.
  unsigned wanted_replicas(const cluster& on) const;
  void add_name(CLI::App& command);
  void add_flags(CLI::App& command, bool writes);
};

// `own` adds a command's own flags.
template <class Command, class Own>
void add_remote_command(CLI::App& remote, const char* name, const char* summary, const std::string& footer,
                        void (*run)(Command&), bool writes, Own own) {
  auto given = std::make_shared<Command>();
  CLI::App* command = remote.add_subcommand(name, summary);
  given->add_name(*command);
  own(*command, *given);
  given->add_flags(*command, writes);
  given->files.creates_json(*command, given->json);
  command->footer(footer);
  given->files.run(*command, [given, run] { run(*given); });
}

void add_remote_create(CLI::App& remote);

}  // namespace tamis::cli
