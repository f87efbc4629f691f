// tamis check: passes on the keys that may be in, or those that are certainly not, in the order in which they come.

#include <unistd.h>

#include <memory>

#include "commands.hpp"
#include "filter_file.hpp"
#include "key_reader.hpp"
#include "progress.hpp"
#include "terminal.hpp"

namespace tamis::cli {
namespace {

struct flags {
  std::string path;
  key_flags keys;
  seed_flag seed;
  bool absent = false;
  bool count_only = false;
  std::string json_path;
};

struct counts {
  std::uint64_t maybe = 0;
  std::uint64_t no = 0;
};

counts check_all(const any_filter& filter, key_reader& keys, const flags& given, bool print, output& out) {
  counts so_far;
  progress bar("checking", keys.bytes_total(), !(print && is_terminal(STDOUT_FILENO)));
  std::vector<digest> digests;
  bool answers[keys_per_batch];
  for (auto batch = keys.next(); !batch.empty(); batch = keys.next()) {
    hash_keys(filter.hash(), batch, digests);
    filter.contains_many(digests, answers);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      (answers[i] ? so_far.maybe : so_far.no) += 1;
      if (!print || answers[i] == given.absent) continue;
      out.write(batch[i]);
      out.write(given.keys.separator());
    }
    if (keys.waiting()) out.flush();
    bar.at(keys.bytes_done(), so_far.maybe + so_far.no);
  }
  return so_far;
}

void run(const flags& given) {
  const any_filter filter = open_filter(given.path, given.seed).filter;
  key_reader keys(given.keys.path, given.keys.separator());
  json_target target(given.json_path);
  output out;
  const counts found = check_all(filter, keys, given, !given.count_only && !target.on_stdout(), out);
  if (given.count_only && !target.on_stdout()) out.print("maybe {}\nno {}\n", found.maybe, found.no);
  target.write({{"maybe", found.maybe}, {"no", found.no}}, out);
  out.flush();
}

}  // namespace

void add_check(CLI::App& tool) {
  auto given = std::make_shared<flags>();
  CLI::App* command = tool.add_subcommand("check", "print the keys that may be in a filter");
  command->add_option("FILE", given->path, "the filter")->required();
  given->keys.add_to(*command);
  command->add_flag("-v,--absent", given->absent, "print the keys that are certainly not in, instead");
  command->add_flag("-c,--count", given->count_only, "print how many there are of both, and no keys");
  given->seed.add_to(*command, "secret of a keyed filter; better given in the environment variable TAMIS_SEED");
  add_json_flag(*command, given->json_path);
  command->footer(std::string(key_help) +
                  "\n\nKeys are printed as they came, with the separator they are read with.\n\n"
                  "Example:\n"
                  "  tamis create seen.tamis --filter bloom --capacity 1000 --fpr 0.01\n"
                  "  seq 1 1000 | tamis add seen.tamis\n"
                  "  seq 990 1010 | tamis check -v seen.tamis");
  command->callback([given] { run(*given); });
}

}  // namespace tamis::cli
