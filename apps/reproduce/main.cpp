// tamis-reproduce, which `tamis reproduce` starts: lists and runs the experiments of the papers.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <list>
#include <memory>
#include <thread>

#include "empty_values.hpp"
#include "failure.hpp"
#include "help.hpp"
#include "interrupt.hpp"
#include "json.hpp"
#include "markdown.hpp"
#include "numbers.hpp"
#include "printable.hpp"
#include "process.hpp"
#include "report.hpp"
#include "reproduce_flags.hpp"
#include "table.hpp"
#include "work.hpp"

namespace tamis::cli {
namespace {

double estimate(const lab::experiment& e, lab::scale s) { return e.seconds.of(s) * e.runs.of(s); }

void list(reproduce_flags& given) {
  json all = json::array();
  output out;
  for (const lab::experiment& e : lab::experiments()) {
    all.push_back({{"experiment", e.name},
                   {"paper", e.paper},
                   {"figures", e.figures},
                   {"claim", e.claim},
                   {"parameters", e.parameters},
                   {"agrees", e.agrees},
                   {"seconds_quick", estimate(e, lab::scale::quick)},
                   {"seconds_paper", estimate(e, lab::scale::paper)}});
    if (!given.files.text_wanted()) continue;
    const unsigned columns = std::min(text_columns(), 80u) - 2;
    const std::string source = wrapped(e.name + "  " + e.paper + ", " + e.figures,
                                       static_cast<unsigned>(std::min<std::size_t>(line_columns(), 100)), 2);
    out.print("{}{}\n", bold(e.name), source.substr(e.name.size()));
    out.print("  {}\n", wrapped(e.claim, columns, 2));
    const std::string times = fmt::format("quick: about {}; paper: about {}", duration(estimate(e, lab::scale::quick)),
                                          duration(estimate(e, lab::scale::paper)));
    out.print("  {}\n", dim(wrapped(times, columns, 2)));
  }
  write_json(given.json, all);
  out.flush();
}

std::vector<const lab::experiment*> chosen(const std::vector<std::string>& names) {
  std::vector<const lab::experiment*> found;
  const auto add = [&found](const lab::experiment* e) {
    if (std::find(found.begin(), found.end(), e) == found.end()) found.push_back(e);
  };
  for (const std::string& name : names) {
    if (name == "all") {
      for (const lab::experiment& e : lab::experiments()) add(&e);
      continue;
    }
    const lab::experiment* e = lab::find_experiment(name);
    if (e == nullptr) fail("experiment '" + name + "'", "unknown; `tamis reproduce --list` lists them");
    add(e);
  }
  return found;
}

conditions conditions_of(const reproduce_flags& given) {
  conditions made{given.scale == "paper" ? lab::scale::paper : lab::scale::quick,
                  parse_count("--seed", given.seed, 0, ~std::uint64_t{0}), "", 0};
  std::error_code failed;
  if (!given.data.empty()) {
    if (!std::filesystem::is_directory(given.data, failed)) fail(given.data, "is not a folder that can be read");
    made.data = std::filesystem::absolute(given.data).lexically_normal().string();
  }
  if (given.log.empty()) return made;
  if (!std::filesystem::is_regular_file(given.log, failed)) fail(given.log, "is not a file that can be read");
  made.log = std::filesystem::absolute(given.log).string();
  made.log_bytes = std::filesystem::file_size(given.log, failed);
  return made;
}

std::vector<job> jobs_of(const reproduce_flags& given) {
  const std::uint64_t runs = given.runs.empty() ? 0 : parse_count("--runs", given.runs, 1, 10000);  // 0: as many as it has
  const lab::scale scale = conditions_of(given).scale;
  std::vector<job> jobs;
  for (const lab::experiment* e : chosen(given.names)) {
    jobs.push_back({e, runs == 0 ? e->runs.of(scale) : static_cast<unsigned>(runs), {}});
  }
  return jobs;
}

unsigned threads_of(const reproduce_flags& given) {
  if (given.jobs.empty()) return std::max(1u, std::thread::hardware_concurrency());
  return static_cast<unsigned>(parse_count("--jobs", given.jobs, 1, 1024));
}

std::string verdict_line(const judged& j) {
  std::size_t agree = 0;
  for (const lab::verdict& v : j.verdicts) agree += v.is == lab::outcome::agrees;
  const std::string name = j.of->of->name;
  const auto verdict = lab::word_of(lab::overall(j.verdicts));
  const std::string counts = fmt::format("{} of {} claims agree, {}", agree, j.verdicts.size(), duration(j.of->seconds()));
  const std::string line = fmt::format("{:<18} {:<22} {}\n", name, verdict, counts);
  if (line.size() <= line_columns()) return line;
  return wrapped(fmt::format("{}: {}, {}", name, verdict, counts), text_columns(), 2) + "\n";
}

class reproduction {
 public:
  // What is asked for is checked before anything is written.
  explicit reproduction(reproduce_flags& given)
      : jobs_(jobs_of(given)), threads_(threads_of(given)), given_(given), folder_(given.out, conditions_of(given)) {}

