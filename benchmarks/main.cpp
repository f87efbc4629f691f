// The Google Benchmark binary: filters as static types, beside the cost of one random cache line and a well-known contender.
//
//   tamis_benchmark [--keys=N,…] [--bits-per-key=B] [Google Benchmark's own flags]
//
// Correctness first, then interleaved repeats; the table at the end shows medians, and ratios within this run.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <stdexcept>

#include "benchmarks/contenders.hpp"
#include "lab/measure.hpp"
#include "lab/measure/limits.hpp"

namespace tamis::benchmarks {
namespace {

constexpr std::size_t queries = 1 << 20;

// Everything of one size: keys, filled contenders, and the table of the line reads.
struct arena {
  arena(std::uint64_t size, double bits)
      : keys(lab::make_keys(size, queries, 1)),
        bits_per_key(bits),
        lines(lab::line_reads::make(static_cast<std::uint64_t>(static_cast<double>(size) * bits / 8)).value()) {}

  // Filled and checked when it is first asked for.
  const contender& filled(const recipe& from) {
    std::unique_ptr<contender>& slot = contenders[from.name];
    if (slot == nullptr) {
      slot = from.make(keys.members.size(), bits_per_key);
      slot->insert(keys.members);
      const std::size_t wrong = slot->count(keys.negatives);
      if (slot->count_many(keys.negatives) != wrong)
        throw std::runtime_error(from.name + ": single and batched answers differ");
      const std::size_t lost = keys.members.size() - slot->count_many(keys.members);
      const status checked = lab::check_answers(lost, wrong, queries, slot->expected_fpr());
      if (!checked) throw std::runtime_error(from.name + ": " + checked.message());
      rates[from.name] = static_cast<double>(wrong) / queries;
    }
    return *slot;
  }

