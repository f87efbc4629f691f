#include "tamis/detail/io/checksum.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tamis::detail {

struct checksum::state {
  XXH3_state_t xxh;
};

checksum::checksum() : state_(std::make_unique<state>()) { reset(); }
checksum::checksum(checksum&&) noexcept = default;
checksum::~checksum() = default;

std::uint64_t checksum::of(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

void checksum::update(std::span<const std::byte> bytes) { XXH3_64bits_update(&state_->xxh, bytes.data(), bytes.size()); }

std::uint64_t checksum::value() const { return XXH3_64bits_digest(&state_->xxh); }

void checksum::reset() { XXH3_64bits_reset(&state_->xxh); }

}  // namespace tamis::detail
