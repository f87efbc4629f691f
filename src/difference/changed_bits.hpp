#pragma once

// What still differs when all pieces and slots are in place: the gaps from one changed bit to the next, or, where most of a
// page is new, the page itself.
//
//   pages of 4096 bytes | a bit each: is it sent as it is? |   then, over the bytes of all other pages: gap, gap, …, gap to the
//   end

#include <cstdint>
#include <span>
#include <vector>

#include "bit_coder.hpp"

namespace tamis::difference {

// Codes what makes `made` of `base`; pages that are sent go to `raw`. `all_raw`: all are.
// Requires: both are as long.
void put_changed_bits(bit_encoder& to, std::span<const std::byte> base, std::span<const std::byte> made,
                      std::vector<std::byte>& raw, bool all_raw);
// Does it to `payload`. False for a code that no difference has.
bool take_changed_bits(bit_decoder& from, std::span<std::byte> payload, std::span<const std::byte> raw);

}  // namespace tamis::difference
