// What lookups of the quotient family cost once filters have adapted: rsqf, taf, utaf, exaf and a textbook quotient filter as
// static types, in one run.
//
//   tamis_adaptive [--slots=N] [--remainders=8,12,16] [--loads=0.5,0.8,0.95] [--adapted=0,1,10,50] [--repeats=7]
//   valgrind --tool=callgrind --instr-atstart=no tamis_adaptive --count=1 --slots=65536 …
//
// --adapted is how many different negatives per slot the filters were asked, and told of when they were wrong. Answers are
// checked first: no member lost, and what was fixed without a reset since is still refused as often as chance allows. With
// --count=1 every loop runs once and callgrind is told to write what it has counted:
//   grep -hE '^(desc: Trigger|totals)' callgrind.out.*

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "benchmarks/textbook_quotient.hpp"
#include "lab/measure/timing.hpp"
#include "tamis/batch.hpp"
#include "tamis/detail/base/random.hpp"
#include "tamis/filters/exaf.hpp"
#include "tamis/filters/rsqf.hpp"
#include "tamis/filters/taf.hpp"
#include "tamis/filters/utaf.hpp"

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#endif

namespace tamis::benchmarks {

using namespace detail;

namespace {

struct settings {
  std::uint64_t slots = std::uint64_t{1} << 20;
  std::vector<double> remainders = {8, 12, 16};
  std::vector<double> loads = {0.5, 0.8, 0.95};
  std::vector<double> adapted = {0, 1, 10, 50};
  unsigned repeats = 7;
  bool count = false;
};

// All members in order: a remote without an index, since only few slots are ever asked for.
class sorted_remote {
 public:
  explicit sorted_remote(std::vector<digest> members) : members_(std::move(members)) {
    std::sort(members_.begin(), members_.end());
  }
  template <class Visit>
  void for_each_in(digest_range range, Visit visit) const {
    for (auto at = std::lower_bound(members_.begin(), members_.end(), range.first); at != members_.end() && *at <= range.last;
         ++at)
      visit(*at);
  }

 private:
  std::vector<digest> members_;
};

using lookup_loop = std::function<std::size_t(std::span<const digest>)>;

// One filter in one state.
struct contender {
  std::string name;
  lookup_loop single;
  lookup_loop batched;  // empty if there is none
};

std::size_t count_many(const auto& filter, std::span<const digest> asked) {
  std::array<bool, 1024> out;
  std::size_t yes = 0;
  for (std::size_t first = 0; first < asked.size(); first += out.size()) {
    const auto chunk = asked.subspan(first, std::min(out.size(), asked.size() - first));
    may_contain_many(filter, chunk, std::span<bool>(out));
    yes += static_cast<std::size_t>(std::count(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(chunk.size()), true));
  }
  return yes;
}
template <class Filter>
TAMIS_NOINLINE std::size_t count_single(const Filter& filter, std::span<const digest> asked) {
  std::size_t yes = 0;
  for (const digest d : asked) {
    const bool answer = filter.may_contain(d);
    lab::use_alone(answer);
    yes += answer;
  }
  return yes;
}
template <class Filter>
contender contender_of(std::string name, std::shared_ptr<const Filter> filter) {
  contender made{std::move(name), [filter](std::span<const digest> asked) { return count_single(*filter, asked); }, {}};
  if constexpr (requires { filter->with_view([](const auto&) {}); }) {
    made.batched = [filter](std::span<const digest> asked) { return count_many(*filter, asked); };
  }
  return made;
}

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "tamis_adaptive: %s\n", why.c_str());
  std::exit(1);
}

struct world {
  std::uint64_t slots;
  unsigned remainder;
  std::vector<digest> members;
  std::vector<digest> positives;
  std::vector<digest> negatives;
  sorted_remote remote;
};

template <class Filter>
std::shared_ptr<const Filter> filled(const world& w, double adapted, option_list options = {}) {
  options.emplace_back("remainder", std::to_string(w.remainder));
  auto filter = std::make_shared<Filter>(
      Filter::create({.capacity = w.slots * 95 / 100, .fpr = 0.4, .options = std::move(options)}).value());
  for (const digest d : w.members) {
    if (filter->insert(d) != insert_result::inserted) fail("a filter is full before its capacity");
  }
  if constexpr (requires { filter->adapt(digest(), w.remote); }) {
    random_source random(7);
    for (double i = 0; i < adapted * static_cast<double>(w.slots); ++i) {
      const digest d{random(), random()};
      if (!filter->may_contain(d)) continue;
      if (filter->adapt(d, w.remote) != adapt_result::fixed || filter->may_contain(d)) fail("a wrong answer was not fixed");
    }
  }
  if (count_single(*filter, w.members) != w.members.size()) fail("a member was lost");
  return filter;
}
template <class Remainder>
contender textbook(const world& w) {
  auto filter = std::make_shared<textbook_quotient<Remainder>>(w.slots);
  for (const digest d : w.members) filter->insert(d);
  return contender_of<textbook_quotient<Remainder>>("textbook", filter);
}

