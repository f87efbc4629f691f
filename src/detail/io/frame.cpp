#include "tamis/detail/io/frame.hpp"

#include <array>
#include <cstring>

namespace tamis::detail {
namespace {

// The line ends and the control character notice what transfers in text mode do to a file, as PNG's signature does.
constexpr std::array<char, 8> magic = {'T', 'A', 'M', 'I', 'S', '\r', '\n', '\x1a'};
constexpr std::uint64_t longest_kind = 64;
constexpr std::uint64_t sum_bytes = 8;

struct stored_header {
  frame_header header;
  std::uint64_t payload_bytes = 0;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    auto& h = self.header;
    archive(h.kind, h.kind_version, h.hash.family, h.hash.seed, h.hash.check, self.payload_bytes);
  }
  status validate() const {
    if (header.kind.empty() || header.kind.size() > longest_kind) return failure{"the kind of its content has a wrong length"};
    if (header.hash.family != hash_family::fast && header.hash.family != hash_family::keyed)
      return failure{"unknown hash family"};
    return {};
  }
};

// Reads a checksum that is not part of what it sums up, and compares.
status check_sum(byte_source& source, std::uint64_t expected, const char* part) {
  std::uint64_t stored = 0;
  TAMIS_CHECK(source.read(std::as_writable_bytes(std::span(&stored, 1))));
  if (stored != expected)
    return failure{std::string("the checksum of its ") + part + " is wrong: the file is damaged", error_code::damaged};
  return {};
}

status read_preamble(reader& in) {
  std::array<char, 8> found{};
  std::uint32_t version = 0;
  in.bytes(std::as_writable_bytes(std::span(found)));
  if (!in.ok() || found != magic) return failure{"it is not a tamis file", error_code::damaged};
  in(version);
  if (!in.ok()) return in.state();
  if (version == 0 || version > format_version) {
    return failure{"its format version is " + std::to_string(version) + ", this tamis reads versions up to " +
                       std::to_string(format_version),
                   error_code::newer_version};
  }
  return {};
}

}  // namespace

status write_frame(byte_sink& sink, const frame_header& header, const std::function<void(writer&)>& payload) {
  counting_sink counted;
  writer count(counted);
  payload(count);
  TAMIS_CHECK(count.finish());

  const auto write_sum = [&sink](std::uint64_t sum) { return sink.write(std::as_bytes(std::span(&sum, 1))); };
  writer head(sink);
  head.bytes(std::as_bytes(std::span(magic)));
  head(format_version, stored_header{header, counted.count()});
  TAMIS_CHECK(head.finish());
  TAMIS_CHECK(write_sum(head.checksum_value()));

  writer body(sink);
  payload(body);
  TAMIS_CHECK(body.finish());
  return write_sum(body.checksum_value());
}

status read_frame(byte_source& source, const std::function<status(const frame_header&, reader&)>& payload) {
  reader head(source);
  TAMIS_CHECK(read_preamble(head));
  stored_header stored;
  head(stored);
  if (!head.ok()) return prefixed("its header is damaged or cut off: ", head.state());
  TAMIS_CHECK(check_sum(source, head.checksum_value(), "header"));

  // The lengths must agree to the byte: what is too short was cut off, what is too long had something appended.
  const std::uint64_t left = source.remaining();
  if (left < sum_bytes || left - sum_bytes < stored.payload_bytes) return failure{"it ends too early", error_code::damaged};
  if (left - sum_bytes > stored.payload_bytes) return failure{"there are bytes after its end", error_code::damaged};

  reader body(source);
  body.limit(stored.payload_bytes);
  TAMIS_CHECK(payload(stored.header, body));
  TAMIS_CHECK(status(body.state()));
  if (body.remaining() != 0) return failure{"its content is shorter than its length says", error_code::damaged};
  return check_sum(source, body.checksum_value(), "content");
}

}  // namespace tamis::detail
