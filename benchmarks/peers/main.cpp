// Published filters, as their authors wrote them, beside ours in one program. README.md says where their files go.
//
//   tamis_peers [--group=cuckoo|quotient|adaptive|taf] [--slots=20] [--rounds=27] [--fills=3] [--pages=huge|small]
//
// --slots is the logarithm of a table's size. --pages=small gives others' tables the pages that malloc gives. Without --rounds
// and --fills, tables from 2^23 slots on get five rounds of lookups and one fill.

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "benchmarks/peers/contest.hpp"
#include "benchmarks/peers/huge_memory.hpp"
#include "lab/measure.hpp"

namespace tamis::benchmarks {
namespace {

struct settings {
  std::string group;  // empty: all of them
  unsigned slots = 20;
  unsigned rounds = 0;
  unsigned fills = 0;
  bool small_pages = false;  // of others' tables
};

settings settings_of(int argc, char** argv) {
  settings s;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    const std::size_t equal = flag.find('=');
    const std::string_view name = flag.substr(0, equal);
    const char* const value = equal == flag.npos ? "" : argv[i] + equal + 1;
    const auto number = static_cast<unsigned>(std::strtoul(value, nullptr, 10));
    if (name == "--group") {
      s.group = value;
    } else if (name == "--slots" && 12 <= number && number <= 30) {
      s.slots = number;
    } else if (name == "--rounds" && number > 0) {
      s.rounds = number;
    } else if (name == "--fills" && number > 0) {
      s.fills = number;
    } else if (flag == "--pages=small") {
      s.small_pages = true;
    } else if (flag != "--pages=huge") {
      throw std::runtime_error("what is " + std::string(flag) + "?");
    }
  }
  if (s.fills == 0) s.fills = s.slots < 23 ? 3 : 1;
  if (s.rounds == 0) s.rounds = s.slots < 23 ? 27 : 5;
  return s;
}

void print_cell(const standing& mine, const standing* peer, const char* operation) {
  const auto ns = mine.ns.find(operation);
  if (ns == mine.ns.end()) {
    std::printf("%10s%8s", "-", "");
  } else if (peer == nullptr || !peer->ns.contains(operation)) {
    std::printf("%10.1f%8s", ns->second, "");
  } else {
    std::printf("%10.1f (%5.*f)", ns->second, peer->ns.at(operation) / ns->second < 10 ? 2 : 1,
                peer->ns.at(operation) / ns->second);
  }
}

void print_table(const group& g, const settings& s, const std::vector<standing>& all) {
  std::printf("\n%s, 2^%u slots, load %.2f: ns, in brackets the peer's time over ours\n%-40s", g.name.c_str(), s.slots, g.load,
              "");
  for (const char* operation : operations) std::printf("%13s%5s", operation, "");
  std::printf("%9s%9s\n", "bits/key", "rate");
  for (std::size_t i = 0; i < all.size(); ++i) {
    const standing* peer = nullptr;
    for (std::size_t j = 0; j < all.size(); ++j) {
      if (g.entrants[j].name == g.entrants[i].peer) peer = &all[j];
    }
    std::printf("%-40s", g.entrants[i].name.c_str());
    for (const char* operation : operations) print_cell(all[i], peer, operation);
    std::printf("%9.2f", all[i].bits_per_key);
    if (all[i].fpr < 1) std::printf("%8.3f%%", all[i].fpr * 100);
    std::printf("\n");
    if (all[i].failures > 0) {
      std::printf("  (%llu of its erases and, in churn, inserts failed)\n", static_cast<unsigned long long>(all[i].failures));
    }
  }
  std::fflush(stdout);
}

int run(const settings& s) {
  if (s.small_pages) setenv(small_pages, "1", 1);
  const lab::machine_info machine = lab::this_machine();
  std::printf("%s; ours for %s; %u fills and drains, %u rounds of lookups%s\n", machine.cpu.c_str(), TAMIS_PEERS_LEVEL, s.fills,
              s.rounds, s.small_pages ? "; others' tables in small pages" : "");
  bool found = false;
  for (const group& g : groups()) {
    if (!s.group.empty() && s.group != g.name) continue;
    found = true;
    print_table(g, s, run_contest(g, {.slots = std::uint64_t{1} << s.slots, .fills = s.fills, .rounds = s.rounds}));
  }
  if (!found) throw std::runtime_error("there is no group " + s.group);
  return 0;
}

}  // namespace
}  // namespace tamis::benchmarks

int main(int argc, char** argv) {
  try {
    return tamis::benchmarks::run(tamis::benchmarks::settings_of(argc, argv));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "tamis_peers: %s\n", e.what());
    return 1;
  }
}
