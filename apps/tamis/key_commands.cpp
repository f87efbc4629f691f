// tamis add, check and remove: one filter, one stream of keys. A file that changes is replaced once all keys have been read;
// until then it is as it was.

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <span>

#include "command_files.hpp"
#include "commands.hpp"
#include "failure.hpp"
#include "filter_file.hpp"
#include "key_reader.hpp"
#include "numbers.hpp"
#include "printable.hpp"
#include "progress.hpp"
#include "terminal.hpp"

namespace tamis::cli {
namespace {

// What the three have in common.
struct key_command {
  std::string path;
  key_flags keys;
  seed_flag seed;
  created_file json;
  command_files files;
};
struct check_command : key_command {
  bool absent = false;
  bool count_only = false;
  bool unverified = false;
};

struct tally {
  std::uint64_t yes = 0;
  std::uint64_t no = 0;
  std::uint64_t all() const { return yes + no; }
};

// Calls `use(batch)` for all keys; how many it said yes to, and how many not.
template <class Use>
tally pass_keys(key_reader& keys, progress&& bar, Use use) {
  tally so_far;
  for (auto batch = keys.next(); !batch.empty(); batch = keys.next()) {
    const std::size_t yes = use(batch);
    so_far.yes += yes;
    so_far.no += batch.size() - yes;
    bar.at(keys.bytes_done(), so_far.all());
  }
  return so_far;
}

void run_add(key_command& given) {
  any_filter filter = open_filter(given.path, given.seed).filter;
  key_reader keys(given.keys.path, given.keys.style);
  const tally added =
      pass_keys(keys, progress("adding", keys.bytes_total()), [&](const auto& batch) { return filter.insert_many(batch); });
  if (added.yes != 0) replace_filter(filter, given.path);

  output out;
  if (given.files.text_wanted()) {
    if (added.all() == 0) {
      out.print("{}: added 0 keys: {} is empty\n", printable(given.path), printable(keys.name()));
    } else {
      out.print("{}: added {}, refused {}\n", printable(given.path), counted(added.yes, "key"), grouped(added.no));
    }
  }
  write_json(given.json, {{"added", added.yes}, {"refused", added.no}});
  out.flush();
  if (added.yes != 0) note_overload(filter, given.path);
  if (added.no != 0) {
    fail(given.path, "full: refused " + counted(added.no, "key") + ", kept the " + grouped(filter.keys()) + " that are in");
  }
}

void run_check(check_command& given) {
  mapped_filter file = open_filter_mapped(given.path, given.seed);
  if (!given.unverified && !file.is_verified()) must(file.verify());
  const any_filter& filter = file.filter();
  key_reader keys(given.keys.path, given.keys.style);
  output out;
  const bool print = !given.count_only && given.files.text_wanted();
  bool answers[keys_per_batch];
  const tally maybe =
      pass_keys(keys, progress("checking", keys.bytes_total(), !(print && is_terminal(STDOUT_FILENO))), [&](const auto& batch) {
        filter.may_contain_many(batch, answers);
        for (std::size_t i = 0; i < batch.size() && print; ++i) {
          if (answers[i] == given.absent) continue;
          out.write(batch[i]);
          out.write(given.keys.style.separator());
        }
        if (keys.waiting()) out.flush();
        return static_cast<std::size_t>(std::count(answers, answers + batch.size(), true));
      });
  if (given.count_only && given.files.text_wanted()) out.print("maybe {}\nno {}\n", maybe.yes, maybe.no);
  write_json(given.json, {{"maybe", maybe.yes}, {"no", maybe.no}, {"verified", file.is_verified()}});
  out.flush();
}

void refuse_if_unable(const any_filter& filter, const std::string& path) {
  if (filter.can().erase) return;
  std::string able;
  for (const registry_entry& entry : registry::builtin().entries()) {
    if (entry.can.erase) able += (able.empty() ? "" : ", ") + std::string(entry.info->id);
  }
  fail(path, "a " + std::string(filter.info().id) + " filter cannot delete; these can: " + able);
}

void run_remove(key_command& given) {
  any_filter filter = open_filter(given.path, given.seed).filter;
  refuse_if_unable(filter, given.path);
  key_reader keys(given.keys.path, given.keys.style);
  const tally removed = pass_keys(keys, progress("removing", keys.bytes_total()),
                                  [&](const auto& batch) { return must(filter.erase_many(batch)); });
  if (removed.yes != 0) replace_filter(filter, given.path);

  output out;
  if (given.files.text_wanted()) {
    if (removed.all() == 0) {
      out.print("{}: removed 0 keys: {} is empty\n", printable(given.path), printable(keys.name()));
    } else {
      out.print("{}: removed {}, {} not in\n", printable(given.path), counted(removed.yes, "key"), grouped(removed.no));
    }
  }
  write_json(given.json, {{"removed", removed.yes}, {"absent", removed.no}});
  out.flush();
}

// `own` adds the filter, and a command's own flags.
template <class Command, class Own>
void add_key_command(CLI::App& tool, const char* name, const char* summary, const char* footer, void (*run)(Command&),
                     Own own) {
  auto given = std::make_shared<Command>();
  CLI::App* command = tool.add_subcommand(name, summary);
  own(*command, *given);
  given->keys.add_to(*command, given->files);
  given->seed.add_to(*command, "secret of a keyed filter; better given in the environment variable TAMIS_SEED");
  given->files.creates_json(*command, given->json);
  command->footer(std::string(key_help) + "\n\n" + footer);
  given->files.run(*command, [given, run] { run(*given); });
}

void add_changed_filter(CLI::App& command, key_command& given) {
  given.files.changes_filter(command, "FILE", given.path, "the filter")->required();
}

}  // namespace

void add_add(CLI::App& tool) {
  add_key_command(tool, "add", "insert keys into a filter",
                  "A filter that is full refuses further keys, keeps what it has, and the exit code\n"
                  "is 1. Filters that never refuse, like Bloom filters, get less accurate instead.\n\n"
                  "Example:\n"
                  "  tamis create seen.tamis --filter bloom --capacity 1000 --fpr 0.01\n"
                  "  seq 1 1000 | tamis add seen.tamis",
                  run_add, add_changed_filter);
}

void add_check(CLI::App& tool) {
  add_key_command(tool, "check", "print the keys that may be in a filter",
                  "Keys are printed as they came, with the separator they are read with.\n\n"
                  "The file is mapped, and must not be shortened meanwhile; to replace it is fine.\n"
                  "With --unverified, answers come before the file is read, at once also from a\n"
                  "large one. Damage that nobody looked for can then make keys look absent.\n\n"
                  "Example:\n"
                  "  tamis create seen.tamis --filter bloom --capacity 1000 --fpr 0.01\n"
                  "  seq 1 1000 | tamis add seen.tamis\n"
                  "  seq 990 1010 | tamis check -v seen.tamis",
                  run_check, [](CLI::App& command, check_command& given) {
                    given.files.reads_filter(command, "FILE", given.path, "the filter")->required();
                    command.add_flag("-v,--absent", given.absent, "print the keys that are certainly not in, instead");
                    command.add_flag("-c,--count", given.count_only, "print how many there are of both, and no keys");
                    command.add_flag("--unverified", given.unverified,
                                     "do not compare the checksums of the table first, where that is safe");
                  });
}

void add_remove(CLI::App& tool) {
  add_key_command(tool, "remove", "delete keys from a filter that can",
                  "Remove only keys that were added: a key that never was, but may be in as far as\n"
                  "the filter can tell, takes the trace of another key with it.\n\n"
                  "Example:\n"
                  "  tamis create seen.tamis --filter counting-bloom --capacity 1000 --fpr 0.01\n"
                  "  seq 1 1000 | tamis add seen.tamis\n"
                  "  seq 1 500 | tamis remove seen.tamis",
                  run_remove, add_changed_filter);
}

}  // namespace tamis::cli
