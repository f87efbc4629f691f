#include "output.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "failure.hpp"
#include "interrupt.hpp"
#include "printable.hpp"
#include "process.hpp"

namespace tamis::cli {

void write_all(int descriptor, const std::string& name, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(descriptor, text.data(), text.size());
    if (put < 0 && errno == EINTR) {
      stop_if_interrupted();
      continue;
    }
    if (put < 0 && errno == EPIPE && ends_by_broken_pipe()) throw broken_pipe();
    if (put < 0) fail(name, std::string("cannot write: ") + std::strerror(errno));
    text.remove_prefix(static_cast<std::size_t>(put));
  }
}

void output::flush() {
  write_all(STDOUT_FILENO, "standard output", buffer_);
  buffer_.clear();
}

void say(const std::string& line) {
  const std::string text = "tamis: " + printable(line) + "\n";
  [[maybe_unused]] const ssize_t put = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace tamis::cli