std::vector<contender> contenders_of(const world& w, double adapted) {
  std::vector<contender> all;
  all.push_back(contender_of("rsqf", filled<rsqf>(w, 0)));
  if (adapted == 0 && w.remainder == 8) all.push_back(textbook<std::uint8_t>(w));
  if (adapted == 0 && w.remainder == 16) all.push_back(textbook<std::uint16_t>(w));
  all.push_back(contender_of("taf", filled<taf>(w, adapted)));
  all.push_back(contender_of("taf/quarters", filled<taf>(w, adapted, {{"code", "quarters"}})));
  all.push_back(contender_of("exaf", filled<exaf>(w, adapted)));
  all.push_back(contender_of("utaf", filled<utaf>(w, adapted)));
  return all;
}

void count_instructions([[maybe_unused]] const std::string& label, const std::function<void()>& loop) {
#ifdef CALLGRIND_START_INSTRUMENTATION
  CALLGRIND_START_INSTRUMENTATION;
  loop();
  CALLGRIND_STOP_INSTRUMENTATION;
  CALLGRIND_DUMP_STATS_AT(label.c_str());
#else
  loop();
#endif
}

void measure(const settings& s, const world& w, double load, double adapted) {
  const std::vector<contender> all = contenders_of(w, adapted);
  constexpr const char* kinds[] = {"negative", "negative batched", "positive", "positive batched"};
  const auto loop_of = [](const contender& c, unsigned kind) { return kind % 2 == 0 ? c.single : c.batched; };
  const auto asked_of = [&](unsigned kind) -> std::span<const digest> { return kind < 2 ? w.negatives : w.positives; };
  if (s.count) {
    for (const contender& c : all) {
      for (unsigned kind = 0; kind < 4; ++kind) {
        if (!loop_of(c, kind)) continue;
        const std::string label = c.name + ", r " + std::to_string(w.remainder) + ", load " +
                                  std::to_string(load).substr(0, 4) + ", adapted " + std::to_string(static_cast<int>(adapted)) +
                                  ", " + kinds[kind];
        loop_of(c, kind)(asked_of(kind));
        count_instructions(label, [&] { loop_of(c, kind)(asked_of(kind)); });
      }
    }
    return;
  }
  std::vector<std::vector<double>> ns(all.size() * 4);
  for (unsigned repeat = 0; repeat < s.repeats; ++repeat) {
    for (unsigned kind = 0; kind < 4; ++kind) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        const lookup_loop loop = loop_of(all[i], kind);
        const auto asked = asked_of(kind);
        if (!loop) continue;
        loop(asked.first(asked.size() / 4));
        ns[i * 4 + kind].push_back(lab::ns_per_operation(asked.size(), [&] { loop(asked); }));
      }
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::printf("%2u  %.2f  %3.0f  %-13s", w.remainder, load, adapted, all[i].name.c_str());
    for (unsigned kind = 0; kind < 4; ++kind) {
      if (ns[i * 4 + kind].empty()) {
        std::printf("%17s", "");
        continue;
      }
      const double mine = lab::summarize(ns[i * 4 + kind]).median;
      std::printf("%9.1f (%4.2f)", mine, mine / lab::summarize(ns[kind]).median);
    }
    std::printf("\n");
  }
  std::fflush(stdout);
}

std::vector<double> numbers(const std::string& list) {
  std::vector<double> all;
  std::istringstream in(list);
  for (std::string one; std::getline(in, one, ',');) all.push_back(std::atof(one.c_str()));
  return all;
}
settings settings_of(int argc, char** argv) {
  settings s;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const std::size_t equal = std::min(flag.find('='), flag.size());
    const std::vector<double> values = numbers(flag.substr(std::min(equal + 1, flag.size())));
    const std::string name = flag.substr(0, equal);
    if (values.empty()) fail("a flag without numbers: " + flag);
    if (name == "--slots")
      s.slots = static_cast<std::uint64_t>(values[0]);
    else if (name == "--remainders")
      s.remainders = values;
    else if (name == "--loads")
      s.loads = values;
    else if (name == "--adapted")
      s.adapted = values;
    else if (name == "--repeats")
      s.repeats = static_cast<unsigned>(values[0]);
    else if (name == "--count")
      s.count = values[0] != 0;
    else
      fail("unknown flag " + flag);
  }
  return s;
}

int run(const settings& s) {
  if (!s.count) {
    std::printf("%llu slots; ns per lookup, in brackets the ratio to rsqf\n r  load  adapted",
                static_cast<unsigned long long>(s.slots));
    std::printf("%13s%17s%17s%17s%17s\n", "", "negative", "batched", "positive", "batched");
  }
  for (const double remainder : s.remainders) {
    for (const double load : s.loads) {
      random_source random(1);
      const auto draw = [&](std::size_t count) {
        std::vector<digest> made(count);
        for (digest& d : made) d = {random(), random()};
        return made;
      };
      const std::size_t queries = s.count ? 8192 : std::min<std::size_t>(s.slots, 1 << 20);
      const auto members = draw(static_cast<std::size_t>(load * static_cast<double>(s.slots)));
      world w{s.slots, static_cast<unsigned>(remainder), members, {}, draw(queries), sorted_remote(members)};
      for (std::size_t i = 0; i < queries; ++i) w.positives.push_back(members[random.below(members.size())]);
      for (const double adapted : s.adapted) measure(s, w, load, adapted);
    }
  }
  return 0;
}

}  // namespace
}  // namespace tamis::benchmarks

int main(int argc, char** argv) { return tamis::benchmarks::run(tamis::benchmarks::settings_of(argc, argv)); }
