// tamis merge: the union of several filters as a new one.

#include <memory>
#include <optional>

#include "command_files.hpp"
#include "commands.hpp"
#include "failure.hpp"
#include "filter_file.hpp"
#include "interrupt.hpp"
#include "numbers.hpp"
#include "printable.hpp"

namespace tamis::cli {
namespace {

struct merge_flags {
  created_file united;
  std::vector<std::string> paths;
  seed_flag seed;
  created_file json;
  command_files files;
};

void run_merge(merge_flags& given) {
  any_filter united = open_filter(given.paths.front(), given.seed).filter;
  if (!united.can().merge) {
    fail(given.paths.front(), "a " + std::string(united.info().id) + " filter cannot be merged");
  }
  for (std::size_t i = 1; i < given.paths.size(); ++i) {
    stop_if_interrupted();
    must(given.paths[i], united.merge(open_filter(given.paths[i], given.seed).filter));
  }
  write_filter(united, given.united);
  given.united.commit();

  output out;
  if (given.files.text_wanted()) {
    out.print("{}: {} from {}\n", printable(given.united.name()), counted(united.keys(), "key"),
              counted(given.paths.size(), "filter"));
  }
  write_json(given.json, info_json(united, united.hash().family()));
  out.flush();
  note_overload(united, given.united.name());
}

}  // namespace

void add_merge(CLI::App& tool) {
  auto given = std::make_shared<merge_flags>();
  CLI::App* command = tool.add_subcommand("merge", "unite filters of the same kind, shape and hash");
  given->files.creates_filter(*command, "OUT", given->united, "where to save the union; with --force, one of the filters")
      ->required();
  given->files.reads_filters(*command, "FILE", given->paths, "filters to unite")->required();
  given->seed.add_to(*command, "secret of keyed filters; better given in the environment variable TAMIS_SEED");
  given->files.creates_json(*command, given->json);
  command->footer(
      "A key that is in several of the filters counts several times.\n\n"
      "Example:\n"
      "  tamis create monday.tamis --filter bloom --capacity 1000 --fpr 0.01\n"
      "  tamis create tuesday.tamis --filter bloom --capacity 1000 --fpr 0.01\n"
      "  seq 1 500 | tamis add monday.tamis\n"
      "  seq 400 900 | tamis add tuesday.tamis\n"
      "  tamis merge week.tamis monday.tamis tuesday.tamis");
  given->files.run(*command, [given] { run_merge(*given); });
}

}  // namespace tamis::cli
