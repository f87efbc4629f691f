#include "replay_costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "numbers.hpp"
#include "replay_report.hpp"

namespace tamis::cli {
namespace {

constexpr double worth_it = 0.02;  // of all the store's reads: less is hard to see in a running system
constexpr double noticeable_luck = 0.05;

double share(double part, double whole) { return whole == 0 ? 0 : part / whole; }

// What the store has to do: a scan counts as a read.
double work(const contestant& c) { return static_cast<double>(c.store_reads() + c.range_scans()); }

// Adapting and growing may take more than what all began with; a filter that is full has to be made anew.
bool kept_to_memory(const replay_result& result, const contestant& c) {
  const double allowed = result.bits_per_key * static_cast<double>(result.members);
  if (c.refused() != 0) return false;
  return allowed == 0 || static_cast<double>(c.peak_bits()) <= memory_tolerance * allowed + spare_bits;
}

// Over this seed and the others, where it was not left out.
template <class Figure>
double mean_over_seeds(const replay_result& result, const contestant& c, Figure figure) {
  double sum = figure(c);
  double count = 1;
  for (const auto& contestants : result.other_seeds) {
    for (const contestant& other : contestants) {
      if (other.name() != c.name()) continue;
      sum += figure(other);
      ++count;
    }
  }
  return sum / count;
}

// How a filter deals with its mistakes.
enum class manner { plain, remembers, adapts };
manner manner_of(const contestant& c) {
  return !c.adapts() ? manner::plain : c.remembers() ? manner::remembers : manner::adapts;
}

// The least work among those that keep to the memory; `changeable`: that need no rebuild when keys come or go.
template <class Condition>
const contestant* least_work(const replay_result& result, Condition is_of) {
  const contestant* best = nullptr;
  for (const contestant& c : result.contestants) {
    if (!c.filters() || !is_of(c) || !kept_to_memory(result, c)) continue;
    if (best == nullptr || mean_work(result, c) < mean_work(result, *best)) best = &c;
  }
  return best;
}
const contestant* best_changeable(const replay_result& result, manner of) {
  return least_work(result, [of](const contestant& c) { return c.can_change() && manner_of(c) == of; });
}

std::string times(double count) { return counted(static_cast<std::uint64_t>(std::llround(count)), "time"); }

std::string seeds_text(const replay_result& result) {
  if (result.other_seeds.empty()) return "";
  return fmt::format(", on average over {} hash seeds", result.other_seeds.size() + 1);
}

std::string alone(const replay_result& result, const contestant& only) {
  const double all = static_cast<double>(result.log.queries());
  const auto in_vain = static_cast<std::uint64_t>(std::llround(mean_in_vain(result, only)));
  return fmt::format("{} keeps {} of the queries from the store; {} ({} of its reads) were in vain{}.", only.name(),
                     percent(share(static_cast<double>(only.store_reads_avoided()), all)), counted(in_vain, "read"),
                     percent(vain_share(only)), seeds_text(result));
}

double gain_over(const replay_result& result, const contestant& other, const contestant& best) {
  return share(mean_work(result, other) - mean_work(result, best), mean_work(result, other));
}

// `second`: of the other manner of dealing with mistakes, if there is one.
std::string worth_text(const replay_result& result, const contestant& plain, const contestant& best, const contestant* second) {
  std::string text =
      fmt::format("{} is worth it here: {} spares the store {} of the work that the best plain filter, {}, leaves",
                  best.remembers() ? "A memory of mistakes" : "Adapting", best.name(), percent(gain_over(result, plain, best)),
                  plain.name());
  if (second != nullptr) {
    const double less = gain_over(result, *second, best);
    text += less >= worth_it ? fmt::format(", and {} of what {} leaves", percent(less), second->name())
                             : fmt::format(", and so does {}", second->name());
  }
  return text + ".";
}

std::string plain_text(const replay_result& result, const contestant& plain, const contestant& best) {
  const double gain = gain_over(result, plain, best);
  if (gain > 0) {
    return fmt::format("A plain filter will do: {}. The best that adapts, {}, would spare the store {} of its work.",
                       plain.name(), best.name(), percent(gain));
  }
  return fmt::format("A plain filter will do: {}. None that adapts does better.", plain.name());
}

std::string compared(const replay_result& result, const contestant& plain, const contestant* adaptive,
                     const contestant* remembering) {
  const contestant* best = adaptive;
  const contestant* second = remembering;
  if (best == nullptr || (second != nullptr && mean_work(result, *second) < mean_work(result, *best))) std::swap(best, second);
  const std::string first =
      gain_over(result, plain, *best) >= worth_it ? worth_text(result, plain, *best, second) : plain_text(result, plain, *best);
  return fmt::format("{} {} read the store in vain {}, {} {}{}.", first, plain.name(), times(mean_in_vain(result, plain)),
                     best->name(), times(mean_in_vain(result, *best)), seeds_text(result));
}

// A loss of all that can change to what cannot is said, too.
std::string static_text(const replay_result& result, double least) {
  const contestant* fixed = least_work(result, [](const contestant& c) { return !c.can_change(); });
  if (fixed == nullptr || share(least - mean_work(result, *fixed), least) < worth_it) return "";
  return fmt::format(
      " Where keys never come or go, a static set does better still: {} (a model, not in tamis) spares the store another {}.",
      fixed->name(), percent(share(least - mean_work(result, *fixed), least)));
}

std::string names_text(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

}  // namespace

double mean_in_vain(const replay_result& result, const contestant& c) {
  return mean_over_seeds(result, c, [](const contestant& seen) { return static_cast<double>(seen.false_positives()); });
}

double mean_work(const replay_result& result, const contestant& c) { return mean_over_seeds(result, c, work); }

double vain_share(const contestant& c) {
  return share(static_cast<double>(c.false_positives()), static_cast<double>(c.store_reads()));
}

double saved_seconds(const replay_result& result, const contestant& c) {
  const double without = static_cast<double>(result.log.queries());
  return (without - work(c)) * result.costs.us / 1e6 - (c.filters() && c.is_timed() ? c.seconds() : 0);
}

double saved_money(const replay_result& result, const contestant& c) {
  return (static_cast<double>(result.log.queries()) - work(c)) * *result.costs.price_per_million / 1e6;
}

std::string replay_verdict(const replay_result& result) {
  const double absent = share(static_cast<double>(result.log.negatives()), static_cast<double>(result.log.queries()));
  if (result.log.queries() == 0) return "The log is empty.";
  if (absent == 0)
    return "No filter matters here: every query asked for a member, so that there is nothing to keep from the store.";
  if (absent < worth_it) {
    return fmt::format("No filter matters here: only {} of the queries ask for keys that are not in the store.",
                       percent(absent));
  }
  const contestant* plain = best_changeable(result, manner::plain);
  const contestant* adaptive = best_changeable(result, manner::adapts);
  const contestant* remembering = best_changeable(result, manner::remembers);
  double least = std::numeric_limits<double>::infinity();
  for (const contestant* c : {plain, adaptive, remembering}) {
    if (c != nullptr) least = std::min(least, mean_work(result, *c));
  }
  if (plain != nullptr && (adaptive != nullptr || remembering != nullptr)) {
    return compared(result, *plain, adaptive, remembering) + static_text(result, least);
  }
  for (const contestant* c : {plain, adaptive, remembering}) {
    if (c != nullptr) return alone(result, *c) + static_text(result, least);
  }
  return fmt::format("Without a filter {} of the reads are in vain.", percent(absent));
}

std::string luck_text(const replay_result& result) {
  const contestant* plain = nullptr;
  for (const contestant& c : result.contestants) {
    if (c.expected_rate() && !c.adapts() && (plain == nullptr || c.false_positives() < plain->false_positives())) plain = &c;
  }
  const double luck = plain == nullptr ? 0 : result.log.luck(*plain->expected_rate());
  if (luck == 0) return "";
  return fmt::format(
      "Luck: which absent keys a filter is wrong about is decided by its hash seed. By how often each of them was asked for, "
      "the mistakes of {} differ by {} from seed to seed (one standard deviation){}.",
      plain->name(), percent(luck),
      result.other_seeds.empty() && luck > noticeable_luck ? "; only one was tried: see --seeds" : "");
}

std::string needs_of_adapting(const replay_result& result) {
  std::vector<std::string> scan, mirror, nothing;
  for (const contestant& c : result.contestants) {
    if (!c.adapts()) continue;
    if (c.range_scans() != 0) {
      scan.push_back(fmt::format("{} ({})", c.name(), grouped(c.range_scans())));
    } else if (c.bits().slow != 0) {
      mirror.push_back(
          fmt::format("{} ({:.0f} bits per key)", c.name(),
                      static_cast<double>(c.bits().slow) / static_cast<double>(std::max<std::uint64_t>(1, result.members))));
    } else if (c.adaptations() != 0) {
      nothing.push_back(c.name());
    }
  }
  std::string text;
  if (!scan.empty()) {
    text += "A store that holds digests in order, and a range scan for each mistake, is what these need to adapt: " +
            names_text(scan) + ". ";
  }
  if (!mirror.empty()) text += "These need slow memory beside the store: " + names_text(mirror) + ". ";
  if (!nothing.empty()) text += "These ask nothing of it: " + names_text(nothing) + ". ";
  if (!text.empty()) text.pop_back();
  return text;
}

std::string duration_text(double seconds) {
  const double size = std::abs(seconds);
  if (size < 1e-3) return fmt::format("{:.0f} us", 1e6 * seconds);
  if (size < 1) return fmt::format("{:.0f} ms", 1e3 * seconds);
  if (size < 1000) return fmt::format("{:.{}f} s", seconds, size < 100 ? 1 : 0);
  if (size < 60'000) return fmt::format("{:.{}f} min", seconds / 60, size < 6000 ? 1 : 0);
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace tamis::cli
