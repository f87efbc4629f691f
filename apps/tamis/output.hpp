#pragma once

// Standard output, buffered and checked: a full disk is an error, not silence. Errors, notes and hints go to standard error.

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace tamis::cli {

class output {
 public:
  output() { buffer_.reserve(2 * flush_bytes); }

  void write(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() >= flush_bytes) flush();
  }
  void write(char c) { write(std::string_view(&c, 1)); }
  template <class... Args>
  void print(fmt::format_string<Args...> text, Args&&... args) {
    fmt::format_to(std::back_inserter(buffer_), text, std::forward<Args>(args)...);
    if (buffer_.size() >= flush_bytes) flush();
  }
  // What is not flushed is not written: a command that ends well flushes last.
  void flush();

 private:
  static constexpr std::size_t flush_bytes = 1 << 16;
  std::string buffer_;
};

// Thrown when nobody reads the pipe any more, as behind `| head`: no error, and nobody to tell.
struct broken_pipe {};

// All of it, to an open descriptor; fails with the name.
void write_all(int descriptor, const std::string& name, std::string_view text);

// A line on standard error, with what it names made printable. If even that cannot be written, there is nobody to tell.
void say(const std::string& line);

}  // namespace tamis::cli
