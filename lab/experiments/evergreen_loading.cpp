// How long it takes to load a filter from a file: against reading the same bytes.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "lab/experiments/evergreen_common.hpp"

namespace tamis::lab {

using namespace detail;

namespace {

constexpr unsigned repeats = 5;
constexpr double most_ns_per_key = 4;  // 40 ms for ten million keys

const contestant kinds[] = {{"evergreen_store", "evergreen"}, {"evergreen-fixed", "evergreen-fixed"}, {"rsqf", "rsqf"}};

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
    const auto start = std::chrono::steady_clock::now();
    work();
    const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
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
    TAMIS_TRY(any_filter f, any_filter::create(who.id, {.capacity = keys, .fpr = 0.01, .options = who.options}));
    random_source random = options.random();
    for (std::uint64_t k = 0; k < keys; ++k) {
      if (f.insert(any_digest(random)) != insert_result::inserted)
        return failure{who.name + " refused key " + std::to_string(k)};
    }
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
  tally quick("loading takes at most 4 ns per key: 40 ms for ten million");
  for (const table::row& r : seen.rows()) {
    if (r.text("filter").starts_with("evergreen"))
      quick.at_most(r, 1e6 * r.value("load_ms") / r.number("keys"), most_ns_per_key);
  }
  return {quick.judge("The checksum and the validation of every block are in it.")};
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

const registered it(
    {.name = "evergreen-loading",
     .paper = evergreen_paper,
     .figures = "loading",
     .claim = "A filter is loaded at the speed of memory.",
     .parameters = "Ten million keys (quick: one), 1 %; the file is in the page cache; the shortest of five times.",
     .agrees = "at most 4 ns per key",
     .runs = {1, 3},
     .seconds = {2, 20},
     .timed = true,
     .run = run,
     .judge = judge,
     .draw = draw});

}  // namespace
}  // namespace tamis::lab
