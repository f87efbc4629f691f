#include "filter_maker.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include "tamis/detail/any/known_mistakes.hpp"
#include "tamis/detail/base/checked.hpp"
#include "tamis/detail/mistakes/mistake_list.hpp"
#include "tamis/registry.hpp"

namespace tamis {
namespace {

constexpr std::uint64_t least_keys_of_stripe = 16'384;
constexpr std::uint32_t most_default_stripes = 16;

// Keys fall into stripes by chance. Four standard deviations above the mean, so that hardly any stripe is ever short of room.
std::uint64_t share_of(std::uint64_t total, std::uint32_t stripes) {
  if (stripes == 1) return total;
  const double mean = static_cast<double>(total) / stripes;
  return static_cast<std::uint64_t>(std::ceil(mean + 4 * std::sqrt(mean)));
}

// A filter that is made because keys are coming should not be full again soon; one that is only made again keeps its size.
std::uint64_t grown(std::uint64_t capacity, std::uint64_t keys, std::uint64_t room, bool larger) {
  const std::uint64_t most = room == 0 ? capacity : capacity - capacity / 4;
  return larger || keys + room > most ? 2 * std::max(keys + room, capacity) : capacity;
}

// Entries are given for the whole store, bits per key for every stripe alike. What cannot be read is for the filter to refuse.
filter_params params_of_stripe(filter_params params, std::uint32_t stripes) {
  for (auto& [name, value] : params.options) {
    if (&value != detail::list_option(params.options)) continue;
    std::uint64_t entries = 0;
    const char* const last = value.data() + value.size();
    const auto read = std::from_chars(value.data(), last, entries);
    if (read.ec != std::errc() || read.ptr != last || entries > detail::mistake_list::most_entries) continue;
    value = std::to_string(detail::divide_up(entries, stripes));
  }
  return params;
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

std::uint32_t default_stripes(std::uint64_t capacity) {
  const std::uint64_t most = std::clamp<std::uint64_t>(capacity / least_keys_of_stripe, 1, most_default_stripes);
  return static_cast<std::uint32_t>(std::bit_floor(most));
}

filter_maker::filter_maker(const guard_options& options, const hasher& hash, std::uint32_t stripes)
    : known_(registry_of(options)),
      id_(options.filter),
      params_(params_of_stripe(options.params, stripes)),
      hash_(hash),
      capacity_(share_of(options.params.capacity, stripes)) {
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
