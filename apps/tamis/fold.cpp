// tamis fold: a Bloom filter that was made too large becomes as small as its keys allow.

#include <memory>

#include "command_files.hpp"
#include "commands.hpp"
#include "failure.hpp"
#include "filter_file.hpp"
#include "numbers.hpp"
#include "printable.hpp"
#include "tamis/detail/base/zeroed_array.hpp"

namespace tamis::cli {
namespace {

struct fold_flags {
  std::string path;
  std::string fpr;
  seed_flag seed;
  created_file json;
  command_files files;
};

void run_fold(fold_flags& given) {
  const double fpr = parse_real("--fpr", given.fpr, 0, 1);
  any_filter filter = open_filter(given.path, given.seed).filter;
  const std::uint64_t before = filter.bits().fast;
  const std::uint64_t factor = must(given.path, filter.fold(fpr));
  if (factor != 1) replace_filter(filter, given.path);

  output out;
  if (given.files.text_wanted()) {
    if (factor == 1) {
      out.print("{}: not folded: its table has no divisor that keeps the rate at {}\n", printable(given.path), percent(fpr));
    } else {
      out.print("{}: {} of {} left, expected rate {}\n", printable(given.path), detail::format_bytes(filter.bits().fast / 8),
                detail::format_bytes(before / 8), percent(filter.expected_fpr()));
    }
  }
  json shown = info_json(filter, filter.hash().family());
  shown["factor"] = factor;
  write_json(given.json, shown);
  out.flush();
}

}  // namespace

void add_fold(CLI::App& tool) {
  auto given = std::make_shared<fold_flags>();
  CLI::App* command = tool.add_subcommand("fold", "make a Bloom filter that is too large smaller");
  given->files.changes_filter(*command, "FILE", given->path, "the filter, bloom or bloom1")->required();
  command->add_option("--fpr", given->fpr, "false-positive rate to stay within, as full as it is now")
      ->type_name("RATE")
      ->required();
  given->seed.add_to(*command, "secret of a keyed filter; better given in the environment variable TAMIS_SEED");
  given->files.creates_json(*command, given->json);
  command->footer(
      "All keys stay in. The table is halved as long as the rate allows it; an odd one\n"
      "is divided by its smallest factor up to 64, and stays as it is without one. What\n"
      "was left for keys to come shrinks with it.\n\n"
      "Example:\n"
      "  tamis create seen.tamis --filter bloom --capacity 64k --bits-per-key 16\n"
      "  seq 1 1000 | tamis add seen.tamis\n"
      "  tamis fold seen.tamis --fpr 0.01");
  given->files.run(*command, [given] { run_fold(*given); });
}

}  // namespace tamis::cli
