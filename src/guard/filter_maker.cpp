#include "filter_maker.hpp"

#include <algorithm>

#include "../detail/threads/stripe_params.hpp"
#include "tamis/detail/any/known_mistakes.hpp"
#include "tamis/registry.hpp"

namespace tamis {
namespace {

// A filter that is made because keys are coming should not be full again soon; one that is only made again keeps its size.
std::uint64_t grown(std::uint64_t capacity, std::uint64_t keys, std::uint64_t room, bool larger) {
  const std::uint64_t most = room == 0 ? capacity : capacity - capacity / 4;
  return larger || keys + room > most ? 2 * std::max(keys + room, capacity) : capacity;
}

const registry& registry_of(const guard_options& options) {
  return options.known != nullptr ? *options.known : registry::builtin();
}

}  // namespace

guard_options with_list(guard_options options) {
  const auto entry = registry_of(options).find(options.filter);  // "ID+mistakes" is no entry: it has said so itself
  if (entry && !(*entry)->can.adapt && detail::list_option(options.params.options) == nullptr) options.filter += "+mistakes";
  return options;
}

filter_maker::filter_maker(const guard_options& options, const hasher& hash, std::uint32_t stripes)
    : known_(registry_of(options)),
      id_(options.filter),
      params_(detail::params_of_stripe(options.params, stripes)),
      hash_(hash),
      capacity_(params_.capacity) {
  if (params_.memory == nullptr) params_.memory = &current_memory();
}

result<any_filter> filter_maker::make(std::uint64_t capacity) const {
  filter_params params = params_;
  params.capacity = capacity;
  return any_filter::create(known_, id_, params, hash_);
}

result<any_filter> filter_maker::rebuild(const store& behind, const stripe_map& map, std::uint32_t index, size_wish wish,
                                         const std::function<bool()>& go_on) const {
  constexpr std::size_t look_up_every = 4096;
  std::vector<digest> found;
  bool stopped = false;
  TAMIS_CHECK(behind.scan(map.range(index), scan_size::many, [&](digest d) {
    found.push_back(map.local(d));
    stopped = found.size() % look_up_every == 0 && !go_on();
    return !stopped;
  }));
  if (stopped) return failure{behind.name() + ": the rebuild was interrupted", error_code::in_use};
  // A filter that is at most half full and refuses a key would do so at any size.
  for (std::uint64_t capacity = grown(std::max(wish.old_capacity, capacity_), found.size(), wish.room, wish.larger);;
       capacity += capacity / 2) {
    TAMIS_TRY(any_filter filter, make(capacity));
    if (filter.insert_many(found) == found.size()) return filter;
    if (found.size() <= capacity / 2) {
      return failure{id_ + ": refuses the " + std::to_string(found.size()) + " keys of a stripe even with room for " +
                         std::to_string(capacity) + ", since too many have digests of the same first bits",
                     error_code::full};
    }
  }
}

}  // namespace tamis
