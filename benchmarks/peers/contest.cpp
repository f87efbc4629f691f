#include "benchmarks/peers/contest.hpp"

#include <stdexcept>

#include "lab/measure.hpp"
#include "lab/measure/keys.hpp"
#include "tamis/detail/base/random.hpp"

namespace tamis::benchmarks {
namespace {

using lab::key_span;

constexpr std::size_t queries = 1 << 20;
constexpr std::size_t warming = queries / 4;  // asked before the clock runs
constexpr std::size_t parts = 8;              // of a fill or a drain
constexpr std::size_t churn_turns = 256;
constexpr std::size_t churn_keys = 512;  // of a turn
constexpr const char* not_inserted = "did not go in";
constexpr const char* not_erased = "were not found to be erased";

double clock_ns() {
  std::vector<double> looks(1001);
  for (double& ns : looks) ns = lab::ns_per_operation(1, [] {});
  return lab::summarize(looks).median;
}

// One entrant, its table, and what was seen of it.
class seat {
 public:
  seat(const entrant& who, double clock) : who_(who), clock_(clock) {}

  void make(std::uint64_t slots, std::uint64_t keys) {
    table_.reset();
    table_ = who_.make(slots, keys);
  }
  rival& table() { return *table_; }

  // Adds the time of one turn; `work` says how many of the keys it was successful with.
  template <class Work>
  std::size_t timed(const char* operation, std::size_t keys, Work work) {
    std::size_t done = 0;
    const double whole = lab::ns_per_operation(1, [&] { done = work(*table_); });
    turn& t = turns_[operation];
    t.ns += whole - clock_;
    t.keys += keys;
    return done;
  }
  // All turns since the last call become one sample.
  void close(const char* operation) {
    const auto found = turns_.find(operation);
    if (found == turns_.end()) return;
    samples_[operation].push_back(found->second.ns / static_cast<double>(found->second.keys));
    turns_.erase(found);
  }

  void expect_all(std::size_t done, std::size_t keys, const char* what) const {
    if (done == keys) return;
    throw std::runtime_error(who_.name + ": " + std::to_string(keys - done) + " of " + std::to_string(keys) + " keys " + what);
  }
  // The same, unless it may fail.
  void note(std::size_t done, std::size_t keys, const char* what) {
    if (!table_->may_fail()) return expect_all(done, keys, what);
    result_.failures += keys - done;
  }
  // Who may fail in churn may have lost members there.
  void check_churned(key_span members) {
    if (!table_->may_fail()) check_members(members);
  }
  void check_members(key_span members) { expect_all(table_->count(members), members.size(), "are lost"); }
  void note_negatives(std::size_t wrong, std::size_t asked) {
    wrong_ += wrong;
    asked_ += asked;
  }
  void note_size(std::size_t keys) {
    result_.bits_per_key = static_cast<double>(table_->bits()) / static_cast<double>(keys);
    if (table_->expected_fpr() == 0) return;
    const status chance = lab::check_answers(0, wrong_, asked_, table_->expected_fpr());
    if (!chance) throw std::runtime_error(who_.name + ": " + chance.message());
  }

  standing result() {
    for (const auto& [operation, ns] : samples_) result_.ns[operation] = lab::summarize(ns).median;
    result_.fpr = static_cast<double>(wrong_) / static_cast<double>(asked_);
    return result_;
  }

 private:
  struct turn {
    double ns = 0;
    std::size_t keys = 0;
  };
  const entrant& who_;
  double clock_;
  std::unique_ptr<rival> table_;
  std::map<std::string, turn> turns_;
  std::map<std::string, std::vector<double>> samples_;
  std::uint64_t wrong_ = 0, asked_ = 0;
  standing result_;
};

class contest {
 public:
  contest(const group& g, const contest_options& options)
      : options_(options),
        keys_(static_cast<std::size_t>(g.load * static_cast<double>(options.slots))),
        // Behind the members are the keys that come while others go.
        members_(lab::make_keys(keys_ + churn_turns * churn_keys, 0, 1).members) {
    const double clock = clock_ns();
    for (const entrant& e : g.entrants) seats_.emplace_back(e, clock);
  }

