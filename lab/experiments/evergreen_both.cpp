// Growth and wrong answers at once: keys come in, and between them queries that are skewed, or an adversary's, who replays all
// that was ever answered wrongly. Filters that cannot grow are made for the last number of keys.

#include <bit>
#include <cmath>
#include <memory>

#include "lab/experiments/evergreen_common.hpp"
#include "lab/workload.hpp"
#include "tamis/hasher.hpp"

namespace tamis::lab {

using namespace detail;

namespace {

constexpr std::uint64_t first_keys = 4096;
constexpr unsigned questions_per_key = 4;
std::uint64_t last_keys(const experiment_options& options) { return std::uint64_t{1} << options.at(17, 20); }

std::vector<contestant> growing() {
  return {{"evergreen", "evergreen", {{"remainder", "9"}}},
          {"evergreen_untold", "evergreen", {{"remainder", "9"}, {"fingerprints", "growing"}}, false},
          {"infini_growing", "infini", {{"fingerprint", "10"}, {"mode", "growing"}}, false}};
}
// At 13.5 bits per key they have 10-bit remainders, or fingerprints that give the same rate.
std::vector<contestant> made_for_the_end() {
  return {{"taf", "taf"}, {"acf_cuckooing", "acf-cuckooing", {{"load", "95"}}}, {"rsqf", "rsqf"}};
}

// Questions about keys that are never stored.
class skewed_questions {
 public:
  explicit skewed_questions(std::uint64_t seed)
      : source_(make_workload("zipf", std::vector<std::pair<std::string, std::string>>{{"keys", "1000000"}, {"s", "1.0"}}, seed)
                    .value()) {}
  digest next() {
    if (at_ == ids_.size()) source_->next(ids_), at_ = 0;
    return hash_(ids_[at_++]);
  }
  bool is_new() const { return true; }  // was the last one?
  void heard_wrong(digest) {}

 private:
  std::unique_ptr<workload> source_;
  std::vector<std::uint64_t> ids_ = std::vector<std::uint64_t>(4096);
  std::size_t at_ = ids_.size();
  hasher hash_;
};
// Every other question is new; the others go around all that were ever answered wrongly.
class hostile_questions {
 public:
  explicit hostile_questions(std::uint64_t seed) : random_(seed) {}
  digest next() {
    is_new_ = wrong_.empty() || !is_new_;
    if (is_new_) return any_digest(random_);
    at_ = at_ + 1 < wrong_.size() ? at_ + 1 : 0;
    return wrong_[at_];
  }
  bool is_new() const { return is_new_; }
  void heard_wrong(digest d) {
    if (is_new_) wrong_.push_back(d);
  }

