#include "tamis/difference.hpp"

#include <algorithm>

#include "changed_bits.hpp"
#include "patch.hpp"
#include "pieces.hpp"
#include "slot_edits.hpp"
#include "tamis/detail/io/file.hpp"
#include "tamis/detail/io/file_mapping.hpp"

namespace tamis {

using namespace detail;
using namespace difference;

namespace {

void report(const difference_progress& progress, double share) {
  if (progress) progress(share);
}

// A saved filter, verified, and where its payload lies.
struct saved_file {
  frame_index index;
  std::span<const std::byte> payload;
};

result<saved_file> verified(std::span<const std::byte> bytes) {
  memory_source source(bytes);
  TAMIS_TRY(frame_index index, read_index(source));
  const auto payload = bytes.subspan(index.payload_begin());
  for (std::uint64_t block = 0; block < index.sums.size(); ++block) {
    if (checksum::of(payload.subspan(index.blocks.begin(block), index.blocks.size(block))) != index.sums[block])
      return damaged_block(block, index.blocks);
  }
  return saved_file{std::move(index), payload};
}

result<saved_file> verified_filter(std::span<const std::byte> bytes) {
  TAMIS_TRY(saved_file file, verified(bytes));
  if (file.index.header.kind == patch_kind || file.index.header.kind == sums_kind)
    return failure{"it is no saved filter, but holds '" + file.index.header.kind + "'", error_code::mismatch};
  return file;
}

std::string of_sum(std::uint64_t sum) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text(16, '0');
  for (std::size_t i = 16; i-- != 0; sum >>= 4) text[i] = digits[sum & 15];
  return text;
}

patch_content begin_patch(const frame_index& old, const frame_index& made) {
  patch_content patch;
  patch.old_sum = old.sum;
  patch.old_bytes = old.blocks.bytes;
  patch.made_sum = made.sum;
  patch.made_bytes = made.blocks.bytes;
  patch.kind = made.header.kind;
  patch.kind_version = made.header.kind_version;
  patch.block_bits = static_cast<std::uint8_t>(made.blocks.block_bits);
  return patch;
}

std::vector<std::byte> finished(patch_content patch, bit_encoder code, std::span<const std::byte> base, const saved_file& made,
                                const difference_progress& progress) {
  bit_encoder with_bits = code;
  put_changed_bits(with_bits, base, made.payload, patch.raw.bytes, false);
  patch.code.bytes = std::move(with_bits).finish();
  if (!patch.validate()) {  // so little is sent for so much that nobody could tell it from a forgery
    patch.raw.bytes.clear();
    put_changed_bits(code, base, made.payload, patch.raw.bytes, true);
    patch.code.bytes = std::move(code).finish();
  }
  report(progress, 1);
  return saved_patch(patch, made.index.header.hash);
}

std::vector<std::byte> diff_payloads(const saved_file& old, const saved_file& made, const difference_progress& progress) {
  patch_content patch = begin_patch(old.index, made.index);
  auto tables = find_slot_tables(made.index.header.kind, made.payload);
  if (old.payload.size() == made.payload.size() && tables == find_slot_tables(old.index.header.kind, old.payload))
    patch.tables = std::move(tables);
  if (patch.tables.empty()) {
    patch.pieces = find_pieces(old.payload, made.payload);
  } else {
    patch.pieces = {{made.payload.size(), 0}};
  }
  report(progress, 0.3);
  std::vector<std::byte> base(made.payload.size());
  join(patch.pieces, old.payload, base);
  bit_encoder code;
  for (const slot_table& table : patch.tables) put_slot_edits(code, table, old.payload, made.payload, base);
  report(progress, 0.8);
  return finished(std::move(patch), std::move(code), base, made, progress);
}

std::vector<std::byte> diff_blocks(const frame_index& old, const saved_file& made, const difference_progress& progress) {
  patch_content patch = begin_patch(old, made.index);
  patch.pieces = find_blocks(old, made.index);
  std::vector<std::byte> base(made.payload.begin(), made.payload.end());  // what is copied needs no change
  std::uint64_t at = 0;
  for (const piece& p : patch.pieces) {
    if (p.from == zeros) std::fill_n(base.begin() + static_cast<std::ptrdiff_t>(at), p.bytes, std::byte{0});
    at += p.bytes;
  }
  return finished(std::move(patch), bit_encoder(), base, made, progress);
}

status check_target(const patch_content& patch, const frame_index& file) {
  if (file.sum == patch.old_sum && file.blocks.bytes == patch.old_bytes) return {};
  if (file.sum == patch.made_sum && file.blocks.bytes == patch.made_bytes)
    return failure{"it is what the patch makes: the patch was applied already", error_code::mismatch};
  return failure{"the patch is for another file: one with the checksum " + of_sum(patch.old_sum) + ", and this one has " +
                     of_sum(file.sum),
                 error_code::mismatch};
}

status make_payload(const patch_content& patch, std::span<const std::byte> old, std::span<std::byte> made,
                    const difference_progress& progress) {
  join(patch.pieces, old, made);
  report(progress, 0.3);
  bit_decoder code(patch.code.bytes);
  for (const slot_table& table : patch.tables) {
    slot_editor into(table, old, made);
    if (!slot_edit_models().replay(code, into, table)) return failure{"the patch is damaged: its slots", error_code::damaged};
  }
  report(progress, 0.5);
  if (!take_changed_bits(code, made, patch.raw.bytes) || !code.at_end())
    return failure{"the patch is damaged: its changed bits", error_code::damaged};
  report(progress, 0.9);
  return {};
}

// What a failure is about: the file, or the patch.
struct patched {
  status answer;
  bool of_patch = false;
  std::vector<std::byte> bytes;
};

patched patch_with(std::span<const std::byte> file, std::span<const std::byte> patch_bytes_given,
                   const difference_progress& progress) {
  patched made;
  const auto fails = [&made](const auto& answer, bool of_patch) {
    made.answer = failure{answer.message(), answer.code()};
    made.of_patch = of_patch;
    return std::move(made);
  };
  const auto old = verified_filter(file);
  if (!old) return fails(old, false);
  const auto read = read_patch(patch_bytes_given);
  if (!read) return fails(read, true);
  const auto& [patch, hash] = *read;
  if (const status fits = check_target(patch, old->index); !fits) return fails(fits, false);

  frame_index index{{patch.kind, patch.kind_version, hash}, {patch.made_bytes, patch.block_bits}, {}, 0};
  const std::uint64_t begin = index.payload_begin();
  std::vector<std::byte> bytes(begin + patch.made_bytes);
  const auto payload = std::span(bytes).subspan(begin);
  if (const status done = make_payload(patch, old->payload, payload, progress); !done) return fails(done, true);
  for (std::uint64_t block = 0; block < index.blocks.blocks(); ++block) {
    index.sums.push_back(checksum::of(payload.subspan(index.blocks.begin(block), index.blocks.size(block))));
  }
  memory_sink head;
  if (const status written = write_index(head, index); !written) return fails(written, true);
  const auto again = read_head(head.bytes());
  if (!again) return fails(again, true);
  if (again->sum != patch.made_sum) {
    return fails(status(failure{"what it makes of the file does not have the checksum that it should: nothing was changed",
                                error_code::damaged}),
                 true);
  }
  std::copy(head.bytes().begin(), head.bytes().end(), bytes.begin());
  made.bytes = std::move(bytes);
  report(progress, 1);
  return made;
}

}  // namespace

