#include "lab/adversary.hpp"

#include <algorithm>

namespace tamis::lab {

using namespace detail;

namespace {

constexpr unsigned final_questions = 1000;

digest random_key(random_source& random) {
  const std::uint64_t high = random();
  return {high, random()};
}

void shuffle(std::vector<digest>& keys, random_source& random) {
  for (std::size_t i = keys.size(); i > 1; --i) std::swap(keys[i - 1], keys[random.below(i)]);
}

// Asks the named ones in turn and says how often the answer was wrong.
attack_result with_rate(game& g, std::vector<digest> named) {
  attack_result found{std::move(named), g.questions(), 0.0};
  if (found.named.empty()) return found;
  unsigned wrong = 0;
  for (unsigned i = 0; i < final_questions; ++i) wrong += g.ask(found.named[i % found.named.size()]);
  found.sustained_rate = static_cast<double>(wrong) / final_questions;
  return found;
}

bool all_wrong(game& g, const std::vector<digest>& keys) {
  bool wrong = true;
  for (const digest d : keys) wrong &= g.ask(d);
  return wrong;
}

}  // namespace

attack_result repeated_key_attack::operator()(game& g, random_source random) const {
  for (std::uint64_t key = 0; key < most_keys; ++key) {
    const digest d = random_key(random);
    std::uint64_t wrong = 0;
    while (wrong < repeats && g.ask(d)) ++wrong;
    // Asked once more than it has hashes: a filter that only needed that long to fix the key does not lose.
    if (wrong == repeats && g.ask(d)) return with_rate(g, {d});
  }
  return with_rate(g, {});
}

attack_result unfixable_set_attack::operator()(game& g, random_source random) const {
  std::vector<digest> keys(pool);
  for (digest& d : keys) d = random_key(random);
  std::vector<digest> doubtful;
  for (unsigned round = 0; round < 2 * k; ++round) {
    shuffle(keys, random);
    for (const digest d : keys) {
      const bool wrong = g.ask(d);
      if (wrong && round >= k && std::find(doubtful.begin(), doubtful.end(), d) == doubtful.end()) doubtful.push_back(d);
    }
  }
  if (doubtful.size() < k) return with_rate(g, {});
  std::vector<digest> chosen(k);
  for (std::uint64_t tries = 0; tries < most_tries; ++tries) {
    for (unsigned i = 0; i < k; ++i) {
      std::swap(doubtful[i], doubtful[i + random.below(doubtful.size() - i)]);
      chosen[i] = doubtful[i];
    }
    const bool first = all_wrong(g, chosen);
    if (first && all_wrong(g, chosen)) return with_rate(g, chosen);
  }
  return with_rate(g, {});
}

}  // namespace tamis::lab