 private:
  random_source random_;
  bool is_new_ = false;
  std::vector<digest> wrong_;
  std::size_t at_ = 0;
};

template <class Questions>
status play(const char* stream, contest_filter f, const experiment_options& options, table& out) {
  random_source random = options.random();
  Questions questions(random());
  memory_remote stored;
  std::uint64_t keys = 0;
  std::uint64_t replays = 0, wrong_replays = 0;
  for (std::uint64_t until = first_keys; until <= last_keys(options); until += std::bit_floor(until) / 4) {
    for (; keys < until; ++keys) {
      const digest d = any_digest(random);
      stored.insert(d);
      if (!f.insert(d, stored)) return failure{f.name() + " refused a key"};
      for (unsigned i = 0; i < questions_per_key; ++i) {
        const digest asked = questions.next();
        const bool wrong = f.ask(asked, stored);
        if (wrong) questions.heard_wrong(asked);
        replays += !questions.is_new();
        wrong_replays += wrong && !questions.is_new();
      }
    }
    const double replayed = replays == 0 ? 0 : static_cast<double>(wrong_replays) / static_cast<double>(replays);
    replays = wrong_replays = 0;
    out.add({stream, f.name(), keys}, {f.take_rate(), f.bits_per_key(), replayed});
  }
  return {};
}

result<table> run(const experiment_options& options) {
  table out({"stream", "filter", "keys"}, {"rate", "bits_per_key", "replayed_rate"});
  TAMIS_TRY(std::vector<contest_filter> all, contest(made_for_the_end(), last_keys(options)));
  for (const contestant& who : growing()) {
    TAMIS_TRY(contest_filter f, beginner(who, first_keys));
    all.push_back(std::move(f));
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    TAMIS_CHECK(play<skewed_questions>("skewed", all[i], options, out));
    options.done(2 * i + 1, 2 * all.size());
    TAMIS_CHECK(play<hostile_questions>("hostile", all[i], options, out));
    options.done(2 * i + 2, 2 * all.size());
  }
  return out;
}

std::vector<verdict> judge(const table& seen) {
  tally not_adaptive("with all keys in, evergreen has fewer false positives than those that grow only, or do neither");
  tally not_growing("and than those that adapt only, which were made for that number of keys");
  const std::string last = distinct(seen.rows(), "keys").back();
  for (const std::string& stream : distinct(seen.rows(), "stream")) {
    const row_list rows = where(where(seen.rows(), "stream", stream), "keys", last);
    const table::row ours = row_of(rows, "filter", "evergreen");
    for (const table::row& r : rows) {
      const std::string& id = r.text("filter");
      if (id == "evergreen") continue;
      const double chance = std::hypot(ours.error("rate"), r.error("rate"));
      (id == "taf" || id == "acf_cuckooing" ? not_growing : not_adaptive)
          .at_most(r, ours.value("rate"), r.value("rate"), chance);
    }
  }
  tally replays(
      "replaying all that was ever wrong gets no higher rate out of evergreen than its questions in all, at any point");
  for (const table::row& r : where(where(seen.rows(), "stream", "hostile"), "filter", "evergreen")) {
    replays.at_most(r, r.value("replayed_rate"), r.value("rate"));
  }
  return {not_adaptive.judge("On the skewed stream one of the hottest keys decides: whether it is wrong at first is chance."),
          not_growing.judge("They have all their space from the beginning, and longer fingerprints in it."), replays.judge()};
}

std::vector<chart> draw(const table& seen) {
  const axis keys{.label = "keys", .log = true};
  chart rates{
      .name = "rates",
      .title = "False positives while keys come in, four questions between two keys",
      .x = keys,
      .y = {.label = "false positives, %", .log = true, .factor = 100},
      .note = "Filters that cannot grow were made for the last number of keys. Hollow marks on the lower edge: none seen."};
  chart space{.name = "space", .title = "Space meanwhile", .x = keys, .y = {.label = "bits per key", .log = true}};
  for (const std::string& stream : distinct(seen.rows(), "stream")) {
    const row_list rows = where(seen.rows(), "stream", stream);
    rates.panels.push_back(contest_panel(stream + " questions", rows, "keys", "rate"));
    space.panels.push_back(contest_panel(stream + " questions", rows, "keys", "bits_per_key"));
  }
  return {rates, space};
}

std::vector<page_table> tabulate(const table& seen) {
  const std::string last = distinct(seen.rows(), "keys").back();
  page_table t{"With all keys in", {"filter"}, {}};
  const std::vector<std::string> streams = distinct(seen.rows(), "stream");
  for (const std::string& stream : streams) {
    t.head.push_back(stream + ": false positives");
    t.head.push_back("bits per key");
  }
  const row_list rows = where(seen.rows(), "keys", last);
  for (const contest_line& l : contest_lines) {
    const row_list of = where(rows, "filter", l.name);
    if (of.empty()) continue;
    std::vector<std::string> cells = {l.label};
    for (const table::row& r : of) {
      cells.push_back(brief(100 * r.value("rate")) + " %");
      cells.push_back(brief(r.value("bits_per_key")));
    }
    t.rows.push_back(std::move(cells));
  }
  return {t};
}

const registered it(
    {.name = "evergreen-both",
     .paper = evergreen_paper,
     .figures = "growing and adapting at once",
     .claim = "A filter can grow and adapt at once, and then has fewer false positives than any that does one of them.",
     .parameters =
         "From 2^12 to 2^20 keys (quick: 2^17), four questions between two keys: Zipf with s = 1 over a million keys, or "
         "every other one a false positive seen before. evergreen has r = 9, which takes about 13.5 bits per key with a store, "
         "infini F = 10; "
         "they begin small. The others have 13.5 bits per key at the end.",
     .agrees = "with all keys in, evergreen's rate is at most that of every other filter, on both streams; its rate of replays "
               "is at most its rate of all questions at every point",
     .runs = {3, 3},
     .seconds = {2, 20},
     .run = run,
     .judge = judge,
     .draw = draw,
     .tabulate = tabulate});

}  // namespace
}  // namespace tamis::lab
