#include "tamis/key_batch.hpp"

namespace tamis {

result<key_batch> key_batch::of_width(std::span<const std::byte> bytes, std::size_t width) {
  if (width == 0) return failure{"keys of a width of 0 bytes: must be at least 1", error_code::out_of_range};
  if (bytes.size() % width != 0) {
    return failure{std::to_string(bytes.size()) + " bytes are no whole number of keys of " + std::to_string(width)};
  }
  return key_batch(bytes.data(), bytes.size() / width, width, &hash_fixed);
}

template <std::integral Offset>
result<key_batch> key_batch::from_offsets(std::span<const Offset> offsets, std::span<const std::byte> bytes) {
  if (offsets.empty()) return key_batch();
  if (offsets[0] < Offset{0}) return failure{"offset 0 is below 0", error_code::out_of_range};
  bool ascending = true;  // one pass without a branch per key
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) ascending &= offsets[i] <= offsets[i + 1];
  if (!ascending) return failure{"the offsets of keys descend", error_code::out_of_range};
  if (static_cast<std::uint64_t>(offsets.back()) > bytes.size()) {
    return failure{
        "the last offset is " + std::to_string(offsets.back()) + ", but there are " + std::to_string(bytes.size()) + " bytes",
        error_code::out_of_range};
  }
  key_batch made(offsets.data(), offsets.size() - 1, sizeof(Offset), &hash_between<Offset>);
  made.context_ = bytes.data();
  return made;
}

template result<key_batch> key_batch::from_offsets(std::span<const std::int32_t>, std::span<const std::byte>);
template result<key_batch> key_batch::from_offsets(std::span<const std::int64_t>, std::span<const std::byte>);
template result<key_batch> key_batch::from_offsets(std::span<const std::uint32_t>, std::span<const std::byte>);
template result<key_batch> key_batch::from_offsets(std::span<const std::uint64_t>, std::span<const std::byte>);

void key_batch::hash_fixed(const key_batch& keys, const hasher& with, std::size_t first, std::span<digest> out) {
  const std::byte* from = static_cast<const std::byte*>(keys.data_) + first * keys.stride_;
  for (digest& d : out) {
    d = with(std::span(from, keys.stride_));
    from += keys.stride_;
  }
}

template <class Offset>
void key_batch::hash_between(const key_batch& keys, const hasher& with, std::size_t first, std::span<digest> out) {
  const Offset* const offsets = static_cast<const Offset*>(keys.data_) + first;
  const std::byte* const bytes = static_cast<const std::byte*>(keys.context_);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = with(std::span(bytes + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])));
  }
}

}  // namespace tamis
