#include "patch.hpp"

#include <algorithm>
#include <cstring>

#include "tamis/detail/base/checked.hpp"
#include "tamis/detail/base/numbered_check.hpp"

namespace tamis::difference {

using namespace detail;

namespace {

constexpr std::size_t payload_length_at = 16;  // in a file

template <class Content>
std::vector<std::byte> saved(const frame_header& header, const Content& content) {
  memory_sink sink;
  write_frame(sink, header, [&content](writer& out) { out(content); }).value();  // memory has no errors
  return std::move(sink).take();
}

// A frame of one kind that is no filter.
template <class Content>
status read_content(std::span<const std::byte> bytes, const frame_header& wanted, const char* name, Content& content,
                    hash_identity& hash) {
  memory_source source(bytes);
  return read_frame(source, [&](const frame_header& header, reader& in) -> status {
    if (header.kind != wanted.kind)
      return failure{std::string("it is not ") + name + ", but holds '" + header.kind + "'", error_code::mismatch};
    if (header.kind_version != wanted.kind_version) {
      return failure{"it holds version " + std::to_string(header.kind_version) + " of " + name + ", this tamis reads version " +
                         std::to_string(wanted.kind_version),
                     error_code::newer_version};
    }
    hash = header.hash;
    in(content);
    return status(in.state());
  });
}

failure unsound(const char* what) { return {std::string("the patch is damaged: ") + what, error_code::damaged}; }

// The beginning of a file, as if the rest were there: nobody reads so far.
class head_source final : public byte_source {
 public:
  explicit head_source(std::span<const std::byte> head, std::uint64_t payload) : head_(head), payload_(payload) {}
  status read(std::span<std::byte> bytes) override {
    if (bytes.size() > head_.remaining()) return failure{"it ends too early", error_code::damaged};
    return head_.read(bytes);
  }
  std::uint64_t remaining() const override { return head_.remaining() + payload_; }

 private:
  memory_source head_;
  std::uint64_t payload_;
};

}  // namespace

status patch_content::validate() const {
  if (is_wrong(block_bits < 12) || is_wrong(block_bits > 30)) return unsound("blocks of a wrong size");
  if (!fit(pieces, old_bytes, made_bytes)) return unsound("its pieces do not make the file");
  if (is_wrong(tables.size() > most_tables)) return unsound("it has too many tables");
  for (const slot_table& table : tables) {
    if (!table.lies_in(std::min(old_bytes, made_bytes))) return unsound("a table does not lie in the file");
  }
  const std::uint64_t sent = code.bytes.size() + raw.bytes.size();
  if (is_wrong(made_bytes / most_growth > old_bytes && made_bytes / most_growth - old_bytes > sent))
    return unsound("it makes a larger file than a patch of its size can");
  return {};
}

std::vector<std::byte> saved_patch(const patch_content& patch, const hash_identity& hash) {
  return saved({patch_kind, patch_version, hash}, patch);
}

result<std::pair<patch_content, hash_identity>> read_patch(std::span<const std::byte> bytes) {
  std::pair<patch_content, hash_identity> made;
  TAMIS_CHECK(read_content(bytes, {patch_kind, patch_version, {}}, "a patch", made.first, made.second));
  return made;
}

std::vector<std::byte> head_of(const frame_index& index) {
  memory_sink sink;
  write_index(sink, index).value();  // of names that a file had
  return std::move(sink).take();
}

result<frame_index> read_head(std::span<const std::byte> head) {
  std::uint64_t payload = 0;
  if (head.size() >= payload_length_at + sizeof payload) std::memcpy(&payload, head.data() + payload_length_at, sizeof payload);
  if (payload > ~std::uint64_t{0} - head.size()) return failure{"its payload has an impossible length", error_code::damaged};
  head_source source(head, payload);
  return read_index(source);
}

std::vector<std::byte> saved_sums(const frame_index& index) {
  return saved({sums_kind, sums_version, index.header.hash}, byte_run{head_of(index)});
}

result<frame_index> read_sums(std::span<const std::byte> bytes) {
  byte_run head;
  hash_identity hash;
  TAMIS_CHECK(read_content(bytes, {sums_kind, sums_version, {}}, "a table of checksums", head, hash));
  return read_head(head.bytes);
}

}  // namespace tamis::difference
