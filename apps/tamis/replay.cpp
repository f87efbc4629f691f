// tamis replay: runs a log of queries through filters in front of a store, and shows what each filter would have cost. All
// filters see the log in one pass, so it may be longer than memory and come from a pipe.

#include <algorithm>
#include <deque>
#include <memory>

#include "command_files.hpp"
#include "commands.hpp"
#include "failure.hpp"
#include "filter_flags.hpp"
#include "key_reader.hpp"
#include "lab/contenders.hpp"
#include "numbers.hpp"
#include "printable.hpp"
#include "progress.hpp"
#include "replay_changes.hpp"
#include "replay_html.hpp"
#include "replay_lineup.hpp"
#include "replay_report.hpp"
#include "replay_source.hpp"
#include "rocksdb_side.hpp"

namespace tamis::cli {
namespace {

constexpr double default_fpr = 0.01;

struct flags {
  std::string members_path;
  std::string queries_path;
  std::string log_path;
  std::string log_format;
  std::string first_sight;
  std::string filters;
  std::string compare = "memory";
  std::string seeds;
  std::string read_us;
  std::string read_price;
  std::string store = "memory";
  size_flags size;
  key_style style;
  std::string keys = "1M";
  std::string queries = "10M";
  std::string seed = "1";
  std::string member_share = "0.1";
  created_file json;
  created_file html;
  command_files files;
};

constexpr std::string_view rocksdb_prefix = "rocksdb:";

// The directory of a store in RocksDB; empty for the one in memory.
std::string store_directory(const std::string& store) {
  if (store == "memory") return "";
  if (store.starts_with(rocksdb_prefix) && store.size() > rocksdb_prefix.size()) return store.substr(rocksdb_prefix.size());
  fail("--store '" + store + "'", "must be memory or rocksdb:DIR");
}

std::string store_text(const std::string& directory) { return directory.empty() ? "" : "Store: RocksDB in " + directory + "."; }

std::unique_ptr<replay_source> source_of(const flags& given) {
  const hasher hash;
  if (given.members_path.empty() != given.queries_path.empty()) {
    throw CLI::RequiredError(given.members_path.empty() ? "--members beside --queries" : "--queries beside --members");
  }
  if (!given.members_path.empty()) {
    return replay_of_files(given.members_path, given.queries_path, given.style, hash);
  }
  return replay_of({.keys = parse_count("--keys", given.keys, 1, std::uint64_t{1} << 36),
                    .queries = parse_count("--queries-count", given.queries, 1, largest_capacity),
                    .seed = parse_count("--seed", given.seed, 0, ~std::uint64_t{0}),
                    .member_share = parse_share("--member-share", given.member_share)},
                   hash);
}

// The members without repetitions, in their order: a store holds a key once.
std::vector<digest> each_once(std::vector<digest> members, const digest_store& store) {
  if (members.size() == store.size()) return members;
  std::vector<bool> seen(store.size());
  std::erase_if(members, [&](digest d) {
    const std::uint64_t at = store.index(d);
    const bool again = seen[at];
    seen[at] = true;
    return again;
  });
  return members;
}

// The same keys under another hash seed: a digest is hashed again.
class other_hash {
 public:
  explicit other_hash(std::uint64_t seed) : hash_(hasher::fast(seed)) {}
  std::vector<digest> operator()(std::span<const digest> digests) const {
    std::vector<digest> all;
    all.reserve(digests.size());
    for (const digest& d : digests) all.push_back(hash_(std::as_bytes(std::span(&d, 1))));
    return all;
  }

 private:
  hasher hash_;
};

// A run beside the first: other hash seed, other luck.
struct seeded_run {
  other_hash hash;
  digest_store truth;
  std::vector<contestant> contestants;

  seeded_run(std::uint64_t seed, const lineup_terms& terms, std::span<const digest> members, std::span<const digest> tried)
      : hash(seed), truth(hash(members)), contestants(loaded(terms, hash(members), hash(tried))) {}