result<std::vector<std::byte>> diff_bytes(std::span<const std::byte> old, std::span<const std::byte> made,
                                          const difference_progress& progress) {
  TAMIS_TRY(const saved_file wanted, verified_filter(made));
  TAMIS_TRY(const saved_file before, verified(old));
  if (before.index.header.kind == sums_kind) {
    TAMIS_TRY(const frame_index sums, read_sums(old));
    return diff_blocks(sums, wanted, progress);
  }
  if (before.index.header.kind == patch_kind) return failure{"it is no saved filter, but a patch", error_code::mismatch};
  return diff_payloads(before, wanted, progress);
}

result<std::vector<std::byte>> diff_files(const std::string& old, const std::string& made,
                                          const difference_progress& progress) {
  TAMIS_TRY(const auto old_file, file_mapping::open(old));
  TAMIS_TRY(const auto made_file, file_mapping::open(made));
  const auto wanted = verified_filter(std::as_const(*made_file).bytes());
  if (!wanted) return prefixed(made + ": ", wanted);
  auto patch = diff_bytes(std::as_const(*old_file).bytes(), std::as_const(*made_file).bytes(), progress);
  if (!patch) return prefixed(old + ": ", patch);
  return patch;
}

result<std::vector<std::byte>> patch_bytes(std::span<const std::byte> file, std::span<const std::byte> patch,
                                           const difference_progress& progress) {
  patched made = patch_with(file, patch, progress);
  if (!made.answer) return std::move(made.answer).take_failure();
  return std::move(made.bytes);
}

status patch_file(const std::string& path, const std::string& patch, const difference_progress& progress) {
  TAMIS_TRY(const auto file, file_mapping::open(path));
  TAMIS_TRY(const auto changes, file_mapping::open(patch));
  const patched made = patch_with(std::as_const(*file).bytes(), std::as_const(*changes).bytes(), progress);
  if (!made.answer) return prefixed((made.of_patch ? patch : path) + ": ", made.answer);
  TAMIS_TRY(file_replacement replacement, file_replacement::create(path));
  TAMIS_CHECK(replacement.write(made.bytes));
  return replacement.commit();
}

result<std::vector<std::byte>> checksums_of_bytes(std::span<const std::byte> file) {
  TAMIS_TRY(const saved_file saved, verified_filter(file));
  return saved_sums(saved.index);
}

result<std::vector<std::byte>> checksums_of_file(const std::string& path) {
  TAMIS_TRY(const auto file, file_mapping::open(path));
  auto sums = checksums_of_bytes(std::as_const(*file).bytes());
  if (!sums) return prefixed(path + ": ", sums);
  return sums;
}

}  // namespace tamis
