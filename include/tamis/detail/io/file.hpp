#pragma once

// Files. A file is replaced whole or not at all: bytes go to a temporary file beside it, which is synced and renamed by
// `commit`, and removed if the program gives up before.

#include <cstdint>
#include <string>
#include <utility>

#include "tamis/stream.hpp"

namespace tamis::detail {

// What the system refused, with its reason (errno).
failure system_failure(const std::string& path, const char* doing);

class file_source final : public byte_source {
 public:
  // Refuses, at once, what is not a regular file: a directory, a pipe, a device.
  static result<file_source> open(const std::string& path);
  file_source(file_source&& other) noexcept;
  file_source& operator=(file_source&&) = delete;
  ~file_source() override;

  status read(std::span<std::byte> bytes) override;
  std::uint64_t remaining() const override { return remaining_; }

  int descriptor() const { return descriptor_; }
  int take_descriptor() && { return std::exchange(descriptor_, -1); }  // the caller closes it

 private:
  file_source(std::string path, int descriptor, std::uint64_t size)
      : path_(std::move(path)), descriptor_(descriptor), remaining_(size) {}

  std::string path_;
  int descriptor_;
  std::uint64_t remaining_;
};

class file_replacement final : public byte_sink {
 public:
  static result<file_replacement> create(const std::string& path);
  file_replacement(file_replacement&& other) noexcept;
  file_replacement& operator=(file_replacement&&) = delete;
  ~file_replacement() override;

  status write(std::span<const std::byte> bytes) override;
  // Ensures: on success the new content stands at the path, durably; on failure the old content still does.
  status commit();

 private:
  file_replacement(std::string path, std::string temporary, int descriptor)
      : path_(std::move(path)), temporary_(std::move(temporary)), descriptor_(descriptor) {}

  std::string path_;
  std::string temporary_;
  int descriptor_;
};

// Writes `text` as the whole content of the file at `path`.
status replace_file(const std::string& path, std::string_view text);

}  // namespace tamis::detail
