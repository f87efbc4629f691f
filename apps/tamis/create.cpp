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
#include "terminal.hpp"

namespace tamis::cli {

using namespace detail;

namespace {

struct create_flags {
  created_file file;
  std::string filter = "evergreen";
  std::string capacity;
  size_flags size;
  std::string family = "fast";
  seed_flag seed;
  bool seed_is_drawn = false;
  created_file json;
  command_files files;
};

// Draws the seed, if one is to be drawn, and keeps it in the flag.
hasher make_hasher(create_flags& given) {
  const auto family = parse_hash_family(given.family);
  if (!family) fail("--hash '" + given.family + "'", "must be fast or keyed");
  if (given.seed.is_random()) {
    if (*family == hash_family::keyed && given.file.on_stdout()) {
      fail("--seed random", "the filter takes standard output, and the secret has nowhere to go; give --seed HEX");
    }
    given.seed.draw(*family);
    given.seed_is_drawn = true;
  }
  const auto made = given.seed.make(*family);
  if (!made && given.seed.text.empty())
    fail("--hash " + given.family, made.message() + "; --seed random draws one and shows it");
  return must("--hash " + given.family, made);
}

std::string drawn_text(const create_flags& given, hash_family family) {
  if (family == hash_family::fast) return fmt::format("seed {}, drawn at random and saved in the file\n", given.seed.text);
  const std::string note = wrapped(
      "The secret of its hash, drawn at random, is not saved in the file. Keep it: without it, nothing can be added to the "
      "filter or looked up.",
      text_columns(), 0);
  return fmt::format("{}\n  export TAMIS_SEED={}\n", note, given.seed.text);
}

// A secret goes to standard output only: a report that lies about is no place for it.
json result_json(const create_flags& given, const any_filter& filter) {
  json made = info_json(filter, filter.hash().family());
  const bool is_secret = filter.hash().family() == hash_family::keyed;
  if (given.seed_is_drawn && (!is_secret || given.json.on_stdout())) made["seed"] = given.seed.text;
  return made;
}

void run_create(create_flags& given) {
  if (!given.size.any_size()) throw CLI::RequiredError("--fpr or --bits-per-key");
  must_be_kind(given.filter);
  const hasher hash = make_hasher(given);
  const std::uint64_t capacity = parse_count("--capacity", given.capacity, 1, largest_capacity);
  const any_filter filter = must(given.filter, any_filter::create(given.filter, given.size.params(capacity), hash));
  // A secret that could not be shown would be lost, and the filter with it: then there is none.
  const bool shown_first = given.seed_is_drawn && hash.family() == hash_family::keyed;
  write_filter(filter, given.file);
  if (!shown_first) given.file.commit();

  output out;
  if (given.files.text_wanted()) {
    out.print("{}: {} filter for {}, {} ({:.2f} bits per key)\n", printable(given.file.name()), filter.info().id,
              counted(filter.capacity(), "key"), format_bytes(filter.bits().fast / 8), bits_per_key(filter, capacity));
    if (given.seed_is_drawn) out.write(drawn_text(given, hash.family()));
  }
  write_json(given.json, result_json(given, filter));
  out.flush();
  if (shown_first) given.file.commit();
}

}  // namespace

void add_create(CLI::App& tool) {
  auto given = std::make_shared<create_flags>();
  CLI::App* command = tool.add_subcommand("create", "make an empty filter");
  given->files.creates_filter(*command, "FILE", given->file, "where to save it")->required();
  command->add_option("--filter", given->filter, "ID, see `tamis filters`, or ID+mistakes (default: evergreen)")
      ->type_name("ID");
  command->add_option("--capacity", given->capacity, "number of keys that it is made for")->type_name("N")->required();
  given->size.add_to(*command);
  command->add_option("--hash", given->family, "fast, or keyed for keys that an adversary may choose (default: fast)")
      ->type_name("fast|keyed");
  given->seed
      .add_to(*command,
              "fast: up to 16 digits (default: 0), saved in the file; keyed: the secret, 32 digits, not saved, and better "
              "given in the environment variable TAMIS_SEED; random: drawn and shown")
      ->type_name("HEX|random");
  given->files.creates_json(*command, given->json);
  command->footer(std::string("Keys that somebody may choose to do harm need --hash keyed: without its secret,\n"
                              "nobody can find keys that the filter confuses. A seed of the fast hash (XXH3) is\n"
                              "no defence, random or not: it is in the file, and there are keys that collide\n"
                              "under many seeds.\n\n") +
                  count_help +
                  "\n\nExamples:\n"
                  "  tamis create grows.tamis --capacity 1M --fpr 0.01\n"
                  "  tamis create seen.tamis --filter bloom1 --capacity 1M --fpr 0.01\n"
                  "  export TAMIS_SEED=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \\n')\n"
                  "  tamis create secret.tamis --filter bloom --capacity 1e6 --fpr 0.01 \\\n"
                  "    --hash keyed\n"
                  "  tamis create other.tamis --filter bloom --capacity 1e6 --fpr 0.01 \\\n"
                  "    --hash keyed --seed random");
  given->files.run(*command, [given] { run_create(*given); });
}

}  // namespace tamis::cli
