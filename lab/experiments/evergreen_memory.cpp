// What the process takes, beside what bits() says. A child process builds the store and the filter, another one the store
// alone; their resident memory differs by the filter's, with all that malloc and pages add to it. Pages of files do not count:
// a child that makes a filter also reads a megabyte of the program. Both have used a small filter before.

#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <optional>

#include "lab/experiments/evergreen_common.hpp"

namespace tamis::lab {

using namespace detail;

namespace {

constexpr double many_keys = 1 << 20;

const contestant kinds[] = {{"evergreen_store", "evergreen"},
                            {"evergreen_growing", "evergreen", {}, false},
                            {"evergreen-fixed", "evergreen-fixed", {}, false},
                            {"rsqf", "rsqf", {}, false},
                            {"infini_growing", "infini", {{"mode", "growing"}}, false}};

bool grows(const contestant& who) { return who.id == "evergreen" || who.id == "infini"; }

double resident_bytes() {
  std::ifstream rollup("/proc/self/smaps_rollup");
  for (std::string word; rollup >> word;) {
    double kib = 0;
    if (word == "Anonymous:" && rollup >> kib) return 1024 * kib;
  }
  return 0;
}

struct measured {
  double resident;
  double said;  // bits() / 8, without slow memory
};

// In a process of its own: what it wrote, or nothing if it failed.
template <class Work>
std::optional<measured> in_child(Work work) {
  int ends[2];
  if (::pipe(ends) != 0) return std::nullopt;
  const pid_t child = ::fork();
  if (child == 0) {
    const measured m = work();
    const bool whole = ::write(ends[1], &m, sizeof m) == sizeof m;
    ::_exit(whole ? 0 : 1);
  }
  ::close(ends[1]);
  measured m{};
  const bool read_all = child > 0 && ::read(ends[0], &m, sizeof m) == sizeof m;
  ::close(ends[0]);
  if (child > 0) ::waitpid(child, nullptr, 0);
  return read_all ? std::optional(m) : std::nullopt;
}

// What a filter of its kind takes once, whatever its size: constants of the program, the first pages of the heap.
void use_a_small_one(const contestant& who, random_source random) {
  any_filter f = any_filter::create(who.id, {.capacity = 20'000, .fpr = 0.01, .options = who.options}).value();
  memory_remote stored;
  for (int i = 0; i < 20'000; ++i) {
    const digest d = any_digest(random);
    if (who.has_remote) stored.insert(d);
    static_cast<void>(who.has_remote ? f.insert(d, remote_ref(stored)) : f.insert(d));
  }
}

// Both children take the same steps but for the filter's.
measured build(const contestant& who, std::uint64_t keys, std::uint64_t seed, bool with_filter) {
  const std::uint64_t capacity = grows(who) ? 1000 : keys;
  use_a_small_one(who, random_source(seed + 1));
  std::optional<any_filter> f;
  if (with_filter) {
    f = any_filter::create(who.id, {.capacity = capacity, .fpr = 0.01, .options = who.options}).value();
  }
  memory_remote stored;
  random_source random(seed);
  for (std::uint64_t i = 0; i < keys; ++i) {
    const digest d = any_digest(random);
    if (who.has_remote) stored.insert(d);
    if (!f) continue;
    who.has_remote ? f->insert(d, remote_ref(stored)) : f->insert(d);
  }
  return {resident_bytes(), f ? static_cast<double>(f->bits().fast) / 8 : 0};
}

result<table> run(const experiment_options& options) {
  table out({"filter", "keys"}, {"resident_bits", "said_bits", "excess"});
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t keys = 1 << options.at(16, 19); keys <= std::uint64_t{1} << options.at(18, 23); keys = keys * 3 / 2)
    sizes.push_back(keys);
  const std::uint64_t seed = options.random()();
  std::uint64_t done = 0;
  for (const contestant& who : kinds) {
    for (const std::uint64_t keys : sizes) {
      const auto whole = in_child([&] { return build(who, keys, seed, true); });
      const auto store = in_child([&] { return build(who, keys, seed, false); });
      if (!whole || !store || whole->resident == 0)
        return failure{who.name + ": the memory of a process could not be measured"};
      const double taken = whole->resident - store->resident;
      const auto per_key = [&](double bytes) { return 8 * bytes / static_cast<double>(keys); };
      out.add({who.name, keys}, {per_key(taken), per_key(whole->said), taken / whole->said});
      options.done(++done, std::size(kinds) * sizes.size());
    }
  }
  return out;
}

std::vector<verdict> judge(const table& seen) {
  std::vector<verdict> all;
  for (const auto& [name, label] : {std::pair{"evergreen_store", "evergreen that grows with a store"},
                                    {"evergreen_growing", "evergreen that grows without one"},
                                    {"evergreen-fixed", "evergreen made for its size"}}) {
    tally within(std::string(label) + ": from 2^20 keys on, the process takes at most 1.08 times what bits() says");
    for (const table::row& r : between(where(seen.rows(), "filter", name), "keys", many_keys, 1e18)) {
      within.at_most(r, r.value("excess"), 1.08);
    }
    all.push_back(
        within.judge("Memory comes in huge pages of 2 MiB: a table that fills most of one takes all of it, and pages that "
                     "segments share are not full."));
  }
  return all;
}

std::vector<chart> draw(const table& seen) {
  chart c{.name = "excess",
          .title = "Memory of the process, in what bits() says",
          .x = {.label = "keys", .log = true},
          .y = {.label = "times bits()", .low = 0},
          .panels = {contest_panel("", seen.rows(), "keys", "excess")}};
  const row_list fixed = where(seen.rows(), "filter", "evergreen-fixed");
  c.panels[0].lines.push_back({"evergreen-fixed", "evergreen-fixed", mark::line, points_of(fixed, "keys", "excess")});
  return {c};
}

std::vector<page_table> tabulate(const table& seen) {
  page_table t{"Memory of the process, times bits(), by keys", {"filter", "bits(), per key, in the end"}, {}};
  for (const std::string& keys : distinct(seen.rows(), "keys")) t.head.push_back(brief(std::stod(keys)));
  for (const std::string& name : distinct(seen.rows(), "filter")) {
    const row_list of = where(seen.rows(), "filter", name);
    std::vector<std::string> cells = {name, brief(of.back().value("said_bits"))};
    for (const table::row& r : of) cells.push_back(brief(r.value("excess")));
    t.rows.push_back(std::move(cells));
  }
  return {t};
}

const registered it(
    {.name = "evergreen-memory",
     .paper = evergreen_paper,
     .figures = "real memory",
     .claim = "What the process takes is what bits() says.",
     .parameters =
         "524,288 to 6 million keys (quick: 65,536 to 262,144), 1 % asked; growing filters begin at "
         "1,000 keys. Memory of a process with store and filter, pages of files left out, less that of one with the store "
         "alone. Huge pages as the system has them. Linux only.",
     .agrees = "at most 1.08 times bits() from 2^20 keys on",
     .runs = {1, 1},
     .seconds = {3, 120},
     .timed = true,
     .run = run,
     .judge = judge,
     .draw = draw,
     .tabulate = tabulate});

}  // namespace
}  // namespace tamis::lab
