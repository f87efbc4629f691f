// tamis generate: the workloads of lab/ as key files.

#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "commands.hpp"
#include "failure.hpp"
#include "filter_file.hpp"
#include "filter_flags.hpp"
#include "interrupt.hpp"
#include "json_target.hpp"
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
  std::string out_path;
  std::string members_path;
  std::string members = "1M";
  bool nul = false;
  bool list = false;
  bool force = false;
  std::string json_path;
};

// Keys to a file, which appears when it is complete, or to standard output.
class key_writer {
 public:
  key_writer(const std::string& path, char separator, output& out) : separator_(separator), out_(out) {
    if (!path.empty() && path != "-") file_.emplace(must(file_replacement::create(path)));
  }

  void write(const lab::workload& stream, std::uint64_t id) {
    stream.append_text(id, buffer_);
    buffer_ += separator_;
    if (buffer_.size() >= flush_bytes) pass_on();
  }
  void finish() {
    pass_on();
    if (file_) must(file_->commit());
  }

 private:
  static constexpr std::size_t flush_bytes = 1 << 16;

  void pass_on() {
    stop_if_interrupted();
    if (file_) {
      must(file_->write(std::as_bytes(std::span(buffer_))));
    } else {
      out_.write(buffer_);
    }
    buffer_.clear();
  }

  char separator_;
  output& out_;
  std::optional<file_replacement> file_;
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

void list_workloads(json_target& target, output& out) {
  const unsigned columns = std::min(terminal_columns(STDOUT_FILENO), 120u);
  json list = json::array();
  for (const lab::workload_info& info : lab::workloads()) {
    json options = json::array();
    if (!target.on_stdout()) {
      out.print("{}\n  {}\n", bold(info.name), wrapped(info.summary, columns - 2, 2));
    }
    for (const lab::option_info& option : info.options) {
      const std::string range = option.range_text();
      const std::string fallback = option.default_text();
      options.push_back({{"name", option.name}, {"values", range}, {"default", fallback}, {"meaning", option.meaning}});
      if (target.on_stdout()) continue;
      const std::string text =
          fmt::format("--option {}=VALUE: {}; {} (default: {})", option.name, option.meaning, range, fallback);
      out.print("  {}\n", wrapped(text, columns - 2, 6));
    }
    list.push_back({{"workload", info.name}, {"summary", info.summary}, {"options", std::move(options)}});
  }
  target.write(list, out);
}

void generate(const generate_flags& given, json_target& target, output& out) {
  if (given.workload.empty()) throw CLI::RequiredError("WORKLOAD (or --list)");
  if (target.on_stdout() && given.out_path.empty()) {
    fail("--json -", "standard output is taken by the keys; give --out FILE or another place for the JSON");
  }
  if (!given.out_path.empty() && given.out_path == given.members_path)
    fail(given.out_path, "given for the keys and the members");
  for (const std::string& path : {given.out_path, given.members_path}) {
    if (!path.empty() && path != "-") refuse_existing(path, given.force);
  }
  if (given.members_path == "-") fail("--members -", "must be a file");
  const std::uint64_t seed = parse_count("--seed", given.seed, 0, ~std::uint64_t{0});
  const std::uint64_t members = parse_count("--members-count", given.members, 1, most_keys);
  const auto stream = must(lab::make_workload(given.workload, parse_options(given.options), seed));
  const std::uint64_t count =
      given.count.empty() ? stream->length().value_or(default_count) : parse_count("--count", given.count, 1, most_keys);
  const char separator = given.nul ? '\0' : '\n';
  key_writer keys(given.out_path, separator, out);
  if (!given.members_path.empty()) {
    key_writer member_keys(given.members_path, separator, out);
    write_members(*stream, members, member_keys);
  }
  const std::uint64_t written = write_stream(*stream, count, keys, !given.out_path.empty() || !is_terminal(STDOUT_FILENO));
  if (written < count) say(fmt::format("{}: note: the workload ends after {}", given.workload, counted(written, "key")));
  target.write(
      {{"workload", given.workload}, {"keys", written}, {"members", given.members_path.empty() ? 0 : members}, {"seed", seed}},
      out);
}

void run_generate(const generate_flags& given) {
  output out;
  json_target target(given.json_path);
  if (given.list) {
    list_workloads(target, out);
  } else {
    generate(given, target, out);
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
  command->add_option("--out", given->out_path, "file for the keys (default: standard output)")->type_name("FILE");
  command->add_option("--members", given->members_path, "file for keys that the workload never sends: members of a store")
      ->type_name("FILE");
  command->add_option("--members-count", given->members, "how many of those (default: 1M)")->type_name("N");
  command->add_flag("-0,--null", given->nul, "keys end with a NUL character, not with a line end");
  command->add_flag("--force", given->force, "replace files that exist");
  add_json_flag(*command, given->json_path);
  command->footer(std::string(count_help) +
                  "\n\nExamples:\n"
                  "  tamis generate zipf --option keys=1000 --option s=1.1 --count 5\n"
                  "  tamis generate firehose-activeset --count 100k --out queries \\\n"
                  "    --members members --members-count 10k");
  command->callback([given] { run_generate(*given); });
}

}  // namespace tamis::cli
