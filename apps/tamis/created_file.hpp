#pragma once

// A file that a command creates: opened when the command begins, so that a wrong path is noticed before any work is done, and
// complete or as it was when the command has ended. `-` is standard output; pipes and devices are written to as they are.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "output.hpp"
#include "tamis/detail/io/file.hpp"

namespace tamis::cli {

class created_file final : public byte_sink {
 public:
  created_file() = default;
  created_file(const created_file&) = delete;
  created_file& operator=(const created_file&) = delete;
  ~created_file() override;

  bool wanted() const { return !path_.empty(); }
  const std::string& name() const { return path_; }  // as it was typed
  bool on_stdout() const;

  // Requires of these: it is wanted, and command_files has opened it.
  status write(std::span<const std::byte> bytes) override;
  void write(std::string_view text);
  void commit();

 private:
  friend class command_files;  // checks the paths of a command before anything is opened, and nobody else opens them

  void open();
  void open_stream(int descriptor);

  std::string path_;
  // One of these, once it is open.
  std::optional<output> stdout_;
  std::optional<detail::file_replacement> replacement_;
  int stream_ = -1;
};

}  // namespace tamis::cli
