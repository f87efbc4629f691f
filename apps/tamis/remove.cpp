// tamis remove: deletes keys, where the filter can.

#include <memory>

#include "commands.hpp"
#include "failure.hpp"
#include "filter_file.hpp"
#include "key_reader.hpp"
#include "numbers.hpp"
#include "progress.hpp"

namespace tamis::cli {
namespace {

struct flags {
  std::string path;
  key_flags keys;
  seed_flag seed;
  std::string json_path;
};

struct counts {
  std::uint64_t removed = 0;
  std::uint64_t absent = 0;
};

void refuse_if_unable(const any_filter& filter, const std::string& path) {
  if (filter.can().erase) return;
  std::string able;
  for (const registry_entry& entry : registry::builtin().entries()) {
    if (entry.can.erase) able += (able.empty() ? "" : ", ") + std::string(entry.info->id);
  }
  fail(path, "a " + std::string(filter.info().id) + " filter cannot delete; these can: " + able);
}

counts erase_all(any_filter& filter, key_reader& keys) {
  counts so_far;
  progress bar("removing", keys.bytes_total());
  std::vector<digest> digests;
  for (auto batch = keys.next(); !batch.empty(); batch = keys.next()) {
    hash_keys(filter.hash(), batch, digests);
    const std::size_t gone = filter.erase_many(digests);
    so_far.removed += gone;
    so_far.absent += batch.size() - gone;
    bar.at(keys.bytes_done(), so_far.removed + so_far.absent);
  }
  return so_far;
}

void run(const flags& given) {
  const file_lock lock(given.path);
  any_filter filter = open_filter(given.path, given.seed).filter;
  refuse_if_unable(filter, given.path);
  key_reader keys(given.keys.path, given.keys.separator());
  json_target target(given.json_path);
  const counts done = erase_all(filter, keys);
  if (done.removed != 0) save_filter(filter, given.path);

  output out;
  if (!target.on_stdout()) {
    if (done.removed + done.absent == 0) {
      out.print("{}: removed 0 keys: {} is empty\n", given.path, keys.name());
    } else {
      out.print("{}: removed {}, {} not in\n", given.path, counted(done.removed, "key"), grouped(done.absent));
    }
  }
  target.write({{"removed", done.removed}, {"absent", done.absent}}, out);
  out.flush();
}

}  // namespace

void add_remove(CLI::App& tool) {
  auto given = std::make_shared<flags>();
  CLI::App* command = tool.add_subcommand("remove", "delete keys from a filter that can");
  command->add_option("FILE", given->path, "the filter")->required();
  given->keys.add_to(*command);
  given->seed.add_to(*command, "secret of a keyed filter; better given in the environment variable TAMIS_SEED");
  add_json_flag(*command, given->json_path);
  command->footer(std::string(key_help) +
                  "\n\nRemove only keys that were added: a key that never was, but may be in as far as\n"
                  "the filter can tell, takes the trace of another key with it.\n\n"
                  "Example:\n"
                  "  tamis create seen.tamis --filter counting-bloom --capacity 1000 --fpr 0.01\n"
                  "  seq 1 1000 | tamis add seen.tamis\n"
                  "  seq 1 500 | tamis remove seen.tamis");
  command->callback([given] { run(*given); });
}

}  // namespace tamis::cli