  lab::key_sets keys;
  double bits_per_key;
  lab::line_reads lines;
  std::map<std::string, std::unique_ptr<contender>> contenders;
  std::map<std::string, double> rates;
};

// `pass` does one pass over `operations` keys and returns the nanoseconds per key.
template <class Pass>
benchmark::internal::Benchmark* add(const std::string& name, std::size_t operations, Pass pass) {
  return benchmark::RegisterBenchmark(name.c_str(),
                                      [=](benchmark::State& state) {
                                        for (auto _ : state)
                                          state.SetIterationTime(pass() * static_cast<double>(operations) * 1e-9);
                                        using benchmark::Counter;
                                        state.counters["per_key"] =
                                            Counter(static_cast<double>(operations),
                                                    Counter::kIsIterationInvariantRate | Counter::kInvert);
                                      })
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

void add_lookups(arena& a, const recipe& from, const std::string& size) {
  const auto lookup = [&a, from](const std::vector<std::uint64_t>& keys, bool many) {
    return [&a, &keys, from, many] {
      const contender& filter = a.filled(from);
      filter.count(keys);  // brings the table to where it stays
      return lab::ns_per_operation(keys.size(), [&] { many ? filter.count_many(keys) : filter.count(keys); });
    };
  };
  const bool batches = from.make(1000, a.bits_per_key)->has_batches();
  add(from.name + "|negative|" + size, queries, lookup(a.keys.negatives, false));
  add(from.name + "|positive|" + size, queries, lookup(a.keys.positives, false));
  if (!batches) return;
  add(from.name + "|negative_many|" + size, queries, lookup(a.keys.negatives, true));
  add(from.name + "|positive_many|" + size, queries, lookup(a.keys.positives, true));
}

void add_inserts(arena& a, const recipe& from, const std::string& size) {
  const auto insert = [&a, from](bool many) {
    return [&a, from, many] {
      const auto fresh = from.make(a.keys.members.size(), a.bits_per_key);
      const auto& keys = a.keys.members;
      return lab::ns_per_operation(keys.size(), [&] { many ? fresh->insert_many(keys) : fresh->insert(keys); });
    };
  };
  add(from.name + "|insert|" + size, a.keys.members.size(), insert(false))->Iterations(1);
  if (from.make(1000, a.bits_per_key)->has_batches())
    add(from.name + "|insert_many|" + size, a.keys.members.size(), insert(true))->Iterations(1);
}

// The last hundredth of the keys, and erasing all of them.
void add_cuckoo_updates(arena& a, const recipe& from, const std::string& size) {
  const lab::key_span keys = a.keys.members;
  const lab::key_span most = keys.first(keys.size() - keys.size() / 95);
  const lab::key_span last = keys.subspan(most.size());
  const auto insert_last = [&a, from, most, last](bool many) {
    return [&a, from, most, last, many] {
      const auto fresh = from.make(a.keys.members.size(), a.bits_per_key);
      fresh->insert_many(most);
      return lab::ns_per_operation(last.size(), [&] { many ? fresh->insert_many(last) : fresh->insert(last); });
    };
  };
  const auto erase = [&a, from, keys](bool many) {
    return [&a, from, keys, many] {
      const auto filled = from.make(keys.size(), a.bits_per_key);
      filled->insert_many(keys);
      return lab::ns_per_operation(keys.size(), [&] { many ? filled->erase_many(keys) : filled->erase(keys); });
    };
  };
  for (const bool many : {false, true}) {
    if (many && !from.make(1000, a.bits_per_key)->has_batches()) continue;
    const std::string suffix = many ? "_many|" : "|";
    add(from.name + "|last" + suffix + size, last.size(), insert_last(many))->Iterations(1);
    add(from.name + "|erase" + suffix + size, keys.size(), erase(many))->Iterations(1);
  }
}

// All false positives among the questions, one after the other.
void add_adaptations(arena& a, const recipe& from, const std::string& size) {
  const auto adapt = [&a, from] {
    const auto filled = from.make(a.keys.members.size(), a.bits_per_key);
    filled->insert_many(a.keys.members);
    std::vector<std::uint64_t> wrong;
    for (const std::uint64_t key : a.keys.negatives) {
      if (filled->may_contain(key)) wrong.push_back(key);
    }
    return lab::ns_per_operation(wrong.size(), [&] { filled->adapt(wrong); });
  };
  // The number of operations cancels out: what is shown is the time of one adaptation.
  add(from.name + "|adapt|" + size, queries, adapt)->Iterations(1);
}

void add_all(arena& a) {
  const std::string size = std::to_string(a.keys.members.size());
  add("line|prefetched|" + size, queries, [&a] {
    a.lines.prefetched_ns(queries);
    return a.lines.prefetched_ns(queries);
  });
  add("line|dependent|" + size, queries / 4, [&a] { return a.lines.dependent_ns(queries / 4); });
  for (const recipe& from : recipes()) {
    add_lookups(a, from, size);
    add_inserts(a, from, size);
    if (from.is_cuckoo) add_cuckoo_updates(a, from, size);
    if (from.make(1000, a.bits_per_key)->adapts()) add_adaptations(a, from, size);
  }
}

// Keeps the medians that Google Benchmark computes.
class collector final : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs) {
      const auto found = run.counters.find("per_key");
      if (run.aggregate_name != "median" || found == run.counters.end()) continue;
      std::istringstream name(run.run_name.function_name);
      std::string who, what, size;
      std::getline(name, who, '|'), std::getline(name, what, '|'), std::getline(name, size, '|');
      medians[size][who][what] = found->second.value * 1e9;
    }
  }

  std::map<std::string, std::map<std::string, std::map<std::string, double>>> medians;
};

void print_cell(const std::map<std::string, double>& row, const char* what, double base, bool base_over_this) {
  const auto found = row.find(what);
  if (found == row.end()) {
    std::printf("%16s", "-");
  } else if (base > 0) {
    std::printf("%9.2f (%4.2f)", found->second, base_over_this ? base / found->second : found->second / base);
  } else {
    std::printf("%16.2f", found->second);
  }
}

using medians_of_size = std::map<std::string, std::map<std::string, double>>;

