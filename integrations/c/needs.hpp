#pragma once

#include "integrations/c/boundary.hpp"
#include "integrations/c/handles.hpp"

namespace tamis::c {

// The filter is there and has the capability.
inline status needs(const tamis_filter* filter, bool capabilities::*capability, const char* name) {
  TAMIS_CHECK(given(filter, "filter"));
  if (filter->visit([](const auto& f) { return f.can(); }).*capability) return {};
  return failure{"the filter " + filter->kind + " cannot " + name, error_code::unsupported};
}

}  // namespace tamis::c
