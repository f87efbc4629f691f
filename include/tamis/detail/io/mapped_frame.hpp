#pragma once

// A frame whose payload is read from a mapping: tables of a block or more stay where they are in the file.

#include <memory>
#include <string>
#include <vector>

#include "tamis/detail/io/file_mapping.hpp"
#include "tamis/detail/io/frame.hpp"

namespace tamis::detail {

class mapped_frame final : private table_lender {
 public:
  // Reads and checks the index.
  static result<mapped_frame> open(const std::string& path);
  static result<mapped_frame> open(std::shared_ptr<file_mapping> mapping);
  // A frame that stands in a part of a file, all of whose bytes were compared with a checksum when it was mapped.
  // Requires: the part begins at a multiple of a cache line.
  static result<mapped_frame> open_verified(std::shared_ptr<file_mapping> mapping, std::span<std::byte> part);

  const frame_index& index() const { return index_; }
  std::uint64_t file_bytes() const { return mapping_->bytes().size(); }

  // As read_frame, once. Every block that is read is checked first, also those of a table, unless the payload says that it can
  // use tables of any content (reader::accept_any_table).
  status read(const std::function<status(const frame_header&, reader&)>& payload);
  // Were all blocks checked? Those of the file as it is.
  bool is_verified() const { return unverified_ == 0; }
  status verify();

 private:
  mapped_frame(std::shared_ptr<file_mapping> mapping, std::uint64_t begin, frame_index index)
      : mapping_(std::move(mapping)),
        begin_(begin),
        index_(std::move(index)),
        verified_(index_.sums.size()),
        unverified_(index_.sums.size()) {}

  status read(std::span<std::byte> bytes) override;
  std::uint64_t remaining() const override { return index_.blocks.bytes - position_; }
  result<table_memory> lend(std::uint64_t bytes, bool any_content) override;

  std::uint64_t payload_begin() const { return begin_ + index_.payload_begin(); }
  std::span<std::byte> payload() { return mapping_->bytes().subspan(payload_begin(), index_.blocks.bytes); }
  // Of the blocks that so many bytes from the position on lie in.
  status check_blocks(std::uint64_t bytes);
  void note_verified(std::uint64_t block);

  std::shared_ptr<file_mapping> mapping_;
  std::uint64_t begin_;  // of the frame in the file
  frame_index index_;
  std::uint64_t position_ = 0;
  std::vector<bool> verified_;
  std::uint64_t unverified_;
};

}  // namespace tamis::detail