  void run() {
    say(fmt::format("{} at {} scale: about {} if nothing is there yet; finished runs are kept in {}",
                    counted(jobs_.size(), "experiment"), word_of(scale()),
                    duration(estimated_seconds(jobs_, scale(), threads_)), folder_.path("")));
    add_earlier();
    try {
      do_work(jobs_, folder_, {threads_, [this](const job& j) { completed(j); }});
    } catch (const interrupted&) {
      say("finished runs are kept; the same command goes on from there");
      throw;
    }
    finish();
  }

 private:
  lab::scale scale() const { return folder_.made_under().scale; }

  // What earlier commands have left in the folder belongs on the page too.
  void add_earlier() {
    for (const lab::experiment& e : lab::experiments()) {
      if (std::any_of(jobs_.begin(), jobs_.end(), [&e](const job& j) { return j.of == &e; })) continue;
      job j{&e, 0, {}};
      for (auto run = folder_.load(e, 0); run; run = folder_.load(e, j.runs)) {
        j.finished.push_back(std::move(run));
        ++j.runs;
      }
      if (j.runs == 0) continue;
      earlier_.push_back(std::move(j));
      done_.push_back(judge(earlier_.back()));
    }
  }

  // The page is whole after every experiment: whoever stops here has what there is.
  void completed(const job& j) {
    try {
      if (!j.failed.empty()) throw command_failure(j.failed);
      add(judge(j));
    } catch (const std::exception& error) {
      failed_.push_back({j.of->name, error.what()});
      say(j.of->name + ": " + error.what());
    }
    write_page(done_, failed_, folder_);
    folder_.write("results.json", summary().dump(1, ' ', false, json::error_handler_t::replace) + "\n");
  }

  void add(judged done) {
    write_files(done, folder_);
    if (!given_.pages.empty()) write_markdown(done, folder_.made_under(), given_.pages);
    if (given_.files.text_wanted()) {
      out_.write(verdict_line(done));
      out_.flush();
    }
    done_.push_back(std::move(done));
    std::sort(done_.begin(), done_.end(), [](const judged& a, const judged& b) { return a.of->of->name < b.of->of->name; });
  }

  json summary() const {
    json all = folder_.made_under().described();
    all["versions"] = versions_json();
    all["machine"] = this_machine_json();
    all["experiments"] = json::array();
    for (const judged& j : done_) all["experiments"].push_back(verdict_json(j));
    return all;
  }

  void finish() {
    if (given_.files.text_wanted()) out_.print("page: {}\n", printable(folder_.path("index.html")));
    write_json(given_.json, summary());
    out_.flush();
    if (!failed_.empty()) fail(failed_.front().name, "could not be run: " + failed_.front().reason);
  }

  std::vector<job> jobs_;
  std::list<job> earlier_;
  unsigned threads_;
  reproduce_flags& given_;
  results_folder folder_;
  std::vector<judged> done_;
  std::vector<failed_experiment> failed_;
  output out_;
};

int run(int argc, char** argv) {
  CLI::App tool("the papers' figures and tables, with a verdict on every claim", "tamis reproduce");
  tool.formatter(std::make_shared<help_format>());
  reproduce_flags given;
  given.add_to(tool);
  refuse_empty_values(argc, argv);
  try {
    tool.parse(argc, argv);
    refuse_empty_values(tool);
    if (!given.list && given.names.empty()) throw CLI::ParseError("name experiments, or all; --list lists them", 2);
    if (!given.list && given.out.empty()) throw CLI::ParseError("--out DIR is required", 2);
  } catch (const CLI::CallForHelp&) {
    return show(tool.help());
  } catch (const CLI::ParseError& wrong) {
    say(fmt::format("reproduce: {}", wrong.what()));
    say("see `tamis reproduce --help`");
    return 2;
  }
  given.files.open(tool);
  if (given.list) {
    list(given);
  } else {
    reproduction(given).run();
  }
  return 0;
}

}  // namespace
}  // namespace tamis::cli

int main(int argc, char** argv) { return tamis::cli::run_process(tamis::cli::run, argc, argv); }
