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

bool progress::is_due() {
  if (!shown_) return false;
  const auto now = clock::now();
  if (now < next_) return false;
  next_ = now + every;
  return true;
}

void progress::at(std::uint64_t done, std::uint64_t keys) {
  if (!is_due()) return;
  const double seconds = std::chrono::duration<double>(clock::now() - start_).count();
  draw(done, fmt::format("{} keys  {:.1f} M/s", grouped(keys), static_cast<double>(keys) / seconds / 1e6));
}

void progress::at(std::uint64_t done, const std::string& note) {
  if (is_due()) draw(done, note);
}

void progress::draw(std::uint64_t done, const std::string& note) {
  const unsigned columns = terminal_columns(STDERR_FILENO);
  if (columns < what_.size() + 10) return;  // a line that is too long would be broken, and stay
  std::size_t width = what_.size();
  std::string text = what_;
  if (total_ && *total_ != 0) {
    const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(*total_));
    const unsigned cells = columns < 50 ? 0 : columns < 70 ? 10 : columns < 100 ? 25 : 40;
    text += cells == 0 ? "" : "  " + bar(share, cells);
    text += fmt::format(" {:3.0f} %", 100 * share);
    width += (cells == 0 ? 0 : 2 + cells) + 6;
  }
  const std::size_t room = columns - 1 - std::min<std::size_t>(columns - 1, width + 2);
  to_terminal("\r" + text + (room == 0 ? "" : "  " + note.substr(0, room)) + "\x1b[K");
  drawn_ = true;
}

void progress::clear() {
  if (drawn_) to_terminal("\r\x1b[K");
  drawn_ = false;
}

}  // namespace tamis::cli
