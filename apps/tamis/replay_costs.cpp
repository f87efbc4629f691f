#include "replay_costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "numbers.hpp"
#include "replay_report.hpp"

namespace tamis::cli {
namespace {

constexpr double worth_it = 0.02;  // of all the store's reads: less is hard to see in a running system

double share(double part, double whole) { return whole == 0 ? 0 : part / whole; }

// What the store has to do: a scan counts as a read.
double work(const contestant& c) { return static_cast<double>(c.store_reads() + c.range_scans()); }

// Adapting and growing may take more than what all began with; a filter that is full has to be made anew.
bool kept_to_memory(const replay_result& result, const contestant& c) {
  const double allowed = result.bits_per_key * static_cast<double>(result.members);
  if (c.refused() != 0) return false;
  return allowed == 0 || static_cast<double>(c.peak_bits()) <= memory_tolerance * allowed + spare_bits;
}

const contestant* least_work(const replay_result& result, bool adaptive) {
  const contestant* best = nullptr;
  for (const contestant& c : result.contestants) {
    if (!c.filters() || c.adapts() != adaptive || !kept_to_memory(result, c)) continue;
    if (best == nullptr || work(c) < work(*best)) best = &c;
  }
  return best;
}

std::string vain(const contestant& c) {
  return fmt::format("{} ({} of its reads)", counted(c.false_positives(), "read"), percent(vain_share(c)));
}

std::string alone(const replay_result& result, const contestant& only) {
  const double all = static_cast<double>(result.log.queries());
  return fmt::format("{} keeps {} of the queries from the store; {} were in vain.", only.name(),
                     percent(share(static_cast<double>(only.store_reads_avoided()), all)), vain(only));
}

std::string compared(const contestant& plain, const contestant& adaptive) {
  const double gain = share(work(plain) - work(adaptive), work(plain));
  const std::string both =
      fmt::format("{} read the store in vain {}, {} {}", plain.name(), counted(plain.false_positives(), "time"),
                  adaptive.name(), counted(adaptive.false_positives(), "time"));
  if (gain >= worth_it) {
    return fmt::format(
        "Adapting is worth it here: {} spares the store {} of the work that the best plain filter, {}, leaves. {}.",
        adaptive.name(), percent(gain), plain.name(), both);
  }
  if (gain > 0) {
    return fmt::format("A plain filter will do: {}. The best that adapts, {}, would spare the store {} of its work. {}.",
                       plain.name(), adaptive.name(), percent(gain), both);
  }
  return fmt::format("A plain filter will do: {}. None that adapts does better. {}.", plain.name(), both);
}

std::string names_text(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

}  // namespace

double vain_share(const contestant& c) {
  return share(static_cast<double>(c.false_positives()), static_cast<double>(c.store_reads()));
}

double saved_seconds(const replay_result& result, const contestant& c) {
  const double without = static_cast<double>(result.log.queries());
  return (without - work(c)) * result.costs.us / 1e6 - (c.filters() ? c.seconds() : 0);
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
  const contestant* plain = least_work(result, false);
  const contestant* adaptive = least_work(result, true);
  if (plain != nullptr && adaptive != nullptr) return compared(*plain, *adaptive);
  if (plain != nullptr) return alone(result, *plain);
  if (adaptive != nullptr) return alone(result, *adaptive);
  return fmt::format("Without a filter {} of the reads are in vain.", percent(absent));
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
