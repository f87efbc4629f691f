// tamis bench: speed, size and rate of filters, measured in one run and compared with a baseline. What is measured, and how, is
// said in lab/measure.hpp.

#include <algorithm>
#include <memory>

#include "bench_report.hpp"
#include "bench_threads.hpp"
#include "command_files.hpp"
#include "commands.hpp"
#include "failure.hpp"
#include "filter_flags.hpp"
#include "interrupt.hpp"
#include "numbers.hpp"
#include "progress.hpp"

namespace tamis::cli {
namespace {

struct bench_flags {
  std::string filters;
  std::string keys = "1M";
  size_flags size;
  std::string repeats = "5";
  std::string baseline;
  std::string threads;
  created_file json;
  command_files files;
};

// The options of one filter: those that begin with its name and a dot, and those without a dot that it knows.
option_list options_for(const std::string& kind, const option_list& given) {
  const std::string prefix = kind + ".";
  option_list own;
  for (const auto& [name, value] : given) {
    if (name.starts_with(prefix)) {
      own.emplace_back(name.substr(prefix.size()), value);
    } else if (has_option(kind, name)) {
      own.emplace_back(name, value);
    }
  }
  return own;
}

std::vector<lab::contender> contenders_of(const bench_flags& given, std::uint64_t keys) {
  filter_params params = given.size.params(keys);
  if (!given.size.any_size()) params.fpr = 0.01;
  const option_list options = params.options;
  std::vector<lab::contender> contenders;
  for (const std::string& kind : parse_kinds(given.filters)) {
    params.options = options_for(kind, options);
    contenders.push_back({kind, params});
  }
  for (const auto& [name, value] : options) {
    const auto takes = [&asked = name](const lab::contender& c) {
      const auto same = [&](const auto& own) { return asked == own.first || asked == c.id + "." + own.first; };
      return std::any_of(c.params.options.begin(), c.params.options.end(), same);
    };
    if (std::none_of(contenders.begin(), contenders.end(), takes))
      fail("--option '" + name + "'", "none of the filters has it");
  }
  return contenders;
}

std::size_t baseline_of(const bench_flags& given, const std::vector<lab::contender>& contenders) {
  if (given.baseline.empty()) return 0;
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    if (contenders[i].id == given.baseline) return i;
  }
  fail("--baseline '" + given.baseline + "'", "it is not one of the filters that are measured");
}

void run_threads(bench_flags& given) {
  if (!given.baseline.empty()) fail("--baseline", "with --threads, ratios are to the bare filter in one thread");
  lab::thread_options options{.keys = parse_count("--keys", given.keys, 1, std::uint64_t{1} << 36),
                              .threads = static_cast<unsigned>(parse_count("--threads", given.threads, 1, 1024)),
                              .repeats = static_cast<unsigned>(parse_count("--repeats", given.repeats, 1, 1000))};
  const std::vector<lab::contender> contenders = contenders_of(given, options.keys);
  lab::thread_report report;
  {
    constexpr std::uint64_t work = 1000;
    progress bar("measuring", work);
    options.progress = [&](double share) {
      stop_if_interrupted();
      const auto done = static_cast<std::uint64_t>(share * work);
      bar.at(done, done);
    };
    report = must(lab::bench_threads(contenders, options));
  }
  output out;
  if (given.files.text_wanted()) print_threads(report, options, out);
  write_json(given.json, threads_json(report, options));
  out.flush();
}

void run_bench(bench_flags& given) {
  if (!given.threads.empty()) return run_threads(given);
  lab::bench_options options{.keys = parse_count("--keys", given.keys, 1, std::uint64_t{1} << 36),
                             .repeats = static_cast<unsigned>(parse_count("--repeats", given.repeats, 1, 1000))};
  const std::vector<lab::contender> contenders = contenders_of(given, options.keys);
  const std::size_t baseline = baseline_of(given, contenders);
  lab::bench_report report;
  {
    const std::uint64_t work = options.keys * contenders.size() * (options.repeats + 1);
    progress bar("measuring", work);
    options.progress = [&](double share) {
      stop_if_interrupted();
      const auto done = static_cast<std::uint64_t>(share * static_cast<double>(work));
      bar.at(done, done);
    };
    report = must(lab::bench(contenders, options));
  }
  const bench_result result{report, options, baseline};
  output out;
  if (given.files.text_wanted()) print_bench(result, out);
  write_json(given.json, bench_json(result));
  out.flush();
}

}  // namespace

void add_bench(CLI::App& tool) {
  auto given = std::make_shared<bench_flags>();
  CLI::App* command = tool.add_subcommand("bench", "speed, size and rate of filters, measured in one run");
  command->add_option("--filter", given->filters, "filters to measure: ID, ID+mistakes (default: every ID)")
      ->type_name("ID[,ID...]");
  command->add_option("--keys", given->keys, "keys that each filter holds (default: 1M)")->type_name("N");
  given->size.add_to(*command);
  command->add_option("--repeats", given->repeats, "the median of so many is shown (default: 5)")->type_name("R");
  command->add_option("--baseline", given->baseline, "ratios are to this filter (default: the first)")->type_name("ID");
  command->add_option("--threads", given->threads, "measure 1, 2, 4 to N threads that share a filter")->type_name("N");
  given->files.creates_json(*command, given->json);
  command->footer(std::string("Answers are checked before anything is timed. Times are nanoseconds per key,\n"
                              "hash of a 64-bit key included; compare them within one run only. An option goes\n"
                              "to every filter that knows it, or to one: --option bloom1.word=64. The rate is\n"
                              "0.01 if neither --fpr nor --bits-per-key is given. A list of known mistakes is\n"
                              "full while lookups are timed, of keys that are not asked for.\n\n"
                              "With --threads: lookups, inserts, and lookups beside a writer, of the bare\n"
                              "filter, of one shared_mutex around it and of a concurrent_filter; and how long\n"
                              "single lookups take while a filter that can grow does.\n\n") +
                  count_help + "\n\nExamples:\n  tamis bench --keys 10k --repeats 3\n" +
                  "  tamis bench --filter bloom,bloom1 --keys 100k --bits-per-key 10 \\\n    --baseline bloom1\n" +
                  "  tamis bench --filter cuckoo --keys 10k --repeats 3 --threads 2");
  given->files.run(*command, [given] { run_bench(*given); });
}

}  // namespace tamis::cli
