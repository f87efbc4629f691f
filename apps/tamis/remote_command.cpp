#include "remote_command.hpp"

#include <chrono>
#include <cstdlib>

#include "numbers.hpp"
#include "remote_words.hpp"

namespace tamis::cli {

std::unique_ptr<cluster> remote_command::connect() const {
  const char* const user = std::getenv("TAMIS_REDIS_USER");
  const char* const password = std::getenv("TAMIS_REDIS_PASSWORD");
  const std::uint64_t seconds = parse_count("--patience", patience, 1, 86'400);
  return std::make_unique<cluster>(cluster_settings{.known = parse_nodes("--cluster", nodes),
                                                    .patience = std::chrono::seconds(seconds),
                                                    .user = user == nullptr ? "" : user,
                                                    .password = password == nullptr ? "" : password});
}

unsigned remote_command::wanted_replicas(const cluster& on) const {
  if (replicas.empty()) return on.is_cluster() ? 1 : 0;
  return static_cast<unsigned>(parse_count("--replicas", replicas, 0, 100));
}

void remote_command::add_name(CLI::App& command) {
  command.add_option("NAME", name, "the filter: its shards are keys NAME:{number}")->type_name("NAME")->required();
  command.add_option("--cluster", nodes, "any node of the cluster, or several: it tells the others")
      ->type_name("HOST:PORT,...")
      ->required();
}

void remote_command::add_flags(CLI::App& command, bool writes) {
  if (writes) {
    command
        .add_option("--replicas", replicas,
                    "what is added counts once so many replicas have it (default: 1 in a cluster, 0 with a single server)")
        ->type_name("N");
  }
  command.add_option("--patience", patience, "give up after so long without any success (default: 60)")->type_name("SECONDS");
}

}  // namespace tamis::cli
