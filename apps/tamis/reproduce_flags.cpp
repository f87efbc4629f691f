#include "reproduce_flags.hpp"

namespace tamis::cli {

void reproduce_flags::add_to(CLI::App& tool) {
  tool.add_option("EXPERIMENT", names, "experiments, or all");
  tool.add_flag("--list", list, "list the experiments and what their papers claim");
  tool.add_option("--scale", scale, "quick: minutes; paper: the papers' sizes, hours")
      ->type_name("quick|paper")
      ->check(CLI::IsMember({"quick", "paper"}).description(""));
  files.fills(tool, "--out", out, "folder for data, charts and page; one scale and seed each");
  files.fills(tool, "--pages", pages, "also write a page in Markdown for each experiment, with its charts, here");
  tool.add_option("--runs", runs, "runs of each experiment (default: its own number)")->type_name("N");
  tool.add_option("--seed", seed, "of all random numbers (default: 1)")->type_name("N");
  files.reads_keys(tool, "--log", log, "keys, one per line, or a capture, in place of synthetic traces; may be compressed");
  files.reads_folder(tool, "--data", data, "folder of key lists and logs, for experiments that take several");
  tool.add_option("--jobs", jobs, "runs at the same time, but for those that measure speed (default: one per core)")
      ->type_name("N");
  files.creates_json(tool, json);
  tool.footer(
      "Runs experiments of the five papers and compares what comes out with what they\n"
      "say: DIR/index.html has a verdict on every claim and the charts, and beside it\n"
      "are the data (CSV, JSON with every run) and the charts (SVG). A command that was\n"
      "stopped goes on where it was: finished runs are kept.\n\n"
      "Examples:\n  tamis reproduce --list\n  tamis reproduce ascf-sizes acf-omega --out results");
}

}  // namespace tamis::cli