  std::vector<standing> run() {
    for (unsigned fill = 0; fill < options_.fills; ++fill) {
      insert_all();
      for (unsigned round = fill; round < options_.rounds; round += options_.fills) ask(round);
      for (seat& s : seats_) s.note_size(keys_);
      churn();
      drain();
    }
    std::vector<standing> all;
    for (seat& s : seats_) all.push_back(s.result());
    return all;
  }

 private:
  // Calls turn(part of the keys) for one part after the other.
  template <class Turn>
  static void in_parts(key_span keys, std::size_t count, Turn turn) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t first = keys.size() * i / count;
      turn(keys.subspan(first, keys.size() * (i + 1) / count - first));
    }
  }
  void close(const char* operation) {
    for (seat& s : seats_) s.close(operation);
  }
  key_span members() const { return key_span(members_).first(keys_); }
  // After the churn: the oldest are gone and the new ones are in.
  key_span churned() const { return key_span(members_).last(keys_); }

  void insert_all() {
    for (seat& s : seats_) s.make(options_.slots, keys_);
    in_parts(members(), parts, [this](key_span part) {
      for (seat& s : seats_) {
        if (s.table().only_reads()) continue;
        const std::size_t in = s.timed("insert", part.size(), [&](rival& r) { return r.insert(part); });
        s.expect_all(in, part.size(), not_inserted);
      }
    });
    close("insert");
    for (seat& s : seats_) s.check_members(members());
  }

  void ask(unsigned round) {
    // mix64 of other counters: no member is among them.
    const std::vector<std::uint64_t> absent = lab::make_keys(1, warming + queries, 1000 + round).negatives;
    std::vector<std::uint64_t> present(warming + queries);
    random_source random(round);
    for (std::uint64_t& key : present) key = members_[random.below(keys_)];
    for (seat& s : seats_) {
      const std::size_t wrong = time_lookups(s, "negative", absent);
      s.note_negatives(wrong, absent.size());
    }
    for (seat& s : seats_) s.expect_all(time_lookups(s, "positive", present), present.size(), "are lost");
    close("negative");
    close("positive");
  }
  // An untimed pass brings the table to where it stays.
  static std::size_t time_lookups(seat& s, const char* operation, key_span keys) {
    const std::size_t early = s.table().count(keys.first(warming));
    return early + s.timed(operation, queries, [&](rival& r) { return r.count(keys.subspan(warming)); });
  }

  void churn() {
    for (std::size_t i = 0; i < churn_turns; ++i) {
      const key_span old = key_span(members_).subspan(i * churn_keys, churn_keys);
      const key_span fresh = key_span(members_).subspan(keys_ + i * churn_keys, churn_keys);
      for (seat& s : seats_) {
        if (!s.table().can_erase()) continue;
        const std::size_t out = s.timed("churn erase", churn_keys, [&](rival& r) { return r.erase(old); });
        s.note(out, churn_keys, not_erased);
        const std::size_t in = s.timed("churn insert", churn_keys, [&](rival& r) { return r.insert(fresh); });
        s.note(in, churn_keys, not_inserted);
      }
    }
    close("churn erase");
    close("churn insert");
    for (seat& s : seats_) s.check_churned(s.table().can_erase() ? churned() : members());
  }

  void drain() {
    in_parts(churned(), parts, [this](key_span part) {
      for (seat& s : seats_) {
        if (!s.table().can_erase()) continue;
        s.note(s.timed("drain", part.size(), [&](rival& r) { return r.erase(part); }), part.size(), not_erased);
      }
    });
    close("drain");
  }

  contest_options options_;
  std::size_t keys_;
  std::vector<std::uint64_t> members_;
  std::vector<seat> seats_;
};

}  // namespace

std::vector<standing> run_contest(const group& g, const contest_options& options) { return contest(g, options).run(); }

}  // namespace tamis::benchmarks
