// To adapt, or to put a cache of known mistakes in front of a filter that does not? At equal memory that depends on how many
// different absent keys are asked for, per stored key (D/n), and on the memory.

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "lab/contest.hpp"
#include "lab/experiment.hpp"

namespace tamis::lab {

using namespace detail;

namespace {

constexpr double all_ratios[] = {0.1, 0.3, 1, 3, 10, 30};  // D/n
constexpr double budgets[] = {8, 10, 12, 14};              // bits per key
constexpr unsigned times_asked = 5;                        // on average
constexpr double few = 20;                                 // mistakes: cells with fewer are drawn and not judged
constexpr const char* flat = "flat";
constexpr const char* skewed = "Zipf";

digest any_key(random_source& random) { return {random(), random()}; }

// Flat: each key five times, in random order. Zipf: so many draws, key k with a chance in proportion to 1/k.
std::vector<digest> queries(bool zipf, std::uint64_t distinct, random_source random) {
  std::vector<digest> keys(distinct);
  for (digest& d : keys) d = any_key(random);
  std::vector<digest> asked;
  asked.reserve(distinct * times_asked);
  if (!zipf) {
    for (const digest d : keys) asked.insert(asked.end(), times_asked, d);
    for (std::size_t i = asked.size(); i > 1; --i) std::swap(asked[i - 1], asked[random.below(i)]);
    return asked;
  }
  std::vector<double> sums(distinct);
  double sum = 0;
  for (std::size_t k = 0; k < distinct; ++k) sums[k] = sum += 1 / static_cast<double>(k + 1);
  while (asked.size() < distinct * times_asked) {
    const double at = static_cast<double>(random() >> 11) * 0x1p-53 * sum;
    asked.push_back(keys[static_cast<std::size_t>(std::upper_bound(sums.begin(), sums.end() - 1, at) - sums.begin())]);
  }
  return asked;
}

contest_ground ground(std::uint64_t keys, double ratio, bool zipf, random_source random) {
  contest_ground made;
  for (std::uint64_t i = 0; i < keys; ++i) {
    made.members.push_back(any_key(random));
    made.stored.insert(made.members.back());
  }
  made.distinct = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(ratio * static_cast<double>(keys)));
  made.queries = queries(zipf, made.distinct, random.split());
  return made;
}

// What a mistake costs its store: a read, and for these a range scan to adapt.
struct adaptive {
  const char* id;
  double reads_per_mistake;
};
constexpr adaptive adaptives[] = {{"taf", 2}, {"exaf", 2}, {"evergreen-fixed", 2}, {"acf-cuckooing", 1}};

// One row for everybody; who cannot be made in this memory has no figures.
status play(const contest_game& g, const char* log, double ratio, table& out) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const auto add = [&](const std::string& name, const result<score>& s, double reads) {
    out.add({log, g.bits_per_key, ratio, name},
            {s ? s->mistakes : none, s ? reads * s->mistakes : none, s ? s->slow_bits_per_key : none,
             static_cast<double>(g.played.queries.size())});
  };
  for (const adaptive& who : adaptives) add(who.id, play_adaptive(g, who.id, who.id), who.reads_per_mistake);
  for (const char* id : {"bloom", "rsqf"}) {
    const std::string name = id;
    const result<cache_scores> all = play_cached_in_hindsight(g, name, id);
    add(name, all ? result<score>(all->alone) : failure{all.message()}, 1);
    add(name + "+cache", all ? result<score>(all->with_64) : failure{all.message()}, 1);
    add(name + "+mistakes", play_listed(g, name, id), 1);
  }
  add("static-set+cache", play_static_set(g, "static-set"), 1);
  return {};
}

result<table> run(const experiment_options& options) {
  table out({"log", "bits", "ratio", "filter"}, {"mistakes", "work", "slow_bits", "queries"});
  random_source random = options.random();
  std::uint64_t done = 0;
  for (const char* log : {flat, skewed}) {
    for (const double ratio : all_ratios) {
      const contest_ground here = ground(options.at(10'000, 100'000), ratio, log == skewed, random.split());
      for (const double bits : budgets) {
        TAMIS_CHECK(play({here, here, bits}, log, ratio, out));
        options.done(++done, 2 * std::size(all_ratios) * std::size(budgets));
      }
    }
  }
  return out;
}

// ---- who wins

struct team {
  const char* name;
  const char* colour;
  std::vector<std::string> of;
};
const team plain{"no memory of mistakes: bloom or rsqf", "bloom", {"bloom", "rsqf"}};
const team cached{"bloom or rsqf + LRU cache, best share", "one", {"bloom+cache", "rsqf+cache"}};
const team listed{"bloom or rsqf + list of mistakes", "three", {"bloom+mistakes", "rsqf+mistakes"}};
const team scanning{
    "taf, exaf or evergreen-fixed: a scan for each mistake", "evergreen-fixed", {"taf", "exaf", "evergreen-fixed"}};
