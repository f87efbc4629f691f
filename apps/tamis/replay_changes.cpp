#include "replay_changes.hpp"

#include <algorithm>

#include "interrupt.hpp"
#include "lab/contenders.hpp"
#include "numbers.hpp"
#include "progress.hpp"

namespace tamis::cli {
namespace {

constexpr std::uint64_t events_per_turn = std::uint64_t{1} << 18;

// The first fifth of the log: what is in at its end, and the questions for other keys.
struct first_part {
  std::vector<digest> members;
  std::vector<digest> queries;

  first_part(const change_log& log, const store_history& history) {
    const std::uint64_t end = log.size() / lab::log_parts;
    const auto keep_members = [&](std::span<const digest> keys) {
      for (const digest d : keys) {
        if (history.contains(d, end)) members.push_back(d);
      }
    };
    keep_members(log.members);
    keep_members(std::span(log.keys).first(end));
    std::sort(members.begin(), members.end());
    members.erase(std::unique(members.begin(), members.end()), members.end());
    for (std::uint64_t i = 0; i < end; ++i) {
      if (log.is_query(i)) queries.push_back(log.keys[i]);
    }
  }
};

}  // namespace

void size_for(const change_log& log, lineup_terms& terms) {
  terms.params.capacity = std::max<std::uint64_t>(1, log.most_keys);
  terms.first_keys = std::min(terms.params.capacity, std::max<std::uint64_t>(log.members.size(), least_first_keys));
}

played_log play(const change_log& log, const lineup_terms& terms) {
  const store_history history(log);
  const first_part tried(log, history);
  played_log made{line_up(terms, log.members, {tried.members, tried.queries}), {}};
  const std::vector<std::uint64_t> numbers = made.judged.judge(log, history);
  progress bar("replaying", log.size());
  std::uint64_t done = 0;
  for (std::uint64_t part = 1; part <= timeline::parts; ++part) {
    const std::uint64_t end = log.size() * part / timeline::parts;
    for (; done < end; bar.at(done, done)) {
      stop_if_interrupted();
      const log_turn turn{log, history, numbers, done, std::min(end, done + events_per_turn)};
      for (contestant& c : made.filters.loaded) c.play(turn);
      done = turn.last;
    }
    for (contestant& c : made.filters.loaded) c.mark(history.keys_at(end));
  }
  return made;
}

std::string changes_text(const change_log& log) {
  std::string text = grouped(log.inserts) + " inserts and " + counted(log.erases, "delete") + "; " +
                     counted(log.members.size(), "key") + " at first, " + grouped(log.most_keys) + " at most.";
  if (log.without_effect != 0) {
    text += " Without effect: " + grouped(log.without_effect) + ".";
  }
  if (log.unseen != 0) text += " Told by hits and misses only: " + counted(log.unseen, "change") + ".";
  return text;
}

}  // namespace tamis::cli