void print_rows(arena& a, medians_of_size& rows, bool cuckoos, const std::vector<const char*>& columns) {
  const auto all = recipes();
  const auto shown = [&](const recipe& r) { return r.is_cuckoo == cuckoos && rows.contains(r.name); };
  if (std::none_of(all.begin(), all.end(), shown)) return;
  std::printf("%-24s", "");
  for (const char* column : columns) std::printf("%16s", column);
  std::printf("%10s\n", "fpr");
  for (const recipe& from : all) {
    if (!shown(from)) continue;
    std::printf("%-24s", from.name.c_str());
    for (const char* what : columns) {
      const std::string name = what;
      const bool many = name.ends_with("_many");
      const std::string single = many ? name.substr(0, name.size() - 5) : name;
      const double single_base = rows.contains(from.baseline) ? rows[from.baseline][single] : 0.0;
      const double line = rows.contains("line") ? rows["line"]["prefetched"] : 0.0;
      print_cell(rows[from.name], what, many && !cuckoos ? line : single_base, cuckoos);
    }
    std::printf("%9.3f%%\n", a.rates[from.name] * 100);
  }
}

void print_table(arena& a, std::map<std::string, std::map<std::string, double>>& rows) {
  const auto base = [&](const char* who, const char* what) { return rows.contains(who) ? rows[who][what] : 0.0; };
  const double line = base("line", "prefetched");
  std::printf("\n%zu keys, %.2f bits per key. One random cache line: prefetched %.2f ns, dependent %.2f ns.\n",
              a.keys.members.size(), a.bits_per_key, line, base("line", "dependent"));
  std::printf(
      "ns per key; in brackets: single ones over split-block's, batched ones (many) over the prefetched line read;\n"
      "of cuckoo filters (cf12: the textbook one): the time of cf12's single operation over this one's\n");
  print_rows(a, rows, false, {"insert", "insert_many", "negative", "negative_many", "positive", "positive_many"});
  print_rows(a, rows, true,
             {"insert", "insert_many", "last", "last_many", "negative", "negative_many", "positive", "positive_many", "erase",
              "erase_many", "adapt"});
}

int run(int argc, char** argv) {
  std::string sizes = "1048576,16777216";
  double bits_per_key = 32.0 / 3;
  std::vector<char*> passed = {argv[0]};
  // Ours first, so that the caller's win.
  std::string defaults[] = {"--benchmark_repetitions=7", "--benchmark_enable_random_interleaving=true",
                            "--benchmark_report_aggregates_only=true", "--benchmark_min_time=0.02"};
  for (std::string& flag : defaults) passed.push_back(flag.data());
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag.starts_with("--keys=")) {
      sizes = flag.substr(7);
    } else if (flag.starts_with("--bits-per-key=")) {
      bits_per_key = std::atof(argv[i] + 15);
    } else {
      passed.push_back(argv[i]);
    }
  }
  std::map<std::string, std::unique_ptr<arena>> arenas;
  std::istringstream list(sizes);
  for (std::string size; std::getline(list, size, ',');) {
    const std::uint64_t keys = std::strtoull(size.c_str(), nullptr, 10);
    if (keys == 0 || bits_per_key <= 0) throw std::runtime_error("--keys and --bits-per-key take positive numbers");
    arenas[size] = std::make_unique<arena>(keys, bits_per_key);
    add_all(*arenas[size]);
  }
  int count = static_cast<int>(passed.size());
  benchmark::Initialize(&count, passed.data());
  if (benchmark::ReportUnrecognizedArguments(count, passed.data())) return 2;
  collector seen;
  benchmark::RunSpecifiedBenchmarks(&seen);
  for (auto& [size, rows] : seen.medians) print_table(*arenas.at(size), rows);
  return 0;
}

}  // namespace
}  // namespace tamis::benchmarks

int main(int argc, char** argv) {
  try {
    return tamis::benchmarks::run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "tamis_benchmark: %s\n", e.what());
    return 1;
  }
}