const team mirrored{"acf-cuckooing: a mirror in slow memory", "acf-cuckooing", {"acf-cuckooing"}};
const team fixed_set{"static set (a model) + LRU cache", "four", {"static-set+cache"}};
const team* const teams[] = {&plain, &cached, &listed, &scanning, &mirrored, &fixed_set};

std::optional<table::row> best(const row_list& cell, const team& t, std::string_view column = "work") {
  std::optional<table::row> least;
  for (const table::row& r : cell) {
    if (std::find(t.of.begin(), t.of.end(), r.text("filter")) == t.of.end() || !std::isfinite(r.value(column))) continue;
    if (!least || r.value(column) < least->value(column)) least.emplace(r);
  }
  return least;
}

row_list cell_of(const table& seen, std::string_view log, double bits, double ratio) {
  return where(where(where(seen.rows(), "log", log), "bits", setting(bits).text()), "ratio", setting(ratio).text());
}

// Work of the cache in that of the adaptive team, along D/n: above 1 adapting wins.
struct rivalry {
  std::vector<point> ratios;  // with what chance makes of them

  rivalry(const table& seen, std::string_view log, double bits, const team& adaptive) {
    for (const double ratio : all_ratios) {
      const row_list cell = cell_of(seen, log, bits, ratio);
      const auto cache = best(cell, cached);
      const auto adapts = best(cell, adaptive);
      if (!cache || !adapts || cache->value("mistakes") < few || adapts->value("mistakes") < few) continue;
      const double of = cache->value("work") / adapts->value("work");
      const auto runs = static_cast<double>(seen.runs());
      const double error = of * std::sqrt((1 / cache->value("mistakes") + 1 / adapts->value("mistakes")) / runs);
      ratios.push_back({ratio, of, error});
    }
  }
};

std::string winners(const table& seen, const team& adaptive) {
  std::string text;
  for (const char* log : {flat, skewed}) {
    for (const double bits : budgets) {
      const rivalry r(seen, log, bits, adaptive);
      if (r.ratios.empty()) continue;
      std::string at;
      for (const point& p : r.ratios) {
        if (p.y >= 1) at += (at.empty() ? "" : ", ") + brief(p.x);
      }
      text += std::string(text.empty() ? "" : "; ") + log + ", " + brief(bits) + " bits: " + (at.empty() ? "nowhere" : at);
    }
  }
  return text;
}

// `wins`: does adapting?
verdict at_budgets(const table& seen, const team& adaptive, double least, double most, bool wins, std::string claim) {
  tally held(std::move(claim));
  for (const char* log : {flat, skewed}) {
    for (const double bits : budgets) {
      if (bits < least || bits > most) continue;
      for (const point& p : rivalry(seen, log, bits, adaptive).ratios) {
        const std::string where = std::string(log) + ", " + brief(bits) + " bits, D/n = " + brief(p.x);
        wins ? held.at_least(where, p.y, 1, p.error) : held.at_most(where, p.y, 1, p.error);
      }
    }
  }
  return held.judge();
}

std::vector<verdict> judge(const table& seen) {
  tally helps("a cache, or a list of mistakes, is never worse than the same filters without, by more than chance");
  for (const char* log : {flat, skewed}) {
    for (const double bits : budgets) {
      for (const double ratio : all_ratios) {
        const row_list cell = cell_of(seen, log, bits, ratio);
        const auto without = best(cell, plain);
        const auto with = best(cell, cached);
        if (!without || !with || without->value("mistakes") < few) continue;
        helps.at_most(std::string(log) + ", " + brief(bits) + " bits, D/n = " + brief(ratio), with->value("work"),
                      without->value("work"), std::sqrt(without->value("work") / static_cast<double>(seen.runs())));
      }
    }
  }
  tally fixed("a static set with a cache, whose keys never change, makes the least work of all");
  for (const char* log : {flat, skewed}) {
    for (const double bits : budgets) {
      for (const double ratio : all_ratios) {
        const row_list cell = cell_of(seen, log, bits, ratio);
        const auto theirs = best(cell, fixed_set);
        for (const team* t : {&cached, &scanning, &mirrored}) {
          const auto other = best(cell, *t);
          if (!theirs || !other || other->value("mistakes") < few) continue;
          fixed.at_most(std::string(log) + ", " + brief(bits) + " bits, D/n = " + brief(ratio) + ", " + t->name,
                        theirs->value("work"), other->value("work"),
                        std::sqrt(other->value("work") / static_cast<double>(seen.runs())));
        }
      }
    }
  }
  std::vector<verdict> all = {
      at_budgets(seen, scanning, 0, 8, false, "at 8 bits per key the cache makes at most the work of adapting by range scans"),
      at_budgets(seen, scanning, 12, 99, true, "from 12 bits on adapting by range scans makes at most the work of the cache"),
      at_budgets(seen, mirrored, 0, 99, true, "adapting with a mirror in slow memory makes at most the work of the cache"),
      helps.judge(), fixed.judge()};
  all[1].found += ". Adapting wins at D/n: " + winners(seen, scanning);
  all[2].found += ". Adapting wins at D/n: " + winners(seen, mirrored);
  return all;
}

