#pragma once

// SipHash-2-4 with 128 bits of output (Aumasson and Bernstein, 2012): a keyed hash whose collisions nobody can find without the
// key.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tamis/digest.hpp"

namespace tamis::detail {

// The first output word is `high`, the second `low`.
digest siphash128(std::span<const std::byte> message, std::array<std::uint64_t, 2> key);

}  // namespace tamis::detail
