// The picture of the README: a set grows a thousandfold behind filters that were made for its beginning and a rate of 1 %.

#include <bit>

#include "lab/experiments/evergreen_common.hpp"

namespace tamis::lab {

using namespace detail;

namespace {

constexpr std::uint64_t first_keys = 1024;
constexpr std::uint64_t last_keys = first_keys << 10;
constexpr double asked_rate = 0.01;

struct grower {
  contestant who;
  std::uint64_t made_for;
  const char* label;
  const char* colour;
  mark as = mark::line;
};

// Everybody by default, but for the size that it is made for.
const std::vector<grower>& growers() {
  static const std::vector<grower> all = {
      {{"bloom", "bloom", {}, false}, first_keys, "bloom, made for 1,024 keys", "bloom"},
      {{"bloom_final", "bloom", {}, false}, last_keys, "bloom, made for 1,048,576 keys", "bloom/2", mark::dashed},
      {{"chain_geometric", "chain-geometric", {}, false}, first_keys, "chain of quotient filters", "chain-geometric"},
      {{"infini", "infini", {}, false}, first_keys, "InfiniFilter", "infini"},
      {{"evergreen", "evergreen", {{"fingerprints", "fixed"}}, true},
       first_keys,
       "evergreen, in front of a store",
       "evergreen"}};
  return all;
}

// Two points per doubling.
status grow(contest_filter f, std::uint64_t questions, const experiment_options& options, table& out) {
  random_source random = options.random();
  random_source strangers = random.split();
  memory_remote stored;
  std::uint64_t keys = 0;
  for (std::uint64_t until = first_keys; until <= last_keys; until += std::bit_floor(until) / 2) {
    for (; keys < until; ++keys) {
      const digest d = any_digest(random);
      if (f.has_remote()) stored.insert(d);
      if (!f.insert(d, stored)) return failure{f.name() + " refused key " + std::to_string(keys)};
    }
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < questions; ++i) wrong += f.filter().may_contain(any_digest(strangers));
    out.add({f.name(), keys},
            {static_cast<double>(wrong) / static_cast<double>(questions), f.bits_per_key(), static_cast<double>(questions)});
  }
  return {};
}

result<table> run(const experiment_options& options) {
  table out({"filter", "keys"}, {"rate", "bits_per_key", "questions"});
  for (std::size_t i = 0; i < growers().size(); ++i) {
    const grower& g = growers()[i];
    TAMIS_TRY(any_filter f,
              any_filter::create(g.who.id, {.capacity = g.made_for, .fpr = asked_rate, .options = g.who.options}));
    TAMIS_CHECK(grow(contest_filter(g.who, std::move(f)), options.at(100'000U, 1'000'000U), options, out));
    options.done(i + 1, growers().size());
  }
  return out;
}

row_list of(const table& seen, const char* filter) { return where(seen.rows(), "filter", filter); }

verdict keeps_rate(const table& seen, const char* filter, const char* label) {
  tally held(std::string(label) + " keeps the rate of 1 % at every size, or has less");
  for (const table::row& r : of(seen, filter)) {
    held.at_most(r, r.value("rate"), asked_rate,
                 std::sqrt(asked_rate / r.value("questions") / static_cast<double>(seen.runs())));
  }
  return held.judge("");
}

std::vector<verdict> judge(const table& seen) {
  const auto last = [&](const char* filter, std::string_view column) { return of(seen, filter).back().value(column); };
  return {decide(last("bloom", "rate") > 0.9,
                 "a Bloom filter that a set has outgrown a thousandfold says \"maybe\" to nearly everything",
                 brief(100 * last("bloom", "rate")) + " % in the end"),
          keeps_rate(seen, "chain_geometric", "the chain"), keeps_rate(seen, "infini", "InfiniFilter"),
          keeps_rate(seen, "evergreen", "evergreen with a store"),
          decide(last("evergreen", "bits_per_key") <
                     std::min(last("infini", "bits_per_key"), last("chain_geometric", "bits_per_key")),
                 "in the end evergreen with a store needs the fewest bits per key of those that grow",
                 brief(last("evergreen", "bits_per_key")) + ", InfiniFilter " + brief(last("infini", "bits_per_key")) +
                     ", the chain " + brief(last("chain_geometric", "bits_per_key")))};
}

panel lines_of(const table& seen, std::string_view column) {
  panel p;
  for (const grower& g : growers())
    p.lines.push_back({g.label, g.colour, g.as, points_of(of(seen, g.who.name.c_str()), "keys", column)});
  return p;
}

std::vector<chart> draw(const table& seen) {
  const axis keys{.label = "keys", .log = true};
  return {{.name = "rates",
           .title = "False positives while a set grows a thousandfold; asked for: 1 %",
           .x = keys,
           .y = {.label = "false positives, %", .log = true, .factor = 100, .low = 0.05},
           .panels = {lines_of(seen, "rate")}},
          {.name = "space",
           .title = "Memory meanwhile",
           .x = keys,
           .y = {.label = "bits per key", .log = true},
           .panels = {lines_of(seen, "bits_per_key")}}};
}

std::vector<page_table> tabulate(const table& seen) {
  page_table t{"At the first and at the last size",
               {"", "false positives at 1,024 keys", "at 1,048,576", "bits per key at 1,024", "at 1,048,576"},
               {}};
  for (const grower& g : growers()) {
    const row_list rows = of(seen, g.who.name.c_str());
    const auto percent = [](const table::row& r) { return brief(100 * r.value("rate")) + " %"; };
    t.rows.push_back({g.label, percent(rows.front()), percent(rows.back()), brief(rows.front().value("bits_per_key")),
                      brief(rows.back().value("bits_per_key"))});
  }
  return {t};
}

const registered it(
    {.name = "growth-thousandfold",
     .paper = evergreen_paper,
     .figures = "the picture of the README",
     .claim = "A filter that grows keeps its rate while a set grows a thousandfold; a Bloom filter does not.",
     .parameters =
         "From 2^10 to 2^20 keys, filters by default, made for the first size and a rate of 1 %, one Bloom filter for "
         "the last size; 1,000,000 new questions (quick: 100,000) at each of two points per doubling. evergreen "
         "has a store that it may ask; nobody is told of mistakes.",
     .agrees = "at every size at most 1 % for those that grow; above 90 % in the end for the Bloom filter made for the first "
               "size; the fewest bits per key in the end for evergreen",
     .runs = {1, 3},
     .seconds = {2, 20},
     .run = run,
     .judge = judge,
     .draw = draw,
     .tabulate = tabulate});

}  // namespace
}  // namespace tamis::lab
