// How long it takes to load a filter from a file: against reading the same bytes. CPU time, so that programs that take turns
// with this one do not count.

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "lab/experiments/evergreen_common.hpp"
#include "lab/measure/timing.hpp"

namespace tamis::lab {

using namespace detail;

namespace {

constexpr unsigned repeats = 9;
constexpr double most_ns_per_key = 4;  // 40 ms for ten million keys

// Those that grow begin at a thousand keys.
const contestant kinds[] = {{"evergreen_store", "evergreen"},
                            {"evergreen_growing", "evergreen", {}, false},
                            {"evergreen-fixed", "evergreen-fixed", {}, false},
                            {"rsqf", "rsqf", {}, false}};
std::uint64_t capacity_of(const contestant& who, std::uint64_t keys) { return who.id == "evergreen" ? 1000 : keys; }

status fill(any_filter& f, const contestant& who, std::uint64_t keys, random_source random) {
  memory_remote stored;
  for (std::uint64_t k = 0; k < keys; ++k) {
    const digest d = any_digest(random);
    if (who.has_remote) stored.insert(d);
    const insert_result how = who.has_remote ? f.insert(d, remote_ref(stored)) : f.insert(d);
    if (how != insert_result::inserted) return failure{who.name + " refused key " + std::to_string(k)};
  }
  return {};
}

class scratch_file {
 public:
  scratch_file() : path_((std::filesystem::temp_directory_path() / ("tamis_loading_" + std::to_string(::getpid()))).string()) {}
  ~scratch_file() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  scratch_file(const scratch_file&) = delete;
  scratch_file& operator=(const scratch_file&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// The shortest of several times, ms.
template <class Work>
double shortest(Work work) {
  double least = 0;
  for (unsigned i = 0; i < repeats; ++i) {
    const double ms = 1e-6 * ns_per_operation(1, work);
    least = i == 0 ? ms : std::min(least, ms);
  }
  return least;
}

result<table> run(const experiment_options& options) {
  table out({"filter", "keys"}, {"load_ms", "read_ms", "bytes"}, summary::median);
  const std::uint64_t keys = options.at(1'000'000, 10'000'000);
  const scratch_file file;
  for (std::size_t i = 0; i < std::size(kinds); ++i) {
    const contestant& who = kinds[i];
    TAMIS_TRY(any_filter f, any_filter::create(who.id, {.capacity = capacity_of(who, keys), .fpr = 0.01}));
    TAMIS_CHECK(fill(f, who, keys, options.random()));
    TAMIS_CHECK(f.save_file(file.path()));
    std::vector<char> bytes(std::filesystem::file_size(file.path()));
    const double read = shortest([&] {
      std::ifstream in(file.path(), std::ios::binary);
      in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    });
    std::string failed;
    const double load = shortest([&] {
      const result<any_filter> loaded = load_file(file.path());
      if (!loaded) failed = loaded.message();
    });
    if (!failed.empty()) return failure{who.name + ": " + failed};
    out.add({who.name, keys}, {load, read, static_cast<double>(bytes.size())});
    options.done(i + 1, std::size(kinds));
  }
  return out;
}

std::vector<verdict> judge(const table& seen) {
  std::vector<verdict> all;
  for (const auto& [name, label] : {std::pair{"evergreen-fixed", "evergreen made for its size"},
                                    {"evergreen_store", "evergreen that grew with a store"},
                                    {"evergreen_growing", "evergreen that grew without one"}}) {
    tally quick(std::string(label) + " is loaded in at most 4 ns per key: 40 ms for ten million");
    for (const table::row& r : where(seen.rows(), "filter", name)) {
      quick.at_most(r, 1e6 * r.value("load_ms") / r.number("keys"), most_ns_per_key);
    }
    all.push_back(
        quick.judge("The checksum and the validation of every block are in it; entries of a filter that grew without "
                    "a store have lengths of their own, which are all looked at."));
  }
  return all;
}

std::vector<chart> draw(const table& seen) {
  chart c{.name = "times",
          .title = "Loading a filter from a file in the page cache",
          .x = {.label = "", .names = {}},
          .y = {.label = "ns per key", .low = 0},
          .panels = {{"", {{"load", "evergreen", mark::dots, {}}, {"read the bytes alone", "grey", mark::dots, {}}}}}};
  for (const table::row& r : seen.rows()) {
    c.x.names.push_back(r.text("filter"));
    const auto x = static_cast<double>(c.x.names.size());
    c.panels[0].lines[0].points.push_back({x, 1e6 * r.value("load_ms") / r.number("keys")});
    c.panels[0].lines[1].points.push_back({x, 1e6 * r.value("read_ms") / r.number("keys")});
  }
  return {c};
}

std::vector<page_table> tabulate(const table& seen) {
  page_table t{"CPU time", {"filter", "ms to load", "ms to read the bytes", "MB", "GB/s"}, {}};
  for (const table::row& r : seen.rows()) {
    t.rows.push_back({r.text("filter"), brief(r.value("load_ms")), brief(r.value("read_ms")), brief(r.value("bytes") / 1e6),
                      brief(r.value("bytes") / r.value("load_ms") / 1e6)});
  }
  return {t};
}

const registered it(
    {.name = "evergreen-loading",
     .paper = evergreen_paper,
     .figures = "loading",
     .claim = "A filter is loaded at the speed of memory.",
     .parameters =
         "Ten million keys (quick: one), 1 % asked; those that grow begin at a thousand keys. The file is in the page "
         "cache; CPU time, the shortest of nine times.",
     .agrees = "at most 4 ns of CPU time per key",
     .runs = {1, 3},
     .seconds = {2, 20},
     .timed = true,
     .run = run,
     .judge = judge,
     .draw = draw,
     .tabulate = tabulate});

}  // namespace
}  // namespace tamis::lab
