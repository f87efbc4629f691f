// tamis create: an empty filter.

#include <memory>
#include <optional>

#include "command_files.hpp"
#include "commands.hpp"
#include "failure.hpp"
#include "filter_file.hpp"
#include "numbers.hpp"
#include "printable.hpp"
#include "tamis/detail/base/zeroed_array.hpp"

namespace tamis::cli {

using namespace detail;

namespace {

struct create_flags {
  created_file file;
  std::string filter;
  std::string capacity;
  size_flags size;
  std::string family = "fast";
  seed_flag seed;
  created_file json;
  command_files files;
};

hasher make_hasher(const create_flags& given) {
  const auto family = parse_hash_family(given.family);
  if (!family) fail("--hash '" + given.family + "'", "must be fast or keyed");
  return must("--hash " + given.family, given.seed.make(*family));
}

void run_create(create_flags& given) {
  if (!given.size.any_size()) throw CLI::RequiredError("--fpr or --bits-per-key");
  must(registry::builtin().find(given.filter));
  const hasher hash = make_hasher(given);
  const std::uint64_t capacity = parse_count("--capacity", given.capacity, 1, largest_capacity);
  const any_filter filter = must(given.filter, any_filter::create(given.filter, given.size.params(capacity), hash));
  save_filter(filter, given.file);

  output out;
  if (given.files.text_wanted()) {
    out.print("{}: {} filter for {}, {} ({:.2f} bits per key)\n", printable(given.file.name()), filter.info().id,
              counted(filter.capacity(), "key"), format_bytes(filter.bits().fast / 8), bits_per_key(filter, capacity));
  }
  write_json(given.json, info_json(filter, hash.family()));
  out.flush();
}

}  // namespace

void add_create(CLI::App& tool) {
  auto given = std::make_shared<create_flags>();
  CLI::App* command = tool.add_subcommand("create", "make an empty filter");
  given->files.creates_filter(*command, "FILE", given->file, "where to save it")->required();
  command->add_option("--filter", given->filter, "which filter, see `tamis filters`")->type_name("ID")->required();
  command->add_option("--capacity", given->capacity, "number of keys that it is made for")->type_name("N")->required();
  given->size.add_to(*command);
  command->add_option("--hash", given->family, "fast, or keyed for keys that an adversary may choose (default: fast)")
      ->type_name("fast|keyed");
  given->seed.add_to(
      *command,
      "fast: up to 16 digits (default: 0), saved in the file; keyed: the secret, 32 digits, not saved, and better "
      "given in the environment variable TAMIS_SEED");
  given->files.creates_json(*command, given->json);
  command->footer(std::string(count_help) +
                  "\n\nExamples:\n"
                  "  tamis create seen.tamis --filter bloom1 --capacity 1M --fpr 0.01\n"
                  "  export TAMIS_SEED=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \\n')\n"
                  "  tamis create secret.tamis --filter bloom --capacity 1e6 --fpr 0.01 \\\n"
                  "    --hash keyed");
  given->files.run(*command, [given] { run_create(*given); });
}

}  // namespace tamis::cli
