#include "stripe_params.hpp"

#include <charconv>

#include "tamis/detail/any/known_mistakes.hpp"
#include "tamis/detail/base/checked.hpp"
#include "tamis/detail/mistakes/mistake_list.hpp"
#include "tamis/detail/threads/stripe_map.hpp"

namespace tamis::detail {

filter_params params_of_stripe(filter_params whole, std::uint32_t stripes) {
  whole.capacity = share_of_stripe(whole.capacity, stripes);
  for (auto& [name, value] : whole.options) {
    if (&value != list_option(whole.options)) continue;
    std::uint64_t entries = 0;
    const char* const last = value.data() + value.size();
    const auto read = std::from_chars(value.data(), last, entries);
    if (read.ec != std::errc() || read.ptr != last || entries > mistake_list::most_entries) continue;
    value = std::to_string(divide_up(entries, stripes));
  }
  return whole;
}

}  // namespace tamis::detail
