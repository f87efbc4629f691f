#include "key_reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "failure.hpp"
#include "interrupt.hpp"
#include "output.hpp"
#include "tamis/base/memory.hpp"
#include "terminal.hpp"

namespace tamis::cli {
namespace {

constexpr std::size_t first_buffer_bytes = std::size_t{1} << 20;
constexpr std::size_t longest_key_bytes = std::size_t{256} << 20;  // a file without any separator must not fill the memory

}  // namespace

const char* const key_help =
    "Keys are lines, or NUL-separated with -0, and are taken byte by byte: a\n"
    "carriage return at the end of a line belongs to the key, an empty line is the\n"
    "empty key, and the last line needs no line end.";

void key_flags::add_to(CLI::App& command) {
  command.add_option("KEYS", path, "file of keys; standard input if it is missing or -");
  command.add_flag("-0,--null", nul, "keys end with a NUL character, not with a line end");
}

key_reader::key_reader(const std::string& path, char separator) : separator_(separator), buffer_(first_buffer_bytes) {
  const bool standard = path.empty() || path == "-";
  name_ = standard ? "standard input" : path;
  descriptor_ = standard ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) fail(name_, std::string("cannot open: ") + std::strerror(errno));
  struct stat info {};
  const bool known = ::fstat(descriptor_, &info) == 0;
  if (known && S_ISDIR(info.st_mode)) {
    if (!standard) ::close(descriptor_);
    fail(name_, "is a directory");
  }
  if (known && S_ISREG(info.st_mode)) total_ = static_cast<std::uint64_t>(info.st_size);
  if (is_terminal(descriptor_) && is_terminal(STDERR_FILENO)) {
    say("reading keys from the terminal, one per line; Ctrl-D ends them");
  }
}

key_reader::~key_reader() {
  if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
}

std::span<const std::string_view> key_reader::next(std::size_t most) {
  keys_.clear();
  while (keys_.empty()) {
    stop_if_interrupted();
    take_complete_keys(most);
    if (!keys_.empty()) break;
    if (!ended_) {
      refill();
      continue;
    }
    if (position_ == end_) break;
    keys_.emplace_back(buffer_.data() + position_, end_ - position_);
    position_ = scanned_ = end_;
  }
  return keys_;
}

void key_reader::take_complete_keys(std::size_t most) {
  while (keys_.size() < most) {
    const void* found = std::memchr(buffer_.data() + scanned_, separator_, end_ - scanned_);
    if (found == nullptr) {
      scanned_ = end_;
      return;
    }
    const auto at = static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data());
    keys_.emplace_back(buffer_.data() + position_, at - position_);
    position_ = scanned_ = at + 1;
  }
}

// Requires: what is between position_ and end_ is the beginning of one key.
void key_reader::refill() {
  std::memmove(buffer_.data(), buffer_.data() + position_, end_ - position_);
  bytes_before_ += position_;
  end_ -= position_;
  scanned_ -= position_;
  position_ = 0;
  if (end_ == buffer_.size()) {
    if (end_ >= longest_key_bytes) fail(name_, "a key is longer than " + format_bytes(longest_key_bytes));
    buffer_.resize(2 * buffer_.size());
  }
  ssize_t got = 0;
  while ((got = ::read(descriptor_, buffer_.data() + end_, buffer_.size() - end_)) < 0 && errno == EINTR) stop_if_interrupted();
  if (got < 0) fail(name_, std::string("cannot read: ") + std::strerror(errno));
  ended_ = got == 0;
  end_ += static_cast<std::size_t>(got);
}

void hash_keys(const hasher& hash, std::span<const std::string_view> keys, std::vector<digest>& digests) {
  digests.resize(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) digests[i] = hash(keys[i]);
}

}  // namespace tamis::cli
