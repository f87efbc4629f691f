#pragma once

// A filter of any kind with a list of known mistakes (detail/mistakes/mistake_list.hpp). The option `mistakes` asks for it; the
// filter itself never sees the option, the list, or that it is wrapped.
//
//   lookup   the filter's "no" is a "no"; of its "maybe" the list is asked, and what is listed is a "no"
//   adapt    the filter's own fix, if it has one; what it cannot fix is listed, unless the remote has it
//   insert   takes the key off the list
//
// "ID+mistakes" is the kind of a filter with a list: what a saved one says it is, its payload being the filter's and the list's
// behind it, and what one may ask for by name.

#include <memory>
#include <optional>

#include "tamis/any_filter.hpp"
#include "tamis/registry.hpp"

namespace tamis::detail {

inline constexpr std::uint64_t keys_per_mistake = 64;  // of a list whose size nobody has said

struct filter_kind {
  std::string_view id;
  bool has_list = false;
};
filter_kind parse_kind(std::string_view text);

// What the option says about the list, first; nullptr if it says nothing.
const std::string* list_option(const option_list& options);

// Makes a filter, with a list if the kind or the options ask for one. Bits per key pay for the list too; with a rate it comes
// on top.
result<std::unique_ptr<any_model>> make_model(const registry& known, std::string_view kind, const filter_params& params);

std::string kind_of(const any_model& model);

// The list of a filter that has one: how many entries there are, how many of them are in use, and the memory of all.
struct list_use {
  std::uint64_t entries = 0;
  std::uint64_t in_use = 0;
  std::uint64_t bits = 0;
};
std::optional<list_use> list_of(const any_model& model);

// Reads what `model.save` wrote into a frame of its kind.
result<std::unique_ptr<any_model>> load_model(const registry& known, const frame_header& header, reader& in);

}  // namespace tamis::detail
