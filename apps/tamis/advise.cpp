// tamis advise: which filter, of which size, for so many keys and such queries. What is computed, and how, is said in
// lab/advise.hpp.

#include <algorithm>
#include <memory>
#include <optional>

#include "advise_report.hpp"
#include "command_files.hpp"
#include "commands.hpp"
#include "digest_store.hpp"
#include "failure.hpp"
#include "interrupt.hpp"
#include "key_reader.hpp"
#include "numbers.hpp"
#include "progress.hpp"
#include "replay_source.hpp"

namespace tamis::cli {
namespace {

struct advise_flags {
  std::string capacity;
  std::string growth = "1";
  std::string fpr;
  std::string memory;
  std::string read_us = "100";
  std::string slow_bit_price = "0.05";
  bool deletes = false;
  bool trust_log = false;
  bool no_slow_memory = false;
  std::string members_path;
  std::string queries_path;
  key_style style;
  created_file json;
  command_files files;
};

// `members`: how many there are, which is the capacity if none is given.
lab::advice_wish wish_of(const advise_flags& given, std::uint64_t members) {
  lab::advice_wish wish;
  wish.capacity = given.capacity.empty() ? members : parse_count("--capacity", given.capacity, 1, largest_capacity);
  wish.growth = parse_real("--growth", given.growth, 0, 1e15);
  if (wish.growth < 1) fail("--growth '" + given.growth + "'", "must be at least 1: so many times as many keys at the end");
  if (static_cast<double>(wish.capacity) * wish.growth > static_cast<double>(largest_capacity)) {
    fail("--growth '" + given.growth + "'", fmt::format("more than {} keys at the end", largest_capacity));
  }
  if (given.fpr.empty() && given.memory.empty()) throw CLI::RequiredError("--fpr or --memory");
  if (!given.fpr.empty()) wish.fpr = parse_real("--fpr", given.fpr, 0, 1);
  if (!given.memory.empty()) wish.memory_bytes = parse_count("--memory", given.memory, 1, std::uint64_t{1} << 50);
  wish.read_ns = 1000 * parse_real("--read-us", given.read_us, 0, 1e9);
  wish.slow_bit_price = parse_share("--slow-bit-price", given.slow_bit_price);
  wish.deletes = given.deletes;
  wish.trust_log = given.trust_log;
  wish.slow_memory = !given.no_slow_memory;
  return wish;
}

// Reads the members, and the queries in a stream.
struct read_log {
  std::vector<digest> members;
  std::optional<lab::query_sample> sample;
};
read_log read_files(const advise_flags& given, lab::advice_wish& wish) {
  read_log log;
  if (given.members_path.empty()) return log;
  const auto source = replay_of_files(given.members_path, given.queries_path, given.style, hasher());
  log.members = source->members();
  const digest_store store(log.members);
  wish = wish_of(given, std::max<std::uint64_t>(1, store.size()));
  const std::uint64_t final_keys = wish.final_keys();
  if (store.size() > final_keys) {
    fail(given.members_path,
         fmt::format("{}, more than the {} that the filter is for", counted(store.size(), "key"), grouped(final_keys)));
  }
  log.sample.emplace(final_keys);
  progress bar("queries", source->total());
  std::vector<digest> queries;
  for (source->next_queries(queries); !queries.empty(); source->next_queries(queries)) {
    for (const digest d : queries) {
      if (store.contains(d)) {
        log.sample->add_member_query();
      } else {
        log.sample->add_absent_query(d);
      }
    }
    bar.at(source->done(), log.sample->queries());
  }
  if (log.sample->negatives() == 0) {
    fail(given.queries_path,
         log.sample->queries() == 0 ? "is empty" : "asks for members only: a filter has nothing to keep from the store");
  }
  return log;
}

void run_advise(advise_flags& given) {
  if (given.members_path.empty() != given.queries_path.empty()) {
    throw CLI::RequiredError(given.members_path.empty() ? "--members beside --queries" : "--queries beside --members");
  }
  if (given.capacity.empty() && given.members_path.empty()) throw CLI::RequiredError("--capacity");
  lab::advice_wish wish = wish_of(given, 1);
  const read_log log = read_files(given, wish);
  lab::advice found;
  {
    progress bar("trying filters", 1000);
    wish.progress = [&](double share) {
      stop_if_interrupted();
      bar.at(static_cast<std::uint64_t>(1000 * share), log.sample ? log.sample->queries() : 0);
    };
    found = lab::advise(wish, log.members, log.sample ? &*log.sample : nullptr);
  }
  const advise_result result{wish, found, log.sample ? &*log.sample : nullptr};
  output out;
  if (given.files.text_wanted()) print_advice(result, out);
  write_json(given.json, advice_json(result));
  out.flush();
  if (found.ranked.empty()) {
    fail("advise", "no filter fits" + (found.would_fit.empty() ? "" : "; " + found.would_fit));
  }
}

}  // namespace

void add_advise(CLI::App& tool) {
  auto given = std::make_shared<advise_flags>();
  CLI::App* command = tool.add_subcommand("advise", "which filter to take, of which size, and why");
  command->add_option("--capacity", given->capacity, "keys that the filter is for (default: as many as --members)")
      ->type_name("N");
  command->add_option("--growth", given->growth, "at the end, so many times as many (default: 1)")->type_name("G");
  command->add_option("--fpr", given->fpr, "share of the queries for absent keys that may read the store")->type_name("E");
  command->add_flag("--trust-log", given->trust_log,
                    "keep that share over the log only: keys that are new then meet a higher rate");
  command->add_option("--memory", given->memory, "fast memory there is, at the end")->type_name("BYTES");
  command->add_flag("--no-slow-memory", given->no_slow_memory, "only filters that keep nothing in slow memory");
  command->add_flag("--deletes", given->deletes, "only filters that can delete");
  given->files.reads_keys(*command, "--members", given->members_path, "keys that are in the store; - is standard input");
  given->files.reads_keys(*command, "--queries", given->queries_path,
                          "keys that were asked for, in order; - is standard input");
  given->style.add_to(*command);
  command->add_option("--read-us", given->read_us, "microseconds that a store read takes (default: 100)")->type_name("US");
  command
      ->add_option("--slow-bit-price", given->slow_bit_price, "what a bit of slow memory costs, in fast ones (default: 0.05)")
      ->type_name("SHARE");
  given->files.creates_json(*command, given->json);
  command->footer(std::string("With --fpr, filters are compared by the memory that keeps the rate for keys that\n"
                              "are asked for the first time (with growth: by its mean while keys come);\n"
                              "--memory is then a limit. With --memory alone, all get that memory and are\n"
                              "compared by their cost per query: time of the filter, measured here and now on\n"
                              "a sample, + time of a store read x (false positives + range scans to adapt).\n"
                              "A log (--members and --queries) tells how often absent keys are asked for\n"
                              "again; adaptive filters are tried on a sample of it. Without one every query is\n"
                              "taken to be for a new key that is absent.\n\n") +
                  key_help + "\n" + count_help +
                  "\n\nExamples:\n"
                  "  tamis advise --capacity 1M --fpr 0.01 --deletes\n"
                  "  tamis generate zipf --count 100k --out queries \\\n"
                  "    --members members --members-count 10k\n"
                  "  tamis advise --capacity 10k --memory 10k --members members --queries queries");
  given->files.run(*command, [given] { run_advise(*given); });
}

}  // namespace tamis::cli