std::vector<chart> draw(const table& seen) {
  const axis ratio{.label = "different absent keys per stored key, D/n", .log = true};
  chart wins{.name = "who-wins",
             .title = "Work of filters with a cache, in that of filters that adapt",
             .x = ratio,
             .y = {.label = "times the work of adapting", .log = true},
             .note = "Above 1 adapting wins. Solid: adapting by range scans, which count as reads; dashed: acf-cuckooing."};
  chart work{.name = "work",
             .title = "Store reads in vain, and scans to adapt, per query",
             .x = ratio,
             .y = {.label = "reads and scans, % of the queries", .log = true, .factor = 100},
             .note = "At equal fast memory. Each absent key is asked for five times on average."};
  const char* colours[] = {"one", "two", "three", "four"};
  for (const char* log : {flat, skewed}) {
    panel p{log == flat ? "each key five times" : "Zipf", {}};
    line even{"equal", "grey", mark::dashed, {}};
    for (const double at : all_ratios) even.points.push_back({at, 1});
    for (std::size_t i = 0; i < std::size(budgets); ++i) {
      const std::string label = brief(budgets[i]) + " bits per key";
      p.lines.push_back({label, colours[i], mark::line, rivalry(seen, log, budgets[i], scanning).ratios});
      p.lines.push_back({label + ", mirror", colours[i], mark::dashed, rivalry(seen, log, budgets[i], mirrored).ratios});
    }
    p.lines.push_back(std::move(even));
    wins.panels.push_back(std::move(p));
    for (const double bits : budgets) {
      panel w{std::string(log) + ", " + brief(bits) + " bits per key", {}};
      for (const team* t : teams) {
        line of{t->name, t->colour, mark::line, {}};
        for (const double at : all_ratios) {
          const row_list cell = cell_of(seen, log, bits, at);
          if (const auto least = best(cell, *t)) of.points.push_back({at, least->value("work") / least->value("queries")});
        }
        w.lines.push_back(std::move(of));
      }
      work.panels.push_back(std::move(w));
    }
  }
  return {wins, work};
}

std::vector<page_table> tabulate(const table& seen) {
  std::vector<page_table> all;
  for (const char* log : {flat, skewed}) {
    for (const double bits : budgets) {
      page_table t{std::string(log) + ", " + brief(bits) + " bits per key: reads in vain and scans, by D/n", {"who"}, {}};
      for (const double at : all_ratios) t.head.push_back(brief(at));
      for (const team* who : teams) {
        std::vector<std::string> cells = {who->name};
        for (const double at : all_ratios) {
          const auto least = best(cell_of(seen, log, bits, at), *who);
          cells.push_back(least ? brief(least->value("work")) + " (" + least->text("filter") + ")" : "-");
        }
        t.rows.push_back(std::move(cells));
      }
      all.push_back(std::move(t));
    }
  }
  return all;
}

const registered it(
    {.name = "adapt-or-cache",
     .paper = "Comparisons (our own)",
     .figures = "to adapt, or to cache: over D/n and memory",
     .claim =
         "At equal memory, a cache of known mistakes is better than adapting by range scans where memory is short, and worse "
         "where it is not; adapting with a mirror in slow memory is better than both.",
     .parameters = "100,000 keys (quick: 10,000); 8 to 14 bits of fast memory per key; D different absent keys, 0.1 to 30 per "
                   "stored key, asked for five times each in random order, or 5 D draws by Zipf's law. Caches: LRU, entries of "
                   "64 bits, the share of the memory that is best in hindsight; lists: tamis's own, chosen on the first fifth. "
                   "A range scan to adapt counts as a read. Static set: a model of a binary fuse filter.",
     .agrees =
         "at 8 bits per key the cache wins, from 12 on adapting, with a mirror at every budget, for every D/n with 20 mistakes "
         "on both sides; where adapting wins is said",
     .runs = {2, 3},
     .seconds = {4, 150},
     .run = run,
     .judge = judge,
     .draw = draw,
     .tabulate = tabulate});

}  // namespace
}  // namespace tamis::lab
