#pragma once

// What the child does, as a pure function of a seed: the parent computes the same list and so knows every intended state.

#include <cstdint>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tamis/detail/base/random.hpp"
#include "tamis/guard/options.hpp"

namespace tamis::crash {

inline constexpr std::uint64_t universe = 300;

using content = std::map<std::string, std::string>;

inline std::string key_of(std::uint64_t number) { return "key " + std::to_string(number); }

struct step {
  enum class what { put, erase, batch, snapshot, get, load, ask } kind = what::put;
  std::vector<std::pair<std::string, std::optional<std::string>>> changes;
};

inline std::pair<std::string, std::optional<std::string>> random_change(detail::random_source& random, std::uint64_t stamp) {
  std::string key = key_of(random.below(universe));
  if (random.chance(0.35)) return {std::move(key), std::nullopt};
  std::string value = std::to_string(stamp) + ':';
  value.append(random.below(400), 'v');
  return {std::move(key), std::move(value)};
}

// How a store is opened and used. Goes to the child as text.
struct settings {
  std::string filter = "counting-bloom";
  bool sync = false;
  bool loads = false;
  std::uint32_t skipped_steps = 0;
  std::uint64_t hash_secret = 1;  // 0: one that the store draws and keeps
  bool checkpoints = false;       // instead of snapshots: in the folder DIRECTORY.copy, each in place of the last one
  bool asks = false;              // asks for every key between the changes, so that the filter makes mistakes
  std::optional<std::uint64_t> mistakes =
      std::nullopt;  // entries of the list of known mistakes; none: as many as the guard finds right
  std::uint64_t capacity = 1200;
  double fpr = 0.02;
  std::uint32_t stripes = 4;  // of a new store

  bool operator==(const settings&) const = default;

  // As many words in both.
  std::string text() const {
    std::ostringstream words;
    words << filter << ' ' << sync << ' ' << loads << ' ' << skipped_steps << ' ' << hash_secret << ' ' << checkpoints << ' '
          << asks << ' ' << (mistakes ? std::to_string(*mistakes) : "-") << ' ' << capacity << ' ' << fpr << ' ' << stripes;
    return words.str();
  }
  static settings from(const std::string& text) {
    std::istringstream words(text);
    settings made;
    std::string listed;
    words >> made.filter >> made.sync >> made.loads >> made.skipped_steps >> made.hash_secret >> made.checkpoints >>
        made.asks >> listed >> made.capacity >> made.fpr >> made.stripes;
    if (listed != "-") made.mistakes = std::stoull(listed);
    return made;
  }
};

// With `loads`, some of the batches are bulk loads instead. They are larger, and do not erase. With `asks`, every get asks for
// all keys there are.
inline std::vector<step> workload(std::uint64_t seed, std::size_t length, const settings& given) {
  detail::random_source random(seed);
  std::vector<step> steps;
  for (std::size_t i = 0; i < length; ++i) {
    const double dice = random.unit();
    step next;
    if (dice < 0.06) {
      next.kind = step::what::snapshot;
    } else if (dice < 0.13) {
      next.kind = given.asks ? step::what::ask : step::what::get;
      next.changes.push_back({key_of(random.below(universe)), std::nullopt});
    } else {
      const std::uint64_t changes = dice < 0.24 ? 2 + random.below(5) : 1;
      for (std::uint64_t c = 0; c < changes; ++c) next.changes.push_back(random_change(random, seed * 1'000'000 + i * 10 + c));
      if (given.loads && dice < 0.17) {
        next.kind = step::what::load;
        for (std::uint64_t c = 0; c < 20; ++c) next.changes.push_back(random_change(random, seed * 1'000'000 + i * 10 + c));
        std::erase_if(next.changes, [](const auto& change) { return !change.second.has_value(); });
        steps.push_back(std::move(next));
        continue;
      }
      next.kind = changes > 1 ? step::what::batch : next.changes[0].second ? step::what::put : step::what::erase;
    }
    steps.push_back(std::move(next));
  }
  return steps;
}

inline void perform(const step& done, content& state) {
  if (done.kind == step::what::get || done.kind == step::what::ask) return;
  for (const auto& [key, value] : done.changes) {
    if (value) {
      state[key] = *value;
    } else {
      state.erase(key);
    }
  }
}

inline guard_options guard_options_of(const settings& given, const registry& known) {
  guard_options options;
  options.filter = given.filter;
  options.params = {.capacity = given.capacity, .fpr = given.fpr};
  if (given.mistakes) options.params.options.emplace_back("mistakes", std::to_string(*given.mistakes));
  if (given.hash_secret != 0) options.hash = hasher::keyed({given.hash_secret, 7});
  options.known = &known;
  options.stripes = given.stripes;
  options.sync = given.sync;
  options.snapshot_least = 150;
  options.background_rebuild = false;
  options.skipped_steps = given.skipped_steps;
  return options;
}

}  // namespace tamis::crash
