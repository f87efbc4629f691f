#pragma once

#include <cstdint>

namespace tamis::detail {

// What all tables of 1 KiB to 1 MiB take in huge_page_memory() now, with what is left over in their pages.
std::uint64_t bytes_of_small_tables();

}  // namespace tamis::detail
