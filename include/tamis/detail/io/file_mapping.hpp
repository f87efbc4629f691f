#pragma once

// A file in the address space. Pages come from the system's cache when they are touched, and are shared with whoever maps or
// reads the same file; a page that is written to becomes this mapping's own, and the file stays as it is.
//
// A file that is shortened while it is mapped ends the process with SIGBUS at the next touch of a page that is gone: map only
// files that are replaced whole (as file_replacement does), and read the others.

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "tamis/detail/base/zeroed_array.hpp"
#include "tamis/result.hpp"

namespace tamis::detail {

class file_mapping {
 public:
  // Refuses what is not a regular file.
  static result<std::shared_ptr<file_mapping>> open(const std::string& path);
  file_mapping(const file_mapping&) = delete;
  file_mapping& operator=(const file_mapping&) = delete;
  ~file_mapping();

  std::span<std::byte> bytes() { return {data_, size_}; }
  std::span<const std::byte> bytes() const { return {data_, size_}; }

  // Fills `to` from the file itself, whatever was changed in memory since. From any thread.
  status read(std::uint64_t offset, std::span<std::byte> to) const;

 private:
  file_mapping(std::string path, int descriptor, std::byte* data, std::uint64_t size)
      : path_(std::move(path)), descriptor_(descriptor), data_(data), size_(size) {}

  std::string path_;
  int descriptor_;
  std::byte* data_;
  std::uint64_t size_;
};

// A part of the mapping as the memory of a table: the mapping lives until the table is released.
// Requires: whole cache lines.
table_memory lend_table(const std::shared_ptr<file_mapping>& from, std::span<std::byte> part);

}  // namespace tamis::detail
