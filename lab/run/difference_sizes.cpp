// tamis_difference_sizes [keys=N] [filters=ID,ID] [fpr=P]: how many bytes a patch takes per new key (docs/difference.md). Every
// filter is made for the keys that it has in the end, so that the last of them find it full. Each patch is applied, and what
// comes out compared.

#include <cstdio>
#include <string>

#include "lab/measure/timing.hpp"
#include "lab/run/settings.hpp"
#include "tamis/any_filter.hpp"
#include "tamis/difference.hpp"
#include "tamis/hasher.hpp"

namespace {

using namespace tamis;

constexpr double shares[] = {0.0001, 0.001, 0.01, 0.1};

void insert(any_filter& filter, std::uint64_t first, std::uint64_t last) {
  std::vector<std::uint64_t> keys;
  for (std::uint64_t key = first; key < last; ++key) keys.push_back(key);
  if (filter.insert_many(keys) != keys.size()) std::fprintf(stderr, "%s: full\n", filter.kind().c_str());
}

struct sizes {
  std::size_t patch;
  std::size_t blocks;  // of a patch that is made with the checksums alone
  double diff_ns;
  double patch_ns;
};

sizes measure(const std::vector<std::byte>& old, const std::vector<std::byte>& made) {
  std::vector<std::byte> patch;
  std::vector<std::byte> again;
  const double diff_ns = lab::ns_per_operation(1, [&] { patch = diff_bytes(old, made).value(); });
  const double patch_ns = lab::ns_per_operation(1, [&] { again = patch_bytes(old, patch).value(); });
  const std::vector<std::byte> blocks = diff_bytes(checksums_of_bytes(old).value(), made).value();
  if (again != made || patch_bytes(old, blocks).value() != made) std::fprintf(stderr, "the patch makes another file\n");
  return {patch.size(), blocks.size(), diff_ns, patch_ns};
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t keys = 10'000'000;
  double fpr = 0.01;
  std::string filters = "bloom,bloom1,counting-bloom,cuckoo,vacuum,rsqf,cqf,quotient,exaf,infini,chain-geometric";
  if (!lab::read_settings(argc, argv, {{"keys", &keys}}, {{"fpr", &fpr}}, {{"filters", &filters}})) return 2;
  std::printf("%-16s %8s %12s %12s %10s %12s %9s %9s\n", "filter", "new", "file", "patch", "bytes/key", "by checksums",
              "diff ms", "patch ms");
  for (const std::string& id : lab::listed(filters)) {
    for (const double share : shares) {
      const auto fresh = static_cast<std::uint64_t>(static_cast<double>(keys) * share);
      any_filter filter = any_filter::create(id, {.capacity = keys, .fpr = fpr}).value();
      insert(filter, 0, keys - fresh);
      const std::vector<std::byte> old = filter.save_bytes();
      insert(filter, keys - fresh, keys);
      const std::vector<std::byte> made = filter.save_bytes();
      const sizes found = measure(old, made);
      std::printf("%-16s %7g%% %12zu %12zu %10.2f %12zu %9.0f %9.0f\n", id.c_str(), share * 100, made.size(), found.patch,
                  static_cast<double>(found.patch) / static_cast<double>(fresh), found.blocks, found.diff_ns / 1e6,
                  found.patch_ns / 1e6);
      std::fflush(stdout);
    }
  }
}
