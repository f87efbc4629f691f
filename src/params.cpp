#include "tamis/params.hpp"

#include <algorithm>
#include <charconv>

#include "tamis/detail/base/shown.hpp"

namespace tamis {
namespace {

using detail::shown;

template <class Names>
std::string joined(const Names& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

status check_options(const filter_info& info, const filter_params& params) {
  std::vector<std::string_view> known;
  for (const option_info& option : info.options) known.push_back(option.name);
  for (auto option = params.options.begin(); option != params.options.end(); ++option) {
    const std::string& name = option->first;
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      std::string message = "option '" + name + "': unknown, filter ";
      message.append(info.id).append(known.empty() ? " has no options" : " has: ").append(joined(known));
      return failure{message};
    }
    const auto same = [&name](const auto& other) { return other.first == name; };
    if (std::any_of(params.options.begin(), option, same)) return failure{"option '" + name + "': given twice"};
  }
  return {};
}

const std::string* find_option(const filter_params& params, std::string_view name) {
  for (const auto& [key, value] : params.options) {
    if (key == name) return &value;
  }
  return nullptr;
}

}  // namespace

status check_params(const filter_info& info, const filter_params& params) {
  if (params.capacity == 0 || params.capacity > largest_capacity) {
    return failure{"capacity " + std::to_string(params.capacity) + ": must be 1 to " + std::to_string(largest_capacity),
                   error_code::out_of_range};
  }
  if (params.fpr && params.bits_per_key) return failure{"fpr and bits per key: give one of them, not both"};
  if (!params.fpr && !params.bits_per_key) return failure{"fpr or bits per key: one of them is needed"};
  if (params.fpr && !(*params.fpr > 0.0 && *params.fpr < 1.0)) {
    return failure{"fpr " + shown(*params.fpr) + ": must be above 0 and below 1", error_code::out_of_range};
  }
  if (params.bits_per_key && !(*params.bits_per_key > 0.0 && *params.bits_per_key <= most_bits_per_key)) {
    return failure{"bits per key " + shown(*params.bits_per_key) + ": must be above 0 and at most " + shown(most_bits_per_key),
                   error_code::out_of_range};
  }
  if (params.memory != nullptr && params.memory != &current_memory()) {
    return failure{"memory: a filter of a static type takes it from a memory_scope around all that changes it"};
  }
  return check_options(info, params);
}

result<std::uint64_t> number_option(const filter_params& params, std::string_view name, std::uint64_t fallback,
                                    std::uint64_t least, std::uint64_t most) {
  const std::string* text = find_option(params, name);
  if (text == nullptr) return fallback;
  std::uint64_t value = 0;
  const auto [end, failed] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (failed != std::errc() || end != text->data() + text->size() || value < least || value > most) {
    return failure{"option " + std::string(name) + "=" + *text + ": must be a whole number from " + std::to_string(least) +
                       " to " + std::to_string(most),
                   error_code::out_of_range};
  }
  return value;
}

result<std::string> choice_option(const filter_params& params, std::string_view name, std::string_view fallback,
                                  std::span<const std::string_view> allowed) {
  const std::string* text = find_option(params, name);
  if (text == nullptr) return std::string(fallback);
  if (std::find(allowed.begin(), allowed.end(), *text) == allowed.end()) {
    return failure{"option " + std::string(name) + "=" + *text + ": must be one of " + joined(allowed)};
  }
  return *text;
}

}  // namespace tamis
