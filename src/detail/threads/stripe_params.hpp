#pragma once

// The parameters of one stripe's filter, from those of the whole.

#include "tamis/params.hpp"

namespace tamis::detail {

// The capacity is a stripe's share. So are the entries of a list of known mistakes, which are given for the whole; bits per key
// hold for every stripe alike. What cannot be read is for the filter to refuse.
filter_params params_of_stripe(filter_params whole, std::uint32_t stripes);

}  // namespace tamis::detail
