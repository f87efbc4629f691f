// How fast an InfiniFilter is that has grown, beside a classic quotient filter that was made for all its keys: the same number
// of slots of the same width, the same load, and no fingerprint used up yet, so that there is no secondary table. The two take
// turns; inserts take turns, too, chunk by chunk.

#include "lab/experiments/infini_common.hpp"

namespace tamis::lab {

using namespace detail;

namespace {

constexpr std::uint64_t first_slots = 1 << 12;
constexpr unsigned fingerprint = 13;             // lasts for 12 doublings
constexpr unsigned remainder = fingerprint + 1;  // a slot of infini has a bit for the age
constexpr double quotient_load = 0.9;            // to which quotient makes room
constexpr unsigned rounds = 15;
constexpr std::uint64_t round_queries = 1 << 18;
constexpr std::uint64_t chunk_keys = 1 << 12;

struct racer {
  std::string name;
  any_filter filter;
  double insert_ns = 0.0;
  std::vector<double> negative_ns = {};
  std::vector<double> positive_ns = {};
};

void insert_in_turns(std::vector<racer>& racers, std::uint64_t keys, std::uint64_t seed) {
  std::vector<digest> chunk;
  for (std::uint64_t i = 0; i < keys; i += chunk.size()) {
    chunk.resize(std::min(chunk_keys, keys - i));
    for (std::uint64_t j = 0; j < chunk.size(); ++j) chunk[j] = racers[0].filter.hash()(growth_key(growth_stored, i + j, seed));
    for (racer& r : racers) {
      r.insert_ns += ns_per_operation(keys, [&] {
        for (const digest d : chunk) use_alone(r.filter.insert(d) == insert_result::inserted);  // what is lost is missed below
      });
    }
  }
}

// Every round asks other keys. Answers how many of those that are in were missed.
std::uint64_t ask_in_turns(std::vector<racer>& racers, std::uint64_t keys, random_source random, std::uint64_t seed) {
  std::vector<digest> absent(round_queries);
  std::vector<digest> present(round_queries);
  std::uint64_t missed = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    for (digest& d : absent) d = racers[0].filter.hash()(growth_key(growth_absent, random() >> 8, seed));
    for (digest& d : present) d = racers[0].filter.hash()(growth_key(growth_stored, random.below(keys), seed));
    for (racer& r : racers) {
      const auto ask = [&r](const std::vector<digest>& asked, std::uint64_t& positives) {
        return ns_per_operation(asked.size(), [&] {
          for (const digest d : asked) {
            const bool answer = r.filter.may_contain(d);
            use_alone(answer);
            positives += answer;
          }
        });
      };
      std::uint64_t wrong = 0;
      std::uint64_t right = 0;
      r.negative_ns.push_back(ask(absent, wrong));
      r.positive_ns.push_back(ask(present, right));
      missed += present.size() - right;
    }
  }
  return missed;
}

result<table> run(const experiment_options& options) {
  const unsigned doublings = options.at(6U, 12U);
  const std::uint64_t slots = first_slots << doublings;
  const std::uint64_t keys = phase_keys(first_slots, doublings);
  TAMIS_TRY(any_filter grown, make_infini_contender({"infini", "infini", {}, fingerprint}, first_slots));
  TAMIS_TRY(any_filter made,
            any_filter::create("quotient", {.capacity = static_cast<std::uint64_t>(quotient_load * static_cast<double>(slots)),
                                            .fpr = 0.5,
                                            .options = {{"remainder", std::to_string(remainder)}}}));
  std::vector<racer> racers;
  racers.push_back({"infini", std::move(grown)});
  racers.push_back({"quotient", std::move(made)});
  random_source random = options.random();
  const std::uint64_t seed = random();
  insert_in_turns(racers, keys, seed);
  options.done(1, 2);
  if (ask_in_turns(racers, keys, random.split(), seed) != 0) return failure{"a key was lost"};
  table out({"filter", "keys"}, {"bytes", "insert_ns", "negative_ns", "positive_ns"}, summary::median);
  for (const racer& r : racers) {
    out.add({r.name, keys}, {static_cast<double>(r.filter.bits().fast) / 8.0, r.insert_ns, summarize(r.negative_ns).median,
                             summarize(r.positive_ns).median});
  }
  options.done(2, 2);
  return out;
}

std::vector<verdict> judge(const table& seen) {
  const table::row infini = row_of(seen.rows(), "filter", "infini");
  const table::row quotient = row_of(seen.rows(), "filter", "quotient");
  const auto at_most = [&](const char* column, double bound, const std::string& what) {
    const double times = infini.value(column) / quotient.value(column);
    return decide(times <= bound, what + " at most " + brief(bound) + " times the time of a quotient filter made for all keys",
                  brief(times) + " times: " + brief(infini.value(column)) + " and " + brief(quotient.value(column)) + " ns");
  };
  return {at_most("negative_ns", 1.3, "queries of keys that are not in take"),
          at_most("positive_ns", 1.3, "queries of keys that are in take"),
          at_most("insert_ns", 2.2, "inserts, all growing included, take")};
}

std::vector<chart> draw(const table& seen) {
  chart c{.name = "operations",
          .title = "InfiniFilter, grown, beside a quotient filter made for as many keys",
          .x = {.label = "operation", .names = {"insert", "negative query", "positive query"}},
          .y = {.label = "ns", .low = 0.0}};
  panel p{"", {}};
  for (const table::row& r : seen.rows()) {
    line l{r.text("filter"), r.text("filter"), mark::dots, {}};
    double x = 0;
    for (const char* column : {"insert_ns", "negative_ns", "positive_ns"}) {
      l.points.push_back({++x, r.value(column), r.error(column)});
    }
    p.lines.push_back(std::move(l));
  }
  c.panels.push_back(std::move(p));
  return {c};
}

const registered it(
    {.name = "infini-speed",
     .paper = infini_paper,
     .figures = "section 4, cost of growing",
     .claim =
         "Having grown costs little: queries and inserts are nearly those of a quotient filter made for all keys, as long as "
         "no fingerprint is used up.",
     .parameters = "from 2^12 slots to 2^24 (quick: 2^18), F = 13, load 0.8; quotient with as many slots of the same width; "
                   "rounds of 2^18 queries in turn, median of 15.",
     .agrees = "at most 1.3 times the time of quotient's queries and 2.2 times that of its inserts",
     .runs = {3, 5},
     .seconds = {0.5, 20},
     .timed = true,
     .run = run,
     .judge = judge,
     .draw = draw});

}  // namespace
}  // namespace tamis::lab
