#include "lab/contest.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "tamis/detail/base/random.hpp"

namespace tamis::lab {

using namespace detail;

namespace {

using tags = tag_cache::tags;

double per_key(std::uint64_t bits, const contest_ground& on) {
  return static_cast<double>(bits) / static_cast<double>(on.members.size());
}

std::span<const digest> first_part(const contest_ground& on) {
  return std::span(on.queries).first(on.queries.size() / log_parts);
}

struct static_answers {
  std::vector<digest> positives;  // the queries that it says yes to, in order
  double bits_per_key = 0;
};

// Of a filter that holds the members and never changes.
result<static_answers> answers_of(const std::string& id, double bits_per_key, const contest_ground& on,
                                  std::span<const digest> queries) {
  filter_params params{.capacity = on.members.size(), .fpr = std::nullopt, .bits_per_key = bits_per_key};
  TAMIS_TRY(any_filter f, any_filter::create(id, params));
  if (f.insert_many(on.members) != on.members.size()) return failure{id + " was full before its capacity"};
  static_answers made{{}, per_key(f.bits().fast, on)};
  std::array<bool, 1024> yes{};
  for (std::size_t first = 0; first < queries.size(); first += yes.size()) {
    const auto chunk = queries.subspan(first, std::min(yes.size(), queries.size() - first));
    f.may_contain_many(chunk, std::span(yes).first(chunk.size()));
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      if (yes[i]) made.positives.push_back(chunk[i]);
    }
  }
  return made;
}

tag_cache cache_of(double share, const contest_game& g, tags width) {
  const double bits = share * g.bits_per_key * static_cast<double>(g.played.members.size());
  return tag_cache(tag_cache::sets_in(bits, width), width);
}

constexpr tags widths[] = {tags::of_64_bits, tags::of_128_bits};

// For each width the share that lets through least, smaller ones first; share 0 can always be had. Shares whose filter cannot
// be made do not count.
class share_choice {
 public:
  void see(double share, std::size_t width, std::uint64_t wrong) {
    if (seen_[width] && wrong >= least_[width]) return;
    seen_[width] = true;
    least_[width] = wrong;
    share_[width] = share;
  }
  double share(std::size_t width) const { return share_[width]; }

 private:
  std::array<bool, 2> seen_{};
  std::array<std::uint64_t, 2> least_{};
  std::array<double, 2> share_{};
};

share_choice choose(const contest_game& g, const std::string& id, const contest_ground& on, std::span<const digest> queries) {
  share_choice best;
  for (const double share : tried_shares) {
    const result<static_answers> answers = answers_of(id, (1 - share) * g.bits_per_key, on, queries);
    if (!answers) continue;
    for (std::size_t w = 0; w < std::size(widths); ++w) {
      best.see(share, w, missed(cache_of(share, g, widths[w]), answers->positives));
    }
  }
  return best;
}

result<cache_scores> play_shares(const contest_game& g, const std::string& name, const std::string& id,
                                 const share_choice& chosen) {
  const auto play = [&](double share, tags width) -> result<score> {
    TAMIS_TRY(const static_answers answers, answers_of(id, (1 - share) * g.bits_per_key, g.played, g.played.queries));
    const tag_cache cache = cache_of(share, g, width);
    const auto wrong = static_cast<double>(missed(cache, answers.positives));
    return score{name, wrong, answers.bits_per_key + per_key(cache.bits(), g.played), 0, share};
  };
  TAMIS_TRY(score alone, play(0, widths[0]));
  TAMIS_TRY(score narrow, play(chosen.share(0), widths[0]));
  TAMIS_TRY(score wide, play(chosen.share(1), widths[1]));
  narrow.name += "+64";
  wide.name += "+128";
  return cache_scores{std::move(alone), std::move(narrow), std::move(wide)};
}

std::vector<digest> fuse_positives(std::span<const digest> queries, unsigned w) {
  const fuse_model filter(w);
  std::vector<digest> wrong;
  std::copy_if(queries.begin(), queries.end(), std::back_inserter(wrong), [&](digest d) { return filter.is_wrong_about(d); });
  return wrong;
}

}  // namespace

std::uint64_t missed(tag_cache cache, const std::vector<digest>& queries) {
  std::uint64_t count = 0;
  for (const digest d : queries) {
    if (cache.touch(d)) continue;
    cache.add(d);
    ++count;
  }
  return count;
}

result<score> play_adaptive(const contest_game& g, const std::string& name, const std::string& id, const option_list& options) {
  const contest_ground& on = g.played;
  filter_params params{.capacity = on.members.size(), .fpr = std::nullopt, .bits_per_key = g.bits_per_key, .options = options};
  TAMIS_TRY(any_filter f, any_filter::create(id, params));
  if (f.insert_many(on.members) != on.members.size()) return failure{name + " was full before its capacity"};
  const remote_ref stored(on.stored);
  std::uint64_t wrong = 0;
  for (const digest d : on.queries) {
    if (!f.may_contain(d)) continue;
    ++wrong;
    f.adapt(d, stored);
  }
  return score{name, static_cast<double>(wrong), per_key(f.bits().fast, on), per_key(f.bits().slow, on), 0};
}

result<score> play_listed(const contest_game& g, const std::string& name, const std::string& id) {
  const contest_terms terms{id, g.played.members.size(), g.bits_per_key};
  TAMIS_TRY(const double share, choose_share<known_mistakes>(terms, g.tried.members, g.tried.queries, g.tried.stored));
  TAMIS_TRY(known_mistakes f, known_mistakes::make(terms, share));
  for (const digest d : g.played.members) {
    if (!f.insert(d, g.played.stored)) return failure{name + " was full before its capacity"};
  }
  std::uint64_t wrong = 0;
  for (const digest d : g.played.queries) wrong += f.ask(d, g.played.stored);
  return score{name, static_cast<double>(wrong), per_key(f.fast_bits(), g.played), 0, share};
}

result<cache_scores> play_cached(const contest_game& g, const std::string& name, const std::string& id) {
  return play_shares(g, name, id, choose(g, id, g.tried, first_part(g.tried)));
}

result<cache_scores> play_cached_in_hindsight(const contest_game& g, const std::string& name, const std::string& id) {
  return play_shares(g, name, id, choose(g, id, g.played, g.played.queries));
}

score play_static_set(const contest_game& g, const std::string& name) {
  const auto share_left = [&g](unsigned w) { return 1 - fuse_model(w).bits_per_key() / g.bits_per_key; };
  const auto cache_for = [&](unsigned w) { return cache_of(share_left(w), g, tags::of_64_bits); };
  const unsigned widest = fuse_model::widest_in(g.bits_per_key);
  unsigned best = widest;
  std::uint64_t least = ~std::uint64_t{0};
  for (unsigned w = widest; w >= 4; --w) {
    const std::uint64_t wrong = missed(cache_for(w), fuse_positives(first_part(g.tried), w));
    if (wrong >= least) continue;
    least = wrong;
    best = w;
  }
  const auto wrong = static_cast<double>(missed(cache_for(best), fuse_positives(g.played.queries, best)));
  return {name, wrong, g.bits_per_key, 0, share_left(best)};
}

}  // namespace tamis::lab
