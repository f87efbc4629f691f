#include "benchmarks/peers/groups.hpp"
#include "tamis/batch.hpp"
#include "tamis/filters/ascf.hpp"
#include "tamis/filters/cuckoo.hpp"
#include "tamis/filters/evergreen.hpp"
#include "tamis/filters/exaf.hpp"
#include "tamis/filters/rsqf.hpp"
#include "tamis/filters/taf.hpp"

namespace tamis::benchmarks {
namespace {

using lab::key_span;

template <filter F>
class single_filter : public rival {
 public:
  explicit single_filter(const filter_params& params) : filter_(F::create(params).value()) {}

  std::size_t insert(key_span keys) override {
    return lab::count_singles(keys, hash_, [this](digest d) { return filter_.insert(d) == insert_result::inserted; });
  }
  std::size_t count(key_span keys) override {
    return lab::count_singles(keys, hash_, [this](digest d) { return filter_.contains(d); });
  }
  std::size_t erase(key_span keys) override {
    return lab::count_singles(keys, hash_, [this](digest d) { return filter_.erase(d) == erase_result::erased; });
  }
  bool can_erase() const override { return true; }
  double expected_fpr() const override { return filter_.expected_fpr(); }
  std::uint64_t bits() const override { return filter_.bits().fast; }

 protected:
  hasher hash_;
  F filter_;
};

template <filter F>
class batched_filter final : public single_filter<F> {
 public:
  using single_filter<F>::single_filter;

  std::size_t insert(key_span keys) override {
    lab::chunk_hasher digests(hash_);
    return lab::sum_chunks(keys, [&](key_span chunk) { return tamis::insert_many(filter_, digests(chunk)); });
  }
  std::size_t count(key_span keys) override {
    return lab::count_chunks(keys, [this](key_span chunk, std::span<bool> out) { contains_many(filter_, hash_, chunk, out); });
  }
  std::size_t erase(key_span keys) override {
    lab::chunk_hasher digests(hash_);
    return lab::sum_chunks(keys, [&](key_span chunk) { return tamis::erase_many(filter_, digests(chunk)); });
  }

 private:
  using single_filter<F>::hash_;
  using single_filter<F>::filter_;
};

// `capacity(slots, keys)`: what the filter is made for.
template <filter F, class Capacity>
std::vector<entrant> pair(std::string name, const std::string& peer, Capacity capacity, option_list options) {
  const auto make = [=]<class Rival>(std::type_identity<Rival>) -> rival_maker {
    return [=](std::uint64_t slots, std::uint64_t keys) -> std::unique_ptr<rival> {
      return std::make_unique<Rival>(filter_params{.capacity = capacity(slots, keys), .fpr = 0.4, .options = options});
    };
  };
  return {{name, peer, make(std::type_identity<single_filter<F>>())},
          {name + ", batched", peer, make(std::type_identity<batched_filter<F>>())}};
}

}  // namespace

std::vector<entrant> ours(our_filter filter, std::string name, const std::string& peer) {
  const auto these_keys = [](std::uint64_t, std::uint64_t keys) { return keys; };
  const auto these_slots = [](std::uint64_t slots, std::uint64_t) { return slots * 95 / 100; };  // their highest load
  const auto few_keys = [](std::uint64_t, std::uint64_t) { return std::uint64_t{1024}; };
  const option_list twelve = {{"fingerprint", "12"}}, eight = {{"remainder", "8"}};
  switch (filter) {
    case our_filter::cuckoo: return pair<cuckoo>(name, peer, these_keys, twelve);
    case our_filter::ascf: return pair<ascf>(name, peer, these_keys, twelve);
    case our_filter::rsqf: return pair<rsqf>(name, peer, these_keys, eight);
    case our_filter::rsqf_of_slots: return pair<rsqf>(name, peer, these_slots, eight);
    case our_filter::taf: return pair<taf>(name, peer, these_slots, eight);
    case our_filter::exaf: return pair<exaf>(name, peer, these_slots, eight);
    case our_filter::evergreen: return pair<evergreen>(name, peer, these_keys, {{"fingerprint", "8"}});
    case our_filter::evergreen_grown:
      return pair<evergreen>(name, peer, few_keys, {{"fingerprint", "8"}, {"fingerprints", "fixed"}});
  }
  return {};
}

}  // namespace tamis::benchmarks
