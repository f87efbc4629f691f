#include "tamis/detail/io/mapped_frame.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tamis::detail {

result<mapped_frame> mapped_frame::open(const std::string& path) {
  TAMIS_TRY(std::shared_ptr<file_mapping> mapping, file_mapping::open(path));
  auto frame = open(std::move(mapping));
  if (!frame) return prefixed(path + ": ", frame);
  return frame;
}

result<mapped_frame> mapped_frame::open(std::shared_ptr<file_mapping> mapping) {
  memory_source source(mapping->bytes());
  TAMIS_TRY(frame_index index, read_index(source));
  return mapped_frame(std::move(mapping), 0, std::move(index));
}

result<mapped_frame> mapped_frame::open_verified(std::shared_ptr<file_mapping> mapping, std::span<std::byte> part) {
  memory_source source(part);
  TAMIS_TRY(frame_index index, read_index(source));
  const auto begin = static_cast<std::uint64_t>(part.data() - mapping->bytes().data());
  mapped_frame made(std::move(mapping), begin, std::move(index));
  made.verified_.assign(made.verified_.size(), true);
  made.unverified_ = 0;
  return made;
}

status mapped_frame::read(const std::function<status(const frame_header&, reader&)>& payload) {
  reader body(*this);
  TAMIS_CHECK(payload(index_.header, body));
  TAMIS_CHECK(status(body.state()));
  if (body.remaining() != 0) return failure{"its content is shorter than its length says", error_code::damaged};
  return {};
}

status mapped_frame::verify() {
  std::vector<std::byte> buffer;
  for (std::uint64_t block = 0; block < index_.sums.size(); ++block) {
    buffer.resize(index_.blocks.size(block));
    TAMIS_CHECK(mapping_->read(payload_begin() + index_.blocks.begin(block), buffer));
    if (checksum::of(buffer) != index_.sums[block]) return damaged_block(block, index_.blocks);
    note_verified(block);
  }
  return {};
}

status mapped_frame::read(std::span<std::byte> bytes) {
  if (bytes.size() > remaining()) return failure{"it ends too early", error_code::damaged};
  if (bytes.empty()) return {};
  TAMIS_CHECK(check_blocks(bytes.size()));
  std::memcpy(bytes.data(), payload().data() + position_, bytes.size());
  position_ += bytes.size();
  return {};
}

result<table_memory> mapped_frame::lend(std::uint64_t bytes, bool any_content) {
  if (bytes > remaining()) return failure{"it ends too early", error_code::damaged};
  if (!any_content) TAMIS_CHECK(check_blocks(bytes));
  const std::uint64_t begin = std::exchange(position_, position_ + bytes);
  return lend_table(mapping_, payload().subspan(begin, bytes));
}

status mapped_frame::check_blocks(std::uint64_t bytes) {
  const std::uint64_t last = (position_ + bytes - 1) >> index_.blocks.block_bits;
  for (std::uint64_t block = position_ >> index_.blocks.block_bits; block <= last; ++block) {
    if (verified_[block]) continue;
    if (checksum::of(payload().subspan(index_.blocks.begin(block), index_.blocks.size(block))) != index_.sums[block])
      return damaged_block(block, index_.blocks);
    note_verified(block);
  }
  return {};
}

void mapped_frame::note_verified(std::uint64_t block) {
  if (!verified_[block]) --unverified_;
  verified_[block] = true;
}

}  // namespace tamis::detail
