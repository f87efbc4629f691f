#pragma once

// What a slot of `width` bits says of an entry, a prefix of its key's stream:
//
//   uniform   | w bits |                     every plain entry has w bits: slots are compared as they are
//   aged      | payload · 1 · 0 … 0 |        it has lost bits to its quotient and says where it ends: those bits are compared
//                                            that stand above the slot's lowest one; 0 is no plain entry

#include <cstdint>

namespace tamis::detail {

enum class slot_format : std::uint8_t { uniform, aged };

}  // namespace tamis::detail
