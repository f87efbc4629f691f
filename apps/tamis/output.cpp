#include "output.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "failure.hpp"
#include "interrupt.hpp"

namespace tamis::cli {

void output::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t put = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (put < 0 && errno == EINTR) {
      stop_if_interrupted();
      continue;
    }
    if (put < 0) fail("standard output", std::string("cannot write: ") + std::strerror(errno));
    rest.remove_prefix(static_cast<std::size_t>(put));
  }
  buffer_.clear();
}

void say(const std::string& line) {
  const std::string text = "tamis: " + line + "\n";
  [[maybe_unused]] const ssize_t put = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace tamis::cli
