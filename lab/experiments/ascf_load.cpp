// The load that cuckoo filters reach: keys go in until the first one is refused. A run fills one table of each kind.

#include <algorithm>
#include <array>

#include "lab/experiments/ascf_common.hpp"

namespace tamis::lab {

using namespace detail;

namespace {

// The load at which the first key is refused.
double load_reached(any_filter& f, const hasher& hash, double slots) {
  std::array<digest, 1024> keys;
  std::array<bool, keys.size()> in;
  for (std::uint64_t next = 0;;) {
    for (digest& d : keys) d = hash(next++);
    if (f.insert_many(keys, in) == keys.size()) continue;
    const auto first_refused = static_cast<std::uint64_t>(std::find(in.begin(), in.end(), false) - in.begin());
    return static_cast<double>(next - keys.size() + first_refused) / slots;
  }
}

// A table for `keys` keys at 0.95 with fingerprints of `width` bits.
status add_row(const char* id, std::uint64_t keys, const char* width, random_source& random, table& out) {
  const hasher hash = hasher::fast(random());
  TAMIS_TRY(any_filter f, any_filter::create(id, {.capacity = keys, .fpr = 0.999, .options = {{"fingerprint", width}}}, hash));
  out.add({id, keys, width}, {load_reached(f, hash, static_cast<double>(f.bits().fast) / std::stod(width))});
  return {};
}

result<table> run(const experiment_options& options) {
  table out({"filter", "keys", "width"}, {"load"});
  random_source random = options.random();
  for (const std::uint64_t keys : {62259u, 996147u, 1000003u}) {  // 0.95 * 2^16, 0.95 * 2^20, an odd number
    for (const char* id : {"ascf", "cuckoo", "vacuum"}) {
      for (const char* width : {"12", "8", "16"}) {
        if (keys > 100000 && width != std::string("12")) continue;  // the width hardly matters, and time does
        TAMIS_CHECK(add_row(id, keys, width, random, out));
        options.done(out.rows().size(), 15);
      }
    }
  }
  return out;
}

result<table> run_large(const experiment_options& options) {
  table out({"filter", "keys", "width"}, {"load"});
  random_source random = options.random();
  for (const char* id : {"ascf", "cuckoo", "vacuum"}) {
    TAMIS_CHECK(add_row(id, 15938355, "12", random, out));  // 0.95 * 2^24
    options.done(out.rows().size(), 3);
  }
  return out;
}

std::vector<verdict> judge(const table& seen) {
  std::size_t tables = 0;
  std::size_t below = 0;
  double least = 1;
  for (const table::row& r : seen.rows()) {
    for (const double load : r.samples("load")) {
      ++tables;
      below += load < 0.95;
      least = std::min(least, load);
    }
  }
  return {decide(
      100 * below <= tables, "a full filter holds 0.95 of its slots: at most one table in a hundred refuses a key before",
      std::to_string(below) + " of " + std::to_string(tables) + " tables refused one; the least load was " + brief(least))};
}

std::vector<chart> draw(const table& seen) {
  chart c{.name = "load", .title = "Load at which the first key is refused", .x = {.label = ""}, .y = {.label = "load"}};
  panel p{"",
          {{"mean of the tables", "one", mark::dots, {}},
           {"least", "grey", mark::dots, {}},
           {"sigma of the paper", "grey", mark::dashed, {}}}};
  double x = 0;
  for (const table::row& r : seen.rows()) {
    x += 1;
    const std::vector<double>& loads = r.samples("load");
    p.lines[0].points.push_back({x, r.value("load"), r.error("load")});
    p.lines[1].points.push_back({x, *std::min_element(loads.begin(), loads.end())});
    p.lines[2].points.push_back({x, 0.95});
    c.x.names.push_back(r.text("filter") + " " + brief(r.number("keys")) + ", " + r.text("width") + " bits");
  }
  c.panels.push_back(std::move(p));
  return {c};
}

constexpr const char* figures = "sigma of table I";
constexpr const char* claim = "A full filter holds 0.95 of its slots.";
constexpr const char* agrees = "at most one table in a hundred refuses a key below a load of 0.95";

const registered small({.name = "ascf-load",
                        .paper = ascf_paper,
                        .figures = figures,
                        .claim = claim,
                        .parameters = "tables for 62,259, 996,147 and 1,000,003 keys; fingerprints of 8, 12 and 16 bits. "
                                      "Paper: 100 tables of each; quick: 10.",
                        .agrees = agrees,
                        .runs = {10, 100},
                        .seconds = {0.7, 0.7},
                        .run = run,
                        .judge = judge,
                        .draw = draw});
const registered large({.name = "ascf-load-24",
                        .paper = ascf_paper,
                        .figures = figures,
                        .claim = claim,
                        .parameters = "tables of 2^24 slots; fingerprints of 12 bits. Paper: 100 tables of each; quick: 1.",
                        .agrees = agrees,
                        .runs = {1, 100},
                        .seconds = {4, 4},
                        .run = run_large,
                        .judge = judge,
                        .draw = draw});

}  // namespace
}  // namespace tamis::lab
