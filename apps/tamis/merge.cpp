// tamis merge: the union of several filters as a new one.

#include <memory>
#include <optional>

#include "commands.hpp"
#include "failure.hpp"
#include "filter_file.hpp"
#include "interrupt.hpp"
#include "numbers.hpp"

namespace tamis::cli {
namespace {

struct merge_flags {
  std::string out_path;
  std::vector<std::string> paths;
  seed_flag seed;
  bool force = false;
  std::string json_path;
};

void run_merge(const merge_flags& given) {
  const auto lock = claim(given.out_path, given.force);
  json_target target(given.json_path);
  any_filter united = open_filter(given.paths.front(), given.seed).filter;
  if (!united.can().merge) {
    fail(given.paths.front(), "a " + std::string(united.info().id) + " filter cannot be merged");
  }
  for (std::size_t i = 1; i < given.paths.size(); ++i) {
    stop_if_interrupted();
    must(given.paths[i], united.merge(open_filter(given.paths[i], given.seed).filter));
  }
  save_filter(united, given.out_path);

  output out;
  if (!target.on_stdout()) {
    out.print("{}: {} from {}\n", given.out_path, counted(united.keys(), "key"), counted(given.paths.size(), "filter"));
  }
  target.write(info_json(united, united.hash().family()), out);
  out.flush();
  note_overload(united, given.out_path);
}

}  // namespace

void add_merge(CLI::App& tool) {
  auto given = std::make_shared<merge_flags>();
  CLI::App* command = tool.add_subcommand("merge", "unite filters of the same kind, shape and hash");
  command->add_option("OUT", given->out_path, "where to save the union")->required();
  command->add_option("FILE", given->paths, "filters to unite")->required();
  given->seed.add_to(*command, "secret of keyed filters; better given in the environment variable TAMIS_SEED");
  command->add_flag("--force", given->force, "replace OUT if it exists");
  add_json_flag(*command, given->json_path);
  command->footer(
      "A key that is in several of the filters counts several times.\n\n"
      "Example:\n"
      "  tamis create monday.tamis --filter bloom --capacity 1000 --fpr 0.01\n"
      "  tamis create tuesday.tamis --filter bloom --capacity 1000 --fpr 0.01\n"
      "  seq 1 500 | tamis add monday.tamis\n"
      "  seq 400 900 | tamis add tuesday.tamis\n"
      "  tamis merge week.tamis monday.tamis tuesday.tamis");
  command->callback([given] { run_merge(*given); });
}

}  // namespace tamis::cli