  static std::vector<contestant> loaded(const lineup_terms& terms, const std::vector<digest>& members,
                                        const std::vector<digest>& tried) {
    return line_up(terms, members, {members, tried}).loaded;
  }
};

// `queries`: the first ones, if they were read already.
void run_log(replay_source& source, std::vector<digest> queries, const digest_store& truth, const slow_side& store,
             query_log& log, std::vector<contestant>& contestants, std::deque<seeded_run>& others) {
  progress bar("replaying", source.total());
  std::vector<std::uint64_t> numbers;
  if (queries.empty()) source.next_queries(queries);
  for (; !queries.empty(); source.next_queries(queries)) {
    log.judge(queries, truth, numbers);
    for (contestant& c : contestants) {
      for (std::size_t first = 0; first < queries.size(); first += timed_turn) {  // short, for the spread of the speeds
        const std::size_t count = std::min(timed_turn, queries.size() - first);
        c.ask(std::span(queries).subspan(first, count), std::span(numbers).subspan(first, count), store);
      }
    }
    for (seeded_run& run : others) {
      const std::vector<digest> hashed = run.hash(queries);
      for (contestant& c : run.contestants) c.ask(hashed, numbers, run.truth);
    }
    bar.at(source.done(), log.queries());
  }
}

lineup_terms terms_of(const flags& given, std::uint64_t members) {
  lineup_terms terms{parse_lineup(given.filters), given.size.params(std::max<std::uint64_t>(1, members))};
  // RocksDB's own filter is a row then: what stands for it is not needed.
  if (given.filters.empty() && given.store.starts_with(rocksdb_prefix)) std::erase(terms.names, "bloom1");
  if (!given.size.any_size()) terms.params.fpr = default_fpr;
  if (given.compare == "rate") {
    terms.at = comparison::rate;
  } else if (given.compare != "memory") {
    fail("--compare '" + given.compare + "'", "must be memory or rate");
  }
  refuse_unknown_options(terms);
  return terms;
}

read_costs costs_of(const flags& given) {
  read_costs costs;
  if (!given.read_us.empty()) costs = {parse_real("--read-us", given.read_us, 0, 1e9), false};
  if (!given.read_price.empty()) costs.price_per_million = parse_real("--read-price", given.read_price, 0, 1e12);
  return costs;
}

// The beginning of the log, a fifth of it at most, for choosing. `first`: what is read of it.
std::span<const digest> tried_part(const replay_source& source, std::span<const digest> first) {
  const double all = static_cast<double>(source.total().value_or(5 * source.done()));
  const double part = all / lab::log_parts / std::max(1.0, static_cast<double>(source.done()));
  return first.first(static_cast<std::size_t>(std::min(1.0, part) * static_cast<double>(first.size())));
}

// RocksDB sizes its filter by bits per key only: those of all, or those that the same layout, one block per key, needs for the
// rate.
double bloom_bits(const lineup& loaded, const lineup_terms& terms) {
  if (loaded.bits_per_key > 0) return loaded.bits_per_key;
  if (terms.params.bits_per_key) return *terms.params.bits_per_key;
  filter_params params = terms.params;
  params.options.clear();
  const any_filter same = must(any_filter::create("bloom1", params));
  return static_cast<double>(same.bits().fast) / static_cast<double>(params.capacity);
}

std::string memory_text(const lineup& loaded) {
  if (loaded.bits_per_key == 0) return "Compared at the same rate: memory differs.";
  return fmt::format("Compared at equal memory: {:.2f} bits per key{}.", loaded.bits_per_key,
                     loaded.budget_of.empty() ? "" : ", what " + loaded.budget_of + " needs for the rate");
}

// The one thing a filter must never do.
void refuse_false_negatives(const std::vector<contestant>& contestants) {
  for (const contestant& c : contestants) {
    if (c.false_negatives() == 0) continue;
    fail(c.name(), counted(c.false_negatives(), "false negative") +
                       ": it said no to keys that are in the store. This is a bug in tamis: do not "
                       "trust this filter, and please report it");
  }
}

void report(const replay_result& result, flags& given) {
  output out;
  if (given.files.text_wanted()) print_replay(result, out);
  write_json(given.json, replay_json(result));
  if (given.html.wanted()) {
    given.html.write(replay_html(result));
    given.html.commit();
    if (given.files.text_wanted()) out.print("\nReport with charts: {}\n", printable(given.html.name()));
  }
  out.flush();
}

// How many hash seeds, if that is not said: several, unless that would take long or much memory.
constexpr std::uint64_t usual_seeds = 3;
constexpr std::uint64_t few_members = 1'000'000;
std::uint64_t seeds_for(const flags& given, std::uint64_t members) {
  if (!given.seeds.empty()) return parse_count("--seeds", given.seeds, 1, 100);
  return given.store == "memory" && members <= few_members ? usual_seeds : 1;
}

bool keys_change(const flags& given) { return !given.log_path.empty() || !given.first_sight.empty(); }

// What cannot be asked for together, said before anything is read.
void check_log_flags(const flags& given, const std::string& directory) {
  if (!given.first_sight.empty() && given.first_sight != "insert") {
    fail("--first-sight '" + given.first_sight + "'", "must be insert");
  }
  if (!given.log_format.empty() && given.log_path.empty()) throw CLI::RequiredError("--log beside --log-format");
  if (!given.log_path.empty() && !given.queries_path.empty()) throw CLI::ExcludesError("--log", "--queries");
  if (!keys_change(given)) return;
  if (given.log_path.empty() && given.queries_path.empty()) throw CLI::RequiredError("--log or --queries beside --first-sight");
  if (!directory.empty()) fail("--store " + given.store, "a log in which keys come and go needs --store memory");
}

log_wish wish_of(const flags& given) {
  log_wish wish{log_format::keys, !given.first_sight.empty()};
  if (!given.log_path.empty()) wish.format = given.log_format.empty() ? log_format::ops : parse_log_format(given.log_format);
  return wish;
}

std::vector<digest> read_members(const flags& given, const hasher& hash) {
  std::vector<digest> all;
  if (given.members_path.empty()) return all;
  key_reader keys(given.members_path, given.style);
  progress bar("members", keys.bytes_total());
  for (auto batch = keys.next(); !batch.empty(); batch = keys.next()) {
    for (const std::string_view key : batch) all.push_back(hash(key));
    bar.at(keys.bytes_done(), all.size());
  }
  return all;
}

void run_changing(flags& given, lineup_terms terms, const read_costs& costs) {
  const log_wish wish = wish_of(given);
  const hasher hash;
  std::vector<digest> members = read_members(given, hash);
  key_reader lines(given.log_path.empty() ? given.queries_path : given.log_path, given.style);
  const change_log log = read_log(lines, wish, std::move(members), hash);
  size_for(log, terms);
  played_log played = play(log, terms);
  std::vector<std::vector<contestant>> other_seeds;
  for (std::uint64_t seed = 1, seeds = seeds_for(given, log.most_keys); seed < seeds; ++seed) {
    other_seeds.push_back(std::move(play(log.rehashed(other_hash(seed)), terms).filters.loaded));
    refuse_false_negatives(other_seeds.back());
  }
  report({.source = "Log " + lines.name() + ": " + changes_text(log),
          .store = "",
          .members = log.most_keys,
          .log = played.judged,
          .contestants = played.filters.loaded,
          .others = played.filters.others,
          .memory = memory_text(played.filters),
          .bits_per_key = played.filters.bits_per_key,
          .costs = costs,
          .other_seeds = other_seeds,
          .changes = &log},
         given);
  refuse_false_negatives(played.filters.loaded);
}

void run_fixed(flags& given, const std::string& directory, const read_costs& costs) {
  const auto source = source_of(given);
  std::vector<digest> members = source->members();
  const digest_store truth(members);
  members = each_once(std::move(members), truth);
  const lineup_terms terms = terms_of(given, members.size());
  std::vector<digest> first_queries;
  if (wants_trial(terms)) source->next_queries(first_queries);
  lineup loaded = line_up(terms, members, {members, tried_part(*source, first_queries)});
  std::unique_ptr<slow_side> on_disk;
  if (!directory.empty()) {
    on_disk = open_rocksdb_side(directory, members);
    loaded.loaded.emplace_back(open_rocksdb_bloom(directory, members, bloom_bits(loaded, terms)));
  }
  std::deque<seeded_run> others;
  for (std::uint64_t seed = 1, seeds = seeds_for(given, truth.size()); seed < seeds; ++seed) {
    others.emplace_back(seed, terms, members, tried_part(*source, first_queries));
  }
  query_log log;
  const slow_side& store = on_disk ? *on_disk : static_cast<const slow_side&>(truth);
  run_log(*source, std::move(first_queries), truth, store, log, loaded.loaded, others);
  std::vector<std::vector<contestant>> other_seeds;
  for (seeded_run& run : others) {
    refuse_false_negatives(run.contestants);
    other_seeds.push_back(std::move(run.contestants));
  }
  report({.source = source->description(),
          .store = store_text(directory),
          .members = truth.size(),
          .log = log,
          .contestants = loaded.loaded,
          .others = loaded.others,
          .memory = memory_text(loaded),
          .bits_per_key = loaded.bits_per_key,
          .costs = costs,
          .other_seeds = other_seeds},
         given);
  refuse_false_negatives(loaded.loaded);
}

void run(flags& given) {
  const std::string directory = store_directory(given.store);
  check_log_flags(given, directory);
  const read_costs costs = costs_of(given);
  if (seeds_for(given, 1) > 1 && !directory.empty())
    fail("--seeds " + given.seeds, "needs --store memory: a store on disk has one seed");
  const lineup_terms terms = terms_of(given, 1);  // what is wrong with it is said before the members are read
  if (keys_change(given)) {
    run_changing(given, terms, costs);
  } else {
    run_fixed(given, directory, costs);
  }
}

}  // namespace

void add_replay(CLI::App& tool) {
  auto given = std::make_shared<flags>();
  CLI::App* command = tool.add_subcommand("replay", "what filters would have cost on a log of queries");
  given->files.reads_keys(*command, "--members", given->members_path, "keys that are in the store; - is standard input");
  given->files.reads_keys(*command, "--queries", given->queries_path,
                          "keys that were asked for, in order; - is standard input");
  given->files.reads_keys(*command, "--log", given->log_path,
                          "or what happened, in order: +KEY inserted, -KEY deleted, ?KEY asked for");
  command->add_option("--log-format", given->log_format, "ops (default), or tsv: columns insert, delete or query, and the key")
      ->type_name("ops|tsv");
  command
      ->add_option("--first-sight", given->first_sight,
                   "insert: a key that is asked for and not there comes in then, as in a cache")
      ->type_name("insert");
  command
      ->add_option("--filter", given->filters,
                   "filters to compare: ID, ID+mistakes, ID+lru, fuse-model, none; all (default: a dozen)")
      ->type_name("ID[,ID...]");
  command
      ->add_option("--compare", given->compare,
                   "at equal memory, which is what the first filter needs for the rate, or --bits-per-key (default); or rate: "
                   "each is made for the rate")
      ->type_name("memory|rate");
  command
      ->add_option("--seeds", given->seeds,
                   "hash seeds to try: shows what is luck (default: 3, for more than a million keys 1)")
      ->type_name("N");
  command->add_option("--read-us", given->read_us, "microseconds that a read of the store takes (default: 100)")
      ->type_name("US");
  command->add_option("--read-price", given->read_price, "and what a million of them cost, in any currency")
      ->type_name("PRICE");
  given->files
      .fills(*command, "--store", given->store, "the store behind the filter: memory (default) or rocksdb:DIR", store_directory)
      ->type_name("STORE");
  given->size.add_to(*command);
  given->style.add_to(*command);
  command->add_option("--keys", given->keys, "without --members and --queries: size of the store that is made (default: 1M)")
      ->type_name("N");
  command->add_option("--queries-count", given->queries, "and length of the log (default: 10M)")->type_name("N");
  command->add_option("--member-share", given->member_share, "and share of queries for members (default: 0.1)")
      ->type_name("SHARE");
  command->add_option("--seed", given->seed, "and seed of the workload (default: 1)")->type_name("N");
  given->files.creates_json(*command, given->json);
  given->files.creates(*command, "--html", given->html, "write a report with charts, which opens offline")->type_name("FILE|-");
  command->footer(std::string("A query goes to the filter first. \"No\" is a store read avoided; \"maybe\" reads\n"
                              "the store, and if the key is not there the filter was wrong: it is told so, if\n"
                              "it can adapt. Mistakes are counted apart by whether this filter made one on this\n"
                              "key before. The rate is 0.01 if neither --fpr nor --bits-per-key is given.\n\n"
                              "In a --log a question may end in a tab and hit or miss: what the store said.\n"
                              "Filters that grow begin with the keys of the beginning, 1000 at least, the\n"
                              "others are made for the most keys that there are at a time. With --first-sight\n"
                              "insert, --queries needs no --members.\n\n") +
                  key_help + "\n" + count_help +
                  "\n\nExamples:\n"
                  "  tamis replay --keys 10k --queries-count 200k\n"
                  "  tamis generate zipf --count 100k --out queries \\\n"
                  "    --members members --members-count 10k\n"
                  "  tamis replay --members members --queries queries --bits-per-key 10 \\\n"
                  "    --filter bloom,bloom1");
  given->files.run(*command, [given] { run(*given); });
}

}  // namespace tamis::cli
