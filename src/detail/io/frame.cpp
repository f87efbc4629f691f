#include "tamis/detail/io/frame.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <utility>

namespace tamis::detail {
namespace {

// The line ends and the control character notice what transfers in text mode do to a file, as PNG's signature does.
constexpr std::array<char, 8> magic = {'T', 'A', 'M', 'I', 'S', '\r', '\n', '\x1a'};
constexpr std::size_t longest_kind = 64;  // and name of a hash
constexpr unsigned written_block_bits = 16;
constexpr unsigned least_block_bits = 12;
constexpr unsigned most_block_bits = 30;
constexpr std::uint64_t sum_bytes = 8;

using fixed_part = std::array<std::byte, 43>;  // what every frame begins with; the kind follows

// Where its fields stand.
enum field : std::size_t {
  at_format = 8,
  at_kind_version = 12,
  at_payload_bytes = 16,
  at_seed = 24,
  at_check = 32,
  at_family = 40,
  at_block_bits = 41,
  at_kind_size = 42,
};

template <class T>
T number_at(const fixed_part& bytes, field at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}
template <class T>
void put_number(fixed_part& bytes, field at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

// A hash of a program's own has its name behind the kind, and a zero between them.
std::size_t stored_kind_size(const frame_header& header) {
  return header.kind.size() + (header.hash.name.empty() ? 0 : 1 + header.hash.name.size());
}
bool is_name(const std::string& text) { return !text.empty() && text.size() <= longest_kind && text.find('\0') == text.npos; }

status split_kind(frame_header& header) {
  if (header.hash.family != hash_family::custom) return {};
  const std::size_t end = header.kind.find('\0');
  if (end != std::string::npos) header.hash.name = header.kind.substr(end + 1);
  header.kind.resize(std::min(end, header.kind.size()));
  if (is_name(header.kind) && is_name(header.hash.name)) return {};
  return failure{"its header is damaged: the name of its hash has a wrong length", error_code::damaged};
}

// The table of checksums begins here: words stand at multiples of their size.
constexpr std::uint64_t table_begin(std::size_t kind_size) { return (sizeof(fixed_part) + kind_size + 7) / 8 * 8; }

bool is_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

failure wrong_header_sum() { return {"the checksum of its header is wrong: the file is damaged", error_code::damaged}; }
failure ends_early() { return {"it ends too early", error_code::damaged}; }

status check_format(const fixed_part& fixed) {
  const auto version = number_at<std::uint32_t>(fixed, at_format);
  if (version == format_version) return {};
  const std::string found = "its format version is " + std::to_string(version) + ", ";
  if (version == 1) {
    return failure{found + "of a tamis before its first release: make the filter again, this tamis reads version " +
                       std::to_string(format_version),
                   error_code::newer_version};
  }
  return failure{found + "this tamis reads version " + std::to_string(format_version), error_code::newer_version};
}

// The lengths must agree to the byte: what is too short was cut off, what is too long had something appended. Every number is
// bounded before it is used in the next sum.
status check_lengths(const frame_index& index, std::uint64_t file_bytes) {
  const std::uint64_t bytes = index.blocks.bytes;
  if (bytes > file_bytes || index.payload_begin() > file_bytes - bytes) return ends_early();
  if (index.payload_begin() < file_bytes - bytes) return failure{"there are bytes after its end", error_code::damaged};
  return {};
}

status read_fixed_part(byte_source& source, fixed_part& fixed, std::size_t& kind_size) {
  // A file too short for the fixed part may still show what it is.
  const std::size_t size = std::min<std::uint64_t>(fixed.size(), source.remaining());
  TAMIS_CHECK(source.read(std::span(fixed).first(size)));
  if (size < magic.size() || std::memcmp(fixed.data(), magic.data(), magic.size()) != 0)
    return failure{"it is not a tamis file", error_code::damaged};
  if (size >= at_format + sizeof format_version) TAMIS_CHECK(check_format(fixed));
  if (size < fixed.size()) return ends_early();
  kind_size = number_at<std::uint8_t>(fixed, at_kind_size);
  const bool is_custom = number_at<hash_family>(fixed, at_family) == hash_family::custom;
  if (kind_size == 0 || kind_size > (is_custom ? 2 * longest_kind + 1 : longest_kind))
    return failure{"its header is damaged: the kind of its content has a wrong length", error_code::damaged};
  const auto block_bits = number_at<std::uint8_t>(fixed, at_block_bits);
  if (block_bits < least_block_bits || block_bits > most_block_bits)
    return failure{"its header is damaged: blocks of 2^" + std::to_string(block_bits) + " bytes", error_code::damaged};
  return {};
}

frame_index index_of(const fixed_part& fixed) {
  frame_index index;
  index.header.kind_version = number_at<std::uint32_t>(fixed, at_kind_version);
  index.header.hash.family = hash_family{number_at<std::uint8_t>(fixed, at_family)};
  index.header.hash.seed = number_at<std::uint64_t>(fixed, at_seed);
  index.header.hash.check = number_at<std::uint64_t>(fixed, at_check);
  index.blocks = {number_at<std::uint64_t>(fixed, at_payload_bytes), number_at<std::uint8_t>(fixed, at_block_bits)};
  return index;
}

status read_kind(byte_source& source, checksum& sum, std::size_t kind_size, std::string& kind) {
  std::array<std::byte, table_begin(2 * longest_kind + 1) - sizeof(fixed_part)> buffer{};
  const auto bytes = std::span(buffer).first(table_begin(kind_size) - sizeof(fixed_part));
  TAMIS_CHECK(source.read(bytes));
  sum.update(bytes);
  kind.assign(reinterpret_cast<const char*>(bytes.data()), kind_size);
  if (!is_zero(bytes.subspan(kind_size))) return wrong_header_sum();
  return {};
}

std::uint64_t end_of_sums(const frame_index& index) {
  return table_begin(stored_kind_size(index.header)) + index.blocks.blocks() * sum_bytes + sum_bytes;
}

}  // namespace

std::uint64_t frame_index::payload_begin() const {
  const std::uint64_t end = end_of_sums(*this);
  return end + bytes_to_line(end);
}

status write_index(byte_sink& sink, const frame_index& index) {
  const frame_header& header = index.header;
  assert(index.sums.size() == index.blocks.blocks());
  if (header.kind.empty() || header.kind.size() > longest_kind)
    return failure{"'" + header.kind + "' is no name for a kind of content: it has 1 to 64 bytes"};
  if (header.hash.family == hash_family::custom && !is_name(header.hash.name))
    return failure{"'" + header.hash.name + "' is no name for a hash: it has 1 to 64 bytes, and no zeros"};
  fixed_part fixed{};
  std::memcpy(fixed.data(), magic.data(), magic.size());
  put_number(fixed, at_format, format_version);
  put_number(fixed, at_kind_version, header.kind_version);
  put_number(fixed, at_payload_bytes, index.blocks.bytes);
  put_number(fixed, at_seed, header.hash.seed);
  put_number(fixed, at_check, header.hash.check);
  put_number(fixed, at_family, header.hash.family);
  put_number(fixed, at_block_bits, static_cast<std::uint8_t>(index.blocks.block_bits));
  put_number(fixed, at_kind_size, static_cast<std::uint8_t>(stored_kind_size(header)));

  std::vector<std::byte> bytes(index.payload_begin());
  std::byte* to = std::copy(fixed.begin(), fixed.end(), bytes.data());
  std::memcpy(to, header.kind.data(), header.kind.size());
  if (const std::string& name = header.hash.name; !name.empty())
    std::memcpy(to + header.kind.size() + 1, name.data(), name.size());
  to = bytes.data() + table_begin(stored_kind_size(header));
  if (!index.sums.empty()) std::memcpy(to, index.sums.data(), index.sums.size() * sum_bytes);
  const std::uint64_t summed = end_of_sums(index) - sum_bytes;
  const std::uint64_t sum = checksum::of(std::span(bytes).first(summed));
  std::memcpy(bytes.data() + summed, &sum, sizeof sum);
  return sink.write(bytes);
}

status write_frame(byte_sink& sink, const frame_header& header, const std::function<void(writer&)>& payload) {
  block_summing_sink summed(written_block_bits);
  writer count(summed);
  payload(count);
  TAMIS_CHECK(count.finish());
  frame_index index{header, summed.blocks(), {}, 0};
  index.sums = std::move(summed).take();
  TAMIS_CHECK(write_index(sink, index));
  writer body(sink);
  payload(body);
  return body.finish();
}

result<frame_index> read_index(byte_source& source) {
  const std::uint64_t file_bytes = source.remaining();
  fixed_part fixed{};
  std::size_t kind_size = 0;
  TAMIS_CHECK(read_fixed_part(source, fixed, kind_size));
  frame_index index = index_of(fixed);
  index.header.kind.resize(kind_size);  // its length counts at once
  TAMIS_CHECK(check_lengths(index, file_bytes));

  checksum sum;
  sum.update(fixed);
  TAMIS_CHECK(read_kind(source, sum, kind_size, index.header.kind));
  index.sums.resize(index.blocks.blocks());
  TAMIS_CHECK(source.read(std::as_writable_bytes(std::span(index.sums))));
  sum.update(std::as_bytes(std::span(index.sums)));
  TAMIS_CHECK(source.read(std::as_writable_bytes(std::span(&index.sum, 1))));
  std::array<std::byte, cache_line_bytes> gap{};
  TAMIS_CHECK(source.read(std::span(gap).first(bytes_to_line(end_of_sums(index)))));
  if (index.sum != sum.value() || !is_zero(gap)) return wrong_header_sum();
  TAMIS_CHECK(split_kind(index.header));
  if (index.header.hash.family > hash_family::custom)
    return failure{"its header is damaged: unknown hash family", error_code::damaged};
  return index;
}

status read_frame(byte_source& source, const std::function<status(const frame_header&, reader&)>& payload) {
  TAMIS_TRY(const frame_index index, read_index(source));
  block_checking_source checked(source, index.blocks, index.sums);
  reader body(checked);
  TAMIS_CHECK(payload(index.header, body));
  TAMIS_CHECK(status(body.state()));
  if (body.remaining() != 0) return failure{"its content is shorter than its length says", error_code::damaged};
  return {};
}

}  // namespace tamis::detail
