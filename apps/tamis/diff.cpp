// tamis sums, tamis diff and tamis patch: send what changed instead of the file.

#include <memory>

#include "command_files.hpp"
#include "commands.hpp"
#include "failure.hpp"
#include "interrupt.hpp"
#include "json.hpp"
#include "numbers.hpp"
#include "printable.hpp"
#include "progress.hpp"
#include "tamis/detail/base/zeroed_array.hpp"
#include "tamis/detail/io/file.hpp"
#include "tamis/difference.hpp"

namespace tamis::cli {
namespace {

struct diff_flags {
  std::string old;
  std::string made;
  created_file patch;
  created_file json;
  command_files files;
};

struct patch_flags {
  std::string path;
  std::string patch;
  created_file json;
  command_files files;
};

struct sums_flags {
  std::string path;
  created_file sums;
  created_file json;
  command_files files;
};

// A bar, and a way out on a signal.
difference_progress shown(progress& bar) {
  return [&bar](double share) {
    stop_if_interrupted();
    bar.at(static_cast<std::uint64_t>(share * 100), std::string());
  };
}

std::uint64_t size_of(const std::string& path) { return must(detail::file_source::open(path)).remaining(); }

void write_whole(created_file& file, std::span<const std::byte> bytes) {
  must(file.write(bytes));
  stop_if_interrupted();
  file.commit();
}

void run_diff(diff_flags& given) {
  progress bar("comparing", 100);
  const std::vector<std::byte> patch = must(diff_files(given.old, given.made, shown(bar)));
  bar.clear();
  write_whole(given.patch, patch);
  const std::uint64_t made = size_of(given.made);
  output out;
  if (given.files.text_wanted()) {
    out.print("{}: {}, {} of {}\n", printable(given.patch.name()), detail::format_bytes(patch.size()),
              percent(static_cast<double>(patch.size()) / static_cast<double>(made)), printable(given.made));
  }
  write_json(given.json, {{"patch_bytes", patch.size()}, {"file_bytes", made}});
  out.flush();
}

void run_patch(patch_flags& given) {
  progress bar("patching", 100);
  const std::uint64_t before = size_of(given.path);
  must(patch_file(given.path, given.patch, shown(bar)));
  bar.clear();
  const std::uint64_t after = size_of(given.path);
  output out;
  if (given.files.text_wanted()) {
    out.print("{}: patched and verified, {}\n", printable(given.path), detail::format_bytes(after));
  }
  write_json(given.json, {{"bytes_before", before}, {"bytes", after}});
  out.flush();
}

void run_sums(sums_flags& given) {
  const std::vector<std::byte> sums = must(checksums_of_file(given.path));
  write_whole(given.sums, sums);
  output out;
  if (given.files.text_wanted()) {
    out.print("{}: {} of checksums\n", printable(given.sums.name()), detail::format_bytes(sums.size()));
  }
  write_json(given.json, {{"sums_bytes", sums.size()}, {"file_bytes", size_of(given.path)}});
  out.flush();
}

}  // namespace

void add_diff(CLI::App& tool) {
  auto given = std::make_shared<diff_flags>();
  CLI::App* command = tool.add_subcommand("diff", "what changed from one filter to another, as a patch");
  given->files.reads_filter(*command, "OLD", given->old, "the filter that the other side has, or its checksums (tamis sums)")
      ->required();
  given->files.reads_filter(*command, "NEW", given->made, "the filter that it shall have")->required();
  given->files.creates(*command, "--out", given->patch, "where to save the patch")->required();
  given->files.creates_json(*command, given->json);
  command->footer(
      "A patch holds the bits that changed: 3 to 8 bytes per new key where few are new.\n"
      "With checksums instead of OLD, blocks of 64 KiB that changed are sent whole.\n\n"
      "Example:\n"
      "  tamis create seen.tamis --filter bloom1 --capacity 1000 --fpr 0.01\n"
      "  cp seen.tamis new.tamis\n"
      "  seq 1 100 | tamis add new.tamis\n"
      "  tamis diff seen.tamis new.tamis --out changes.patch\n"
      "  tamis patch seen.tamis changes.patch\n"
      "  cmp seen.tamis new.tamis");
  given->files.run(*command, [given] { run_diff(*given); });
}

void add_patch(CLI::App& tool) {
  auto given = std::make_shared<patch_flags>();
  CLI::App* command = tool.add_subcommand("patch", "make a filter what `tamis diff` was given as NEW");
  given->files.changes_filter(*command, "FILE", given->path, "the filter, as OLD was")->required();
  given->files.reads_filter(*command, "PATCH", given->patch, "what `tamis diff` made")->required();
  given->files.creates_json(*command, given->json);
  command->footer(
      "FILE becomes NEW, byte for byte and verified by its checksums, or stays as it\nis.\n\n"
      "Example:\n"
      "  tamis create seen.tamis --filter bloom1 --capacity 1000 --fpr 0.01\n"
      "  cp seen.tamis new.tamis\n"
      "  seq 1 100 | tamis add new.tamis\n"
      "  tamis diff seen.tamis new.tamis --out changes.patch\n"
      "  tamis patch seen.tamis changes.patch");
  given->files.run(*command, [given] { run_patch(*given); });
}

void add_sums(CLI::App& tool) {
  auto given = std::make_shared<sums_flags>();
  CLI::App* command = tool.add_subcommand("sums", "the checksums of a filter, for `tamis diff`");
  given->files.reads_filter(*command, "FILE", given->path, "the filter")->required();
  given->files.creates(*command, "--out", given->sums, "where to save them: 8 bytes for each 64 KiB")->required();
  given->files.creates_json(*command, given->json);
  command->footer(
      "Whoever has them can make a patch for FILE without having FILE.\n\n"
      "Example:\n"
      "  tamis create seen.tamis --filter bloom1 --capacity 1000 --fpr 0.01\n"
      "  cp seen.tamis new.tamis\n"
      "  seq 1 100 | tamis add new.tamis\n"
      "  tamis sums seen.tamis --out seen.sums\n"
      "  tamis diff seen.sums new.tamis --out changes.patch\n"
      "  tamis patch seen.tamis changes.patch");
  given->files.run(*command, [given] { run_sums(*given); });
}

}  // namespace tamis::cli
