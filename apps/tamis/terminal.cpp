#include "terminal.hpp"

#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <limits>

namespace tamis::cli {
namespace {

std::string styled(const char* code, std::string_view text) {
  if (!colours() || text.empty()) return std::string(text);
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

}  // namespace

bool is_terminal(int descriptor) { return ::isatty(descriptor) == 1; }

unsigned terminal_columns(int descriptor) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

unsigned text_columns() { return std::clamp(terminal_columns(STDOUT_FILENO), 20u, 120u); }

std::size_t line_columns() {
  if (!is_terminal(STDOUT_FILENO)) return std::numeric_limits<std::size_t>::max();
  return std::max(terminal_columns(STDOUT_FILENO), 20u);
}

bool colours() {
  static const bool on = [] {
    const char* off = std::getenv("NO_COLOR");
    const char* kind = std::getenv("TERM");
    return is_terminal(STDOUT_FILENO) && (off == nullptr || *off == '\0') && kind != nullptr &&
           std::string_view(kind) != "dumb";
  }();
  return on;
}

bool unicode() {
  static const bool on = [] {
    std::setlocale(LC_CTYPE, "");
    return std::string_view(::nl_langinfo(CODESET)) == "UTF-8";
  }();
  return on;
}

std::string bold(std::string_view text) { return styled("1", text); }
std::string dim(std::string_view text) { return styled("2", text); }

std::string wrapped(std::string_view text, unsigned columns, unsigned indent) {
  std::string lines;
  std::size_t used = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (used != 0 && used + 1 + word.size() > columns) {
      lines.append(1, '\n').append(indent, ' ');
      used = indent;
    } else if (used != 0) {
      lines += ' ';
      ++used;
    }
    lines += word;
    used += word.size();
  }
  return lines;
}

std::string wrapped_command(std::string_view text, std::size_t columns, unsigned indent) {
  std::string lines;
  std::size_t used = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(" --", 1), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(end);
    const std::size_t mark = text.empty() ? 0 : 2;  // room for the backslash
    if (used != 0 && used + part.size() + mark > columns) {
      lines.append(" \\\n").append(indent, ' ').append(part.substr(1));
      used = indent + part.size() - 1;
    } else {
      lines += part;
      used += part.size();
    }
  }
  return lines;
}

}  // namespace tamis::cli
