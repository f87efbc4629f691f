// tamis generate: the workloads of lab/ as key files.

#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "command_files.hpp"
#include "commands.hpp"
#include "failure.hpp"
#include "filter_file.hpp"
#include "filter_flags.hpp"
#include "interrupt.hpp"
#include "json.hpp"
#include "lab/workload.hpp"
#include "numbers.hpp"
#include "progress.hpp"
#include "terminal.hpp"

namespace tamis::cli {
namespace {

constexpr std::uint64_t most_keys = std::uint64_t{1} << 48;
constexpr std::uint64_t default_count = 1'000'000;  // of streams without an end

struct generate_flags {
  std::string workload;
  std::string count;
  std::vector<std::string> options;
  std::string seed = "1";
  created_file out;
  created_file members_out;
  std::string members = "1M";
  bool nul = false;
  bool list = false;
  created_file json;
  command_files files;
};

// Keys to a file, which appears when it is complete, or to standard output.
class key_writer {
 public:
  key_writer(created_file& file, char separator, output& out) : separator_(separator), file_(file), out_(out) {}

  void write(const lab::workload& stream, std::uint64_t id) {
    stream.append_text(id, buffer_);
    buffer_ += separator_;
    if (buffer_.size() >= flush_bytes) pass_on();
  }
  void finish() {
    pass_on();
    if (file_.wanted()) file_.commit();
  }

 private:
  static constexpr std::size_t flush_bytes = 1 << 16;

  void pass_on() {
    stop_if_interrupted();
    if (file_.wanted()) {
      file_.write(buffer_);
    } else {
      out_.write(buffer_);
    }
    buffer_.clear();
  }

  char separator_;
  created_file& file_;
  output& out_;
  std::string buffer_;
};

std::uint64_t write_stream(lab::workload& stream, std::uint64_t count, key_writer& keys, bool show_progress) {
  progress bar("generating", count, show_progress);
  std::array<std::uint64_t, 4096> ids{};
  std::uint64_t written = 0;
  while (written < count) {
    const std::size_t want = std::min<std::uint64_t>(ids.size(), count - written);
    const std::size_t got = stream.next(std::span(ids).first(want));
    for (const std::uint64_t id : std::span(ids).first(got)) keys.write(stream, id);
    written += got;
    bar.at(written, written);
    if (got < want) break;
  }
  keys.finish();
  return written;
}

void write_members(const lab::workload& stream, std::uint64_t count, key_writer& keys) {
  progress bar("members", count);
  for (std::uint64_t i = 0; i < count; ++i) {
    keys.write(stream, stream.outsider(i));
    if (i % 4096 == 0) bar.at(i, i);
  }
  keys.finish();
}

void list_workloads(generate_flags& given, output& out) {
  const unsigned columns = text_columns();
  const bool shown = given.files.text_wanted();
  json list = json::array();
  for (const lab::workload_info& info : lab::workloads()) {
    json options = json::array();
    if (shown) {
      out.print("{}\n  {}\n", bold(info.name), wrapped(info.summary, columns - 2, 2));
    }
    for (const lab::option_info& option : info.options) {
      const std::string range = option.range_text();
      const std::string fallback = option.default_text();
      options.push_back({{"name", option.name}, {"values", range}, {"default", fallback}, {"meaning", option.meaning}});
      if (!shown) continue;
      const std::string text =
          fmt::format("--option {}=VALUE: {}; {} (default: {})", option.name, option.meaning, range, fallback);
      out.print("  {}\n", wrapped(text, columns - 2, 6));
    }
    list.push_back({{"workload", info.name}, {"summary", info.summary}, {"options", std::move(options)}});
  }
  write_json(given.json, list);
}

void generate(generate_flags& given, output& out) {
  if (given.workload.empty()) throw CLI::RequiredError("WORKLOAD (or --list)");
  if (!given.out.wanted() && !given.files.text_wanted()) {
    fail(given.json.on_stdout() ? "--json " + given.json.name() : "--members " + given.members_out.name(),
         "standard output is taken by the keys; give --out FILE, or another place for this");
  }
  const std::uint64_t seed = parse_count("--seed", given.seed, 0, ~std::uint64_t{0});
  const std::uint64_t members = parse_count("--members-count", given.members, 1, most_keys);
  const auto stream = must(lab::make_workload(given.workload, parse_options(given.options), seed));
  const std::uint64_t count =
      given.count.empty() ? stream->length().value_or(default_count) : parse_count("--count", given.count, 1, most_keys);
  const char separator = given.nul ? '\0' : '\n';
  key_writer keys(given.out, separator, out);
  if (given.members_out.wanted()) {
    key_writer member_keys(given.members_out, separator, out);
    write_members(*stream, members, member_keys);
  }
  const bool on_terminal = (!given.out.wanted() || given.out.on_stdout()) && is_terminal(STDOUT_FILENO);
  const std::uint64_t written = write_stream(*stream, count, keys, !on_terminal);
  if (written < count) say(fmt::format("{}: note: the workload ends after {}", given.workload, counted(written, "key")));
  write_json(
      given.json,
      {{"workload", given.workload}, {"keys", written}, {"members", given.members_out.wanted() ? members : 0}, {"seed", seed}});
}

void run_generate(generate_flags& given) {
  output out;
  if (given.list) {
    list_workloads(given, out);
  } else {
    generate(given, out);
  }
  out.flush();
}

std::string names_of_workloads() {
  std::string names;
  for (const lab::workload_info& info : lab::workloads()) names += (names.empty() ? "" : ", ") + std::string(info.name);
  return names;
}

}  // namespace

void add_generate(CLI::App& tool) {
  auto given = std::make_shared<generate_flags>();
  CLI::App* command = tool.add_subcommand("generate", "write a workload as a file of keys");
  command->add_option("WORKLOAD", given->workload, names_of_workloads());
  command->add_flag("--list", given->list, "explain the workloads and their options");
  command->add_option("--count", given->count, "keys to write (default: 1M, or all if the workload ends)")->type_name("N");
  command->add_option("--option", given->options, "option of the workload; may be given several times")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command->add_option("--seed", given->seed, "the same seed gives the same keys everywhere (default: 1)")->type_name("N");
  given->files.creates(*command, "--out", given->out, "file for the keys (default: standard output)");
  given->files.creates(*command, "--members", given->members_out,
                       "file for keys that the workload never sends: members of a store");
  command->add_option("--members-count", given->members, "how many of those (default: 1M)")->type_name("N");
  command->add_flag("-0,--null", given->nul, "keys end with a NUL character, not with a line end");
  given->files.creates_json(*command, given->json);
  command->footer(std::string(count_help) +
                  "\n\nExamples:\n"
                  "  tamis generate zipf --option keys=1000 --option s=1.1 --count 5\n"
                  "  tamis generate firehose-activeset --count 100k --out queries \\\n"
                  "    --members members --members-count 10k");
  given->files.run(*command, [given] { run_generate(*given); });
}

}  // namespace tamis::cli
