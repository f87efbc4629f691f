#include "readers/key_input.hpp"

#include <algorithm>
#include <optional>

#include "readers/capture.hpp"

namespace tamis::readers {
namespace {

enum class content { keys, gzip, zstd, capture };

struct magic {
  std::string_view bytes;
  std::string_view mask;  // empty: every bit counts
  content means;
  std::size_t telling;  // as many bytes of it do not stand in a file of keys by chance
};

using namespace std::string_view_literals;
constexpr auto section_mask = "\xff\xff\xff\xff\x00\x00\x00\x00\xff\xff\xff\xff"sv;
constexpr magic magics[] = {
    {"\x1f\x8b"sv, {}, content::gzip, 2},
    {"\x28\xb5\x2f\xfd"sv, {}, content::zstd, 3},
    {"\x50\x2a\x4d\x18"sv, "\xf0\xff\xff\xff"sv, content::zstd, 4},  // a skippable frame
    {"\xd4\xc3\xb2\xa1"sv, {}, content::capture, 3},
    {"\xa1\xb2\xc3\xd4"sv, {}, content::capture, 3},
    {"\x4d\x3c\xb2\xa1"sv, {}, content::capture, 3},  // times in nanoseconds
    {"\xa1\xb2\x3c\x4d"sv, {}, content::capture, 3},
    {"\x34\xcd\xb2\xa1"sv, {}, content::capture, 3},  // with more fields in the headers of packets
    {"\xa1\xb2\xcd\x34"sv, {}, content::capture, 3},
    {"\x0a\x0d\x0d\x0a\x00\x00\x00\x00\x4d\x3c\x2b\x1a"sv, section_mask, content::capture, 4},  // pcapng
    {"\x0a\x0d\x0d\x0a\x00\x00\x00\x00\x1a\x2b\x3c\x4d"sv, section_mask, content::capture, 4},
};
constexpr std::size_t longest_magic = 12;

bool begins_like(std::string_view head, const magic& m) {
  for (std::size_t i = 0; i < std::min(head.size(), m.bytes.size()); ++i) {
    const char mask = m.mask.empty() ? '\xff' : m.mask[i];
    if ((head[i] & mask) != (m.bytes[i] & mask)) return false;
  }
  return true;
}

// What a file with these first bytes is; nothing as long as more of them could tell.
result<std::optional<content>> content_of(std::string_view head, bool ended, bool unpacked) {
  bool open = false;
  for (const magic& m : magics) {
    if ((unpacked && m.means != content::capture) || !begins_like(head, m)) continue;
    if (head.size() >= m.bytes.size()) return std::optional(m.means);
    if (ended && head.size() >= m.telling) return failure{"cut off: it ends inside the first bytes of its format"};
    open = true;
  }
  if (open && !ended) return std::optional<content>();
  return std::optional(content::keys);
}

// Looks at the first bytes of `from` and puts them back.
result<content> look_at(std::unique_ptr<input>& from, bool unpacked) {
  std::string head;
  for (bool ended = false;;) {
    TAMIS_TRY(const std::optional<content> found, content_of(head, ended, unpacked));
    if (found) {
      from = with_head(std::move(head), std::move(from));
      return *found;
    }
    char bytes[longest_magic];
    TAMIS_TRY(const std::size_t got, from->read(std::span(bytes).first(longest_magic - head.size())));
    head.append(bytes, got);
    ended = got == 0;
  }
}

}  // namespace

key_input::key_input(std::unique_ptr<input> raw, char separator, key_format format)
    : from_(std::move(raw)), separator_(separator), opened_(format == key_format::plain) {}

result<std::size_t> key_input::read(std::span<char> room) {
  if (!opened_) TAMIS_CHECK(open());
  return from_->read(room);
}

status key_input::open() {
  opened_ = true;
  TAMIS_TRY(content found, look_at(from_, false));
  compressed_ = found == content::gzip || found == content::zstd;
  if (compressed_) {
    from_ = found == content::gzip ? gunzipped(std::move(from_)) : unzstd(std::move(from_));
    TAMIS_TRY(found, look_at(from_, true));
  }
  capture_ = found == content::capture;
  if (capture_) from_ = capture_keys(std::move(from_), separator_, counts_);
  return {};
}

}  // namespace tamis::readers
