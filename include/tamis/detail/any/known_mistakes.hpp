#pragma once

// A filter of any kind with a list of known mistakes (detail/mistakes/mistake_list.hpp). The option `mistakes` asks for it; the
// filter itself never sees the option, the list, or that it is wrapped.
//
//   lookup   the filter's "no" is a "no"; of its "maybe" the list is asked, and what is listed is a "no"
//   adapt    the filter's own fix, if it has one; what it cannot fix is listed, unless the remote has it
//   insert   takes the key off the list
//
// A saved filter with a list is of the kind "ID+mistakes": the filter's payload, and the list's behind it.

#include <memory>

#include "tamis/any_filter.hpp"
#include "tamis/registry.hpp"

namespace tamis::detail {

// Makes a filter, with a list if the options ask for one. Bits per key pay for the list too; with a rate it comes on top.
result<std::unique_ptr<any_model>> make_model(const registry_entry& entry, const filter_params& params);

// What a saved filter says it is.
std::string saved_kind(const any_model& model);

// Reads what `model.save` wrote into a frame of `saved_kind`.
result<std::unique_ptr<any_model>> load_model(const registry& known, const frame_header& header, reader& in);

}  // namespace tamis::detail
