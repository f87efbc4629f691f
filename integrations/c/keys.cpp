#include "integrations/c/keys.hpp"

#include <cstring>
#include <string>

#include "integrations/c/boundary.hpp"

namespace tamis::c {
namespace {

// Arrow's view of a string: short ones stand in the view itself, long ones in a buffer.
struct arrow_view {
  std::int32_t size;
  std::int32_t prefix;
  std::int32_t buffer;
  std::int32_t offset;

  static constexpr std::int32_t most_inline = 12;
};
static_assert(sizeof(arrow_view) == 16);

std::string at_key(std::uint64_t i) { return "keys: key " + std::to_string(i); }

std::uint64_t integer_size(std::uint32_t form) {
  constexpr std::uint64_t sizes[] = {0, 8, 8, 4, 4, 2, 2, 1, 1};
  return sizes[form];
}

template <class T>
T read_as(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T>
T element(const void* array, std::uint64_t i) {
  return read_as<T>(static_cast<const std::byte*>(array) + i * sizeof(T));
}

}  // namespace

result<nullable_keys> nullable_keys::checked(const tamis_keys* keys) {
  TAMIS_CHECK(given(keys, "keys"));
  // Fields that a program compiled against an older header does not have are 0.
  constexpr std::size_t least = offsetof(tamis_keys, width);
  if (keys->struct_size < least || keys->struct_size > 4096) {
    return failure{"keys: struct_size is " + std::to_string(keys->struct_size) + ", must be sizeof(tamis_keys)"};
  }
  tamis_keys known{};
  std::memcpy(&known, keys, std::min<std::size_t>(keys->struct_size, sizeof known));
  nullable_keys batch(known);
  if (known.count == 0) {
    batch.keys_.validity = nullptr;
    return batch;
  }
  TAMIS_CHECK(batch.check_form());
  return batch;
}

status nullable_keys::check_form() {
  if (keys_.count > std::uint64_t{1} << 60) return failure{"keys: too many", error_code::out_of_range};
  if (keys_.form < TAMIS_U64 || keys_.form > TAMIS_DIGESTS) {
    return failure{"keys: form " + std::to_string(keys_.form) + " is unknown"};
  }
  const bool may_be_empty =
      keys_.form == TAMIS_OFFSETS32 || keys_.form == TAMIS_OFFSETS64 || (keys_.form == TAMIS_FIXED_WIDTH && keys_.width == 0);
  if (!may_be_empty) TAMIS_CHECK(given(keys_.data, "keys: data"));
  if (keys_.form <= TAMIS_I8) return check_stride(integer_size(keys_.form));
  switch (keys_.form) {
    case TAMIS_FIXED_WIDTH:
    case TAMIS_PADDED: return check_stride(keys_.width);
    case TAMIS_OFFSETS32: return check_offsets<std::int32_t>();
    case TAMIS_OFFSETS64: return check_offsets<std::int64_t>();
    case TAMIS_VIEWS: return check_views();
    case TAMIS_SLICES: return check_slices();
    default: return check_stride(sizeof(digest));
  }
}

status nullable_keys::check_stride(std::uint64_t size) {
  constexpr std::uint64_t most = std::uint64_t{1} << 40;
  if (size > most) return failure{"keys: a width of " + std::to_string(size) + " bytes", error_code::out_of_range};
  if (keys_.stride == 0) keys_.stride = static_cast<std::int64_t>(size);
  const std::uint64_t step =
      keys_.stride < 0 ? -static_cast<std::uint64_t>(keys_.stride) : static_cast<std::uint64_t>(keys_.stride);
  if (step > most || (step != 0 && keys_.count > (std::uint64_t{1} << 62) / step)) {
    return failure{"keys: a stride of " + std::to_string(keys_.stride) + " bytes", error_code::out_of_range};
  }
  return {};
}

template <class Offset>
status nullable_keys::check_offsets() const {
  TAMIS_CHECK(given(keys_.offsets, "keys: offsets"));
  if (keys_.data_size > 0) TAMIS_CHECK(given(keys_.data, "keys: data"));
  Offset before = element<Offset>(keys_.offsets, 0);
  bool ascending = before >= 0;
  for (std::uint64_t i = 1; i <= keys_.count; ++i) {  // without a way out, so that it is vectorised
    const auto here = element<Offset>(keys_.offsets, i);
    ascending &= here >= before;
    before = here;
  }
  if (!ascending) return failure{"keys: offsets are negative or not ascending"};
  if (static_cast<std::uint64_t>(before) > keys_.data_size) {
    return failure{"keys: the last offset is " + std::to_string(before) + ", but there are " + std::to_string(keys_.data_size) +
                   " bytes"};
  }
  return {};
}

status nullable_keys::check_views() const {
  if (keys_.buffer_count > 0) {
    TAMIS_CHECK(given(keys_.buffers, "keys: buffers"));
    TAMIS_CHECK(given(keys_.buffer_sizes, "keys: buffer_sizes"));
  }
  for (std::uint64_t i = 0; i < keys_.count; ++i) {
    if (is_null(i)) continue;
    const auto view = element<arrow_view>(keys_.data, i);
    if (view.size >= 0 && view.size <= arrow_view::most_inline) continue;
    const bool has_buffer = view.size > 0 && view.buffer >= 0 && static_cast<std::uint64_t>(view.buffer) < keys_.buffer_count;
    if (!has_buffer || view.offset < 0 || keys_.buffers[view.buffer] == nullptr ||
        std::int64_t{view.offset} + view.size > keys_.buffer_sizes[view.buffer]) {
      return failure{at_key(i) + " views bytes that are in no buffer"};
    }
  }
  return {};
}

status nullable_keys::check_slices() const {
  for (std::uint64_t i = 0; i < keys_.count; ++i) {
    const auto slice = element<tamis_slice>(keys_.data, i);
    if (slice.data == nullptr && slice.size > 0 && !is_null(i)) return failure{at_key(i) + " is NULL"};
  }
  return {};
}

template <class Offset>
std::span<const std::byte> nullable_keys::between_offsets(std::uint64_t i) const {
  const auto from = static_cast<std::uint64_t>(element<Offset>(keys_.offsets, i));
  const auto to = static_cast<std::uint64_t>(element<Offset>(keys_.offsets, i + 1));
  return {static_cast<const std::byte*>(keys_.data) + from, to - from};
}

std::span<const std::byte> nullable_keys::viewed(std::uint64_t i) const {
  const auto* here = static_cast<const std::byte*>(keys_.data) + i * sizeof(arrow_view);
  const auto view = read_as<arrow_view>(here);
  const auto size = static_cast<std::size_t>(view.size);
  if (view.size <= arrow_view::most_inline) return {here + sizeof view.size, size};
  return {static_cast<const std::byte*>(keys_.buffers[view.buffer]) + view.offset, size};
}

std::span<const std::byte> nullable_keys::bytes(std::uint64_t i) const {
  switch (keys_.form) {
    case TAMIS_FIXED_WIDTH: return {at(i), keys_.width};
    case TAMIS_PADDED: {
      std::uint64_t size = keys_.width;
      while (size > 0 && at(i)[size - 1] == std::byte{0}) --size;
      return {at(i), size};
    }
    case TAMIS_OFFSETS32: return between_offsets<std::int32_t>(i);
    case TAMIS_OFFSETS64: return between_offsets<std::int64_t>(i);
    case TAMIS_VIEWS: return viewed(i);
    default: {
      const auto slice = element<tamis_slice>(keys_.data, i);
      return {static_cast<const std::byte*>(slice.data), slice.size};
    }
  }
}

template <class Integer>
void nullable_keys::hash_integers(const hasher& hash, std::uint64_t first, std::span<digest> out) const {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = hash(read_as<Integer>(at(first + i)));
}

void nullable_keys::hash_run(const hasher& hash, std::uint64_t first, std::span<digest> out) const {
  switch (keys_.form) {
    case TAMIS_U64: return hash_integers<std::uint64_t>(hash, first, out);
    case TAMIS_I64: return hash_integers<std::int64_t>(hash, first, out);
    case TAMIS_U32: return hash_integers<std::uint32_t>(hash, first, out);
    case TAMIS_I32: return hash_integers<std::int32_t>(hash, first, out);
    case TAMIS_U16: return hash_integers<std::uint16_t>(hash, first, out);
    case TAMIS_I16: return hash_integers<std::int16_t>(hash, first, out);
    case TAMIS_U8: return hash_integers<std::uint8_t>(hash, first, out);
    case TAMIS_I8: return hash_integers<std::int8_t>(hash, first, out);
    case TAMIS_DIGESTS:
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = read_as<digest>(at(first + i));
      return;
    default:
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = hash(bytes(first + i));
  }
}

// What a null stands on need not be readable as a key: only the others are hashed, each by itself.
std::size_t nullable_keys::hash_present(const hasher& hash, std::uint64_t first, std::size_t count, std::span<digest> digests,
                                        std::span<std::uint64_t> places) const {
  std::size_t kept = 0;
  for (std::uint64_t i = first; i < first + count; ++i) {
    if (is_null(i)) continue;
    hash_run(hash, i, digests.subspan(kept, 1));
    places[kept++] = i;
  }
  return kept;
}

std::optional<std::span<const std::uint64_t>> nullable_keys::words() const {
  const bool are_words = (keys_.form == TAMIS_U64 || keys_.form == TAMIS_I64) && !has_nulls() &&
                         keys_.stride == static_cast<std::int64_t>(sizeof(std::uint64_t)) &&
                         reinterpret_cast<std::uintptr_t>(keys_.data) % alignof(std::uint64_t) == 0;
  if (!are_words) return std::nullopt;
  return std::span(static_cast<const std::uint64_t*>(keys_.data), static_cast<std::size_t>(keys_.count));
}

}  // namespace tamis::c
