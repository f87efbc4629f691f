#include "tamis/detail/io/checksum.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tamis::detail {

struct checksum::state {
  XXH3_state_t xxh;
};

checksum::checksum() : state_(std::make_unique<state>()) { XXH3_64bits_reset(&state_->xxh); }
checksum::checksum(checksum&&) noexcept = default;
checksum::~checksum() = default;

void checksum::update(std::span<const std::byte> bytes) { XXH3_64bits_update(&state_->xxh, bytes.data(), bytes.size()); }

std::uint64_t checksum::value() const { return XXH3_64bits_digest(&state_->xxh); }

}  // namespace tamis::detail
