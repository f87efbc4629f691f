#include "replay_rivals.hpp"

#include <array>
#include <cmath>
#include <vector>

#include "lab/contenders.hpp"
#include "numbers.hpp"
#include "tamis/registry.hpp"

namespace tamis::cli {
namespace {

constexpr std::string_view fuse = "fuse-model";
constexpr std::string_view lru = "+lru";

std::string_view filter_of(std::string_view name) {
  if (name.ends_with(lru)) name.remove_suffix(lru.size());
  return name;
}

// What lies behind the cache. `maybe[i]`: would it let the query pass?
class cached_filter {
 public:
  explicit cached_filter(any_filter f) : filter_(std::move(f)) {}
  void may_contain(std::span<const digest> queries, const slow_side& /*store*/, std::span<bool> maybe) const {
    filter_.may_contain_many(queries, maybe);
  }
  std::uint64_t bits() const { return filter_.bits().fast; }
  static constexpr bool can_change = true;
  static constexpr bool is_timed = true;

 private:
  any_filter filter_;
};

class modelled_fuse {
 public:
  modelled_fuse(lab::fuse_model f, std::uint64_t members) : filter_(f), members_(members) {}
  void may_contain(std::span<const digest> queries, const slow_side& store, std::span<bool> maybe) const {
    for (std::size_t i = 0; i < queries.size(); ++i) {
      maybe[i] = filter_.is_wrong_about(queries[i]) || store.contains(queries[i]);
    }
  }
  std::uint64_t bits() const {
    return static_cast<std::uint64_t>(std::ceil(filter_.bits_per_key() * static_cast<double>(members_)));
  }
  static constexpr bool can_change = false;
  static constexpr bool is_timed = false;

 private:
  lab::fuse_model filter_;
  std::uint64_t members_;
};

template <class Filter>
class rival final : public filtering_side {
 public:
  rival(std::string_view name, Filter f, lab::tag_cache cache)
      : name_(name), filter_(std::move(f)), cache_(std::move(cache)), learns_(name.ends_with(lru)) {}

  std::string name() const override { return name_; }
  void look_up(std::span<const digest> queries, const slow_side& store, std::span<outcome> out) override {
    std::array<bool, step> maybe;
    for (std::size_t first = 0; first < queries.size(); first += step) {
      const auto part = queries.subspan(first, std::min(step, queries.size() - first));
      filter_.may_contain(part, store, std::span(maybe).first(part.size()));
      for (std::size_t i = 0; i < part.size(); ++i) out[first + i] = maybe[i] ? consult(part[i], store) : outcome::stopped;
    }
  }
  memory_bits bits() const override { return {filter_.bits() + cache_.bits()}; }
  bool learns() const override { return learns_; }
  bool can_change() const override { return Filter::can_change; }
  bool is_timed() const override { return Filter::is_timed; }

 private:
  static constexpr std::size_t step = 1024;

  // What the filter says "maybe" to.
  outcome consult(digest d, const slow_side& store) {
    if (learns_ && cache_.touch(d)) return outcome::stopped;
    if (store.contains(d)) return outcome::found;
    if (learns_) cache_.add(d);
    return outcome::in_vain;
  }

  std::string name_;
  Filter filter_;
  lab::tag_cache cache_;
  bool learns_;
};

template <class Filter>
std::shared_ptr<filtering_side> as_side(std::string_view name, Filter filter, lab::tag_cache cache) {
  return std::make_shared<rival<Filter>>(name, std::move(filter), std::move(cache));
}

std::vector<digest> absent(const lineup_trial& tried, const memory_remote& stored) {
  std::vector<digest> queries;
  for (const digest d : tried.queries) {
    if (!stored.contains(d)) queries.push_back(d);
  }
  return queries;
}

// What of the memory the cache gets; none, where nothing can be learnt from the beginning of the log.
template <class Contender>
result<double> cache_share(const rival_terms& terms, const lineup_trial& tried) {
  if (!terms.name.ends_with(lru) || tried.members.empty()) return 0.0;
  memory_remote stored;
  for (const digest d : tried.members) stored.insert(d);
  const std::vector<digest> queries = absent(tried, stored);
  if (queries.empty()) return 0.0;
  const lab::contest_terms game{std::string(filter_of(terms.name)), tried.members.size(), terms.bits_per_key,
                                terms.params.options};
  return lab::choose_share_on<Contender>(game, tried.members, queries, stored);
}

lab::contest_terms terms_of(const rival_terms& terms) {
  return {std::string(filter_of(terms.name)), terms.params.capacity, terms.bits_per_key, terms.params.options};
}

result<std::shared_ptr<filtering_side>> make_fuse(const rival_terms& terms, std::span<const digest> members,
                                                  const lineup_trial& tried) {
  if (terms.bits_per_key == 0) {
    const auto width = static_cast<unsigned>(std::ceil(-std::log2(*terms.params.fpr)));
    return as_side(terms.name, modelled_fuse(lab::fuse_model(width), members.size()), lab::tag_cache(0));
  }
  TAMIS_TRY(const double share, cache_share<lab::fuse_with_cache>(terms, tried));
  TAMIS_TRY(lab::fuse_with_cache made, lab::fuse_with_cache::make(terms_of(terms), share));
  return as_side(terms.name, modelled_fuse(made.filter(), members.size()), std::move(made.cache()));
}

}  // namespace

bool is_rival(std::string_view name) { return name == fuse || name.ends_with(lru); }

status check_rival(std::string_view name) {
  const std::string_view id = filter_of(name);
  if (id == fuse) return {};
  TAMIS_TRY(const registry_entry* entry, registry::builtin().find(id));
  if (entry->can.adapt) return failure{std::string(id) + " adapts: a cache is for a filter that does not"};
  return {};
}

result<std::shared_ptr<filtering_side>> make_rival(const rival_terms& terms, std::span<const digest> members,
                                                   const lineup_trial& tried) {
  if (terms.bits_per_key == 0 && terms.name.ends_with(lru)) return failure{"shares a memory: it is for --compare memory"};
  if (filter_of(terms.name) == fuse) return make_fuse(terms, members, tried);
  TAMIS_TRY(const double share, cache_share<lab::lru_tag_cache>(terms, tried));
  TAMIS_TRY(lab::lru_tag_cache made, lab::lru_tag_cache::make(terms_of(terms), share));
  const std::size_t in = made.filter().insert_many(members);
  if (in != members.size()) return failure{"full after " + grouped(in) + " of " + counted(members.size(), "member")};
  return as_side(terms.name, cached_filter(std::move(made.filter())), std::move(made.cache()));
}

}  // namespace tamis::cli
