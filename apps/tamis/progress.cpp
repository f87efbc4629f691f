#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "numbers.hpp"
#include "terminal.hpp"

namespace tamis::cli {
namespace {

constexpr auto first_after = std::chrono::milliseconds(300);
constexpr auto every = std::chrono::milliseconds(100);

void to_terminal(const std::string& text) {
  // If this fails the bar is missing, and nothing else.
  [[maybe_unused]] const ssize_t put = ::write(STDERR_FILENO, text.data(), text.size());
}

std::string bar(double share, unsigned cells) {
  const auto full = static_cast<unsigned>(share * cells);
  std::string text;
  for (unsigned i = 0; i < cells; ++i) {
    if (unicode()) {
      text += i < full ? "█" : "░";
    } else {
      text += i < full ? '#' : '.';
    }
  }
  return text;
}

}  // namespace

progress::progress(std::string what, std::optional<std::uint64_t> total, bool shown)
    : what_(std::move(what)),
      total_(total),
      shown_(shown && is_terminal(STDERR_FILENO)),
      start_(clock::now()),
      next_(start_ + first_after) {}

void progress::at(std::uint64_t done, std::uint64_t keys) {
  if (!shown_) return;
  const auto now = clock::now();
  if (now < next_) return;
  next_ = now + every;
  draw(done, keys, now);
}

void progress::draw(std::uint64_t done, std::uint64_t keys, clock::time_point now) {
  const double seconds = std::chrono::duration<double>(now - start_).count();
  std::string text = what_;
  if (total_ && *total_ != 0) {
    const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(*total_));
    const unsigned columns = terminal_columns(STDERR_FILENO);
    const unsigned cells = columns < 70 ? 10 : columns < 100 ? 25 : 40;
    text += fmt::format("  {} {:3.0f} %", bar(share, cells), 100 * share);
  }
  text += fmt::format("  {} keys  {:.1f} M/s", grouped(keys), static_cast<double>(keys) / seconds / 1e6);
  to_terminal("\r" + text + "\x1b[K");
  drawn_ = true;
}

void progress::clear() {
  if (drawn_) to_terminal("\r\x1b[K");
  drawn_ = false;
}

}  // namespace tamis::cli
