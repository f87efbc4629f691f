// tamis info: what a saved filter is and holds. Reading it checks it whole, so what is shown is sound.

#include <memory>

#include "command_files.hpp"
#include "commands.hpp"
#include "filter_file.hpp"
#include "fix_use.hpp"
#include "numbers.hpp"
#include "printable.hpp"
#include "tamis/detail/base/zeroed_array.hpp"
#include "terminal.hpp"

namespace tamis::cli {

using namespace detail;

namespace {

struct info_flags {
  std::string path;
  created_file json;
  command_files files;
};

std::string hash_text(const hash_identity& hash) {
  if (hash.family == hash_family::fast) return fmt::format("fast, seed {:x}", hash.seed);
  if (hash.family == hash_family::custom) return fmt::format("'{}', of another program", printable(hash.name));
  return "keyed; the secret is not in the file";
}

std::string memory_text(const any_filter& filter) {
  const memory_bits bits = filter.bits();
  std::string text = format_bytes(bits.fast / 8);
  if (bits.slow != 0) text += ", and " + format_bytes(bits.slow / 8) + " of slow memory";
  return text;
}

std::string mistakes_text(const list_use& list) {
  return fmt::format("{} of {} entries in use, {} of the memory", grouped(list.in_use), grouped(list.entries),
                     format_bytes(list.bits / 8));
}

std::string fixes_text(const fix_use& use, std::uint64_t memory) {
  std::string text = fmt::format("{} entries lengthened, {} of the memory ({})", grouped(use.fixes), format_bytes(use.bits / 8),
                                 percent(static_cast<double>(use.bits) / static_cast<double>(memory)));
  if (use.over_budget) text += fmt::format("; {} over the budget", percent(*use.over_budget));
  return text;
}

std::string bits_per_key_text(const any_filter& filter) {
  const std::string made_for = fmt::format("{:.2f} when it holds its capacity", bits_per_key(filter, filter.capacity()));
  if (filter.keys() == 0) return made_for;
  return fmt::format("{:.2f} now, {}", bits_per_key(filter, filter.keys()), made_for);
}

void print(const std::string& path, const filter_file& file, output& out) {
  const any_filter& filter = file.filter;
  constexpr unsigned name_columns = 17;
  const std::size_t columns = line_columns();
  const auto line = [&](const std::string& name, const std::string& text) {
    if (columns >= name_columns + text.size()) {
      out.print("{}{}\n", dim(fmt::format("{:{}}", name, name_columns)), text);
    } else {
      out.print("{}\n  {}\n", dim(name), wrapped(text, static_cast<unsigned>(columns) - 2, 2));
    }
  };
  std::string options;
  for (const auto& [name, value] : filter.settings()) options += (options.empty() ? "" : ", ") + name + "=" + value;
  const double load = static_cast<double>(filter.keys()) / static_cast<double>(filter.capacity());
  line("file", printable(path) + ", " + format_bytes(file.bytes));
  line("filter", std::string(filter.info().id) + ": " + std::string(filter.info().summary));
  line("options", options.empty() ? "none" : options);
  line("keys", grouped(filter.keys()));
  line("capacity", grouped(filter.capacity()));
  line("load", percent(load));
  line("memory", memory_text(filter));
  line("bits per key", bits_per_key_text(filter));
  if (const auto list = list_of(filter.model())) line("known mistakes", mistakes_text(*list));
  if (const auto use = fixes_of(filter)) line("fixes", fixes_text(*use, filter.bits().fast));
  line("expected rate", percent(filter.expected_fpr()) + " false positives, as full as it is now");
  line("hash", hash_text(file.hash));
  line("format version", std::to_string(format_version));
  line("checksums", "correct");
}

void run_info(info_flags& given) {
  const filter_file file = open_filter_unkeyed(given.path);
  output out;
  if (given.files.text_wanted()) print(given.path, file, out);
  json shown = info_json(file.filter, file.hash.family);
  if (const auto use = fixes_of(file.filter)) shown["fixes"] = fixes_json(*use);
  write_json(given.json, shown);
  out.flush();
}

}  // namespace

void add_info(CLI::App& tool) {
  auto given = std::make_shared<info_flags>();
  CLI::App* command = tool.add_subcommand("info", "what a filter is and holds");
  given->files.reads_filter(*command, "FILE", given->path, "the filter; a keyed one needs no secret for this")->required();
  given->files.creates_json(*command, given->json);
  command->footer(
      "Example:\n"
      "  tamis create seen.tamis --filter bloom1 --capacity 1000 --fpr 0.01\n"
      "  seq 1 1000 | tamis add seen.tamis\n"
      "  tamis info seen.tamis");
  given->files.run(*command, [given] { run_info(*given); });
}

}  // namespace tamis::cli
