// tamis add: inserts keys. The file is replaced once all keys have been read; until then it is as it was.

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
  std::uint64_t added = 0;
  std::uint64_t refused = 0;
};

counts insert_all(any_filter& filter, key_reader& keys) {
  counts so_far;
  progress bar("adding", keys.bytes_total());
  std::vector<digest> digests;
  for (auto batch = keys.next(); !batch.empty(); batch = keys.next()) {
    hash_keys(filter.hash(), batch, digests);
    const std::size_t in = filter.insert_many(digests);
    so_far.added += in;
    so_far.refused += batch.size() - in;
    bar.at(keys.bytes_done(), so_far.added + so_far.refused);
  }
  return so_far;
}

void run(const flags& given) {
  const file_lock lock(given.path);
  any_filter filter = open_filter(given.path, given.seed).filter;
  key_reader keys(given.keys.path, given.keys.separator());
  json_target target(given.json_path);
  const counts done = insert_all(filter, keys);
  if (done.added != 0) save_filter(filter, given.path);

  output out;
  if (!target.on_stdout()) {
    if (done.added + done.refused == 0) {
      out.print("{}: added 0 keys: {} is empty\n", given.path, keys.name());
    } else {
      out.print("{}: added {}, refused {}\n", given.path, counted(done.added, "key"), grouped(done.refused));
    }
  }
  target.write({{"added", done.added}, {"refused", done.refused}}, out);
  out.flush();
  if (done.added != 0) note_overload(filter, given.path);
  if (done.refused != 0) {
    fail(given.path, "full: refused " + counted(done.refused, "key") + ", kept the " + grouped(filter.keys()) + " that are in");
  }
}

}  // namespace

void add_add(CLI::App& tool) {
  auto given = std::make_shared<flags>();
  CLI::App* command = tool.add_subcommand("add", "insert keys into a filter");
  command->add_option("FILE", given->path, "the filter")->required();
  given->keys.add_to(*command);
  given->seed.add_to(*command, "secret of a keyed filter; better given in the environment variable TAMIS_SEED");
  add_json_flag(*command, given->json_path);
  command->footer(std::string(key_help) +
                  "\n\nA filter that is full refuses further keys, keeps what it has, and the exit code\n"
                  "is 1. Filters that never refuse, like Bloom filters, get less accurate instead.\n\n"
                  "Example:\n"
                  "  tamis create seen.tamis --filter bloom --capacity 1000 --fpr 0.01\n"
                  "  seq 1 1000 | tamis add seen.tamis");
  command->callback([given] { run(*given); });
}

}  // namespace tamis::cli
