// tamis_file_speeds [keys=N] [inserted=N] [rounds=N] [folder=DIR] [filters=ID,ID]: how fast filters are saved, loaded and
// mapped, from and to the page cache, and how much memory loading takes beside the filter's own (docs/format.md). Time is that
// of the processor, so that other programs do not count; the figure is the best of the rounds. Saving does not count the sync
// of the file. Filters are made for `keys` keys, and have as many unless `inserted` says fewer: files of any size are then made
// at once.

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "lab/measure/timing.hpp"
#include "lab/run/settings.hpp"
#include "tamis/any_filter.hpp"
#include "tamis/detail/io/file.hpp"
#include "tamis/hasher.hpp"
#include "tamis/mapped.hpp"
#include "tamis/registry.hpp"

namespace {

using namespace tamis;

// The most memory of this process so far, in bytes; `forget` begins anew.
std::uint64_t most_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::strtoull(line.c_str() + 6, nullptr, 10) << 10;
  }
  return 0;
}
std::uint64_t memory_now() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::strtoull(line.c_str() + 6, nullptr, 10) << 10;
  }
  return 0;
}
void forget_memory() { std::ofstream("/proc/self/clear_refs") << "5"; }

void save(const any_filter& filter, const std::string& path) {
  auto file = detail::file_replacement::create(path).value();
  filter.save(file).value();
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t keys = 10'000'000;
  std::uint64_t in = ~std::uint64_t{0};
  std::uint64_t rounds = 5;
  std::string folder = std::filesystem::temp_directory_path();
  std::string filters;
  for (const registry_entry& entry : registry::builtin().entries()) filters.append(entry.info->id).append(",");
  if (!lab::read_settings(argc, argv, {{"keys", &keys}, {"inserted", &in}, {"rounds", &rounds}}, {},
                          {{"filters", &filters}, {"folder", &folder}}))
    return 2;
  std::printf("%-18s %8s %9s %9s %9s %10s\n", "filter", "MiB", "save GB/s", "load GB/s", "map ms", "extra MiB");
  const std::string path = folder + "/tamis_file_speeds.tamis";
  for (const std::string& id : lab::listed(filters)) {
    auto made = any_filter::create(id, {.capacity = keys, .fpr = 0.01});
    if (!made) {
      std::printf("%-18s %s\n", id.c_str(), made.message().c_str());
      continue;
    }
    std::vector<std::uint64_t> inserted(std::min(keys, in));
    for (std::uint64_t i = 0; i < inserted.size(); ++i) inserted[i] = i;
    static_cast<void>(made->insert_many(inserted));
    inserted = {};
    made->save_file(path).value();
    const auto bytes = static_cast<double>(std::filesystem::file_size(path));
    double saved = 1e300;
    double loaded = 1e300;
    double mapped = 1e300;
    for (std::uint64_t round = 0; round < rounds; ++round) {
      saved = std::min(saved, lab::ns_per_operation(1, [&] { save(*made, path + ".copy"); }));
    }
    made = failure{"done"};
    std::uint64_t extra = ~std::uint64_t{0};
    for (std::uint64_t round = 0; round < rounds; ++round) {
      forget_memory();
      const double ns = lab::ns_per_operation(1, [&] {
        const any_filter again = load_file(path).value();
        const std::uint64_t most = most_memory();
        extra = std::min(extra, most - std::min(most, memory_now()));
      });
      loaded = std::min(loaded, ns);
      for (unsigned i = 0; i < 30; ++i) {  // short, and the first ones find caches that loading has filled
        mapped = std::min(mapped, lab::ns_per_operation(1, [&] { static_cast<void>(open_mapped(path).value()); }));
      }
    }
    std::printf("%-18s %8.1f %9.2f %9.2f %9.3f %10.1f\n", id.c_str(), bytes / (1 << 20), bytes / saved, bytes / loaded,
                mapped / 1e6, static_cast<double>(extra) / (1 << 20));
    std::fflush(stdout);
  }
  std::filesystem::remove(path);
}
