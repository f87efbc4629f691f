#include "key_reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "failure.hpp"
#include "interrupt.hpp"
#include "numbers.hpp"
#include "output.hpp"
#include "tamis/detail/base/zeroed_array.hpp"
#include "terminal.hpp"

namespace tamis::cli {

using namespace detail;

namespace {

constexpr std::size_t first_buffer_bytes = std::size_t{1} << 20;
constexpr std::size_t longest_key_bytes = std::size_t{256} << 20;  // a file without any separator must not fill the memory

}  // namespace

// A file or a pipe, to its end.
class raw_bytes final : public readers::input {
 public:
  explicit raw_bytes(int descriptor) : descriptor_(descriptor) {}
  raw_bytes(raw_bytes&&) = delete;
  ~raw_bytes() override {
    if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
  }

  result<std::size_t> read(std::span<char> room) override {
    if (ended_) return std::size_t{0};  // a terminal would begin anew
    ssize_t got = 0;
    do {
      wait_for_input(descriptor_);
      got = ::read(descriptor_, room.data(), room.size());
    } while (got < 0 && errno == EINTR);
    if (got < 0) return failure{std::string("cannot read: ") + std::strerror(errno)};
    ended_ = got == 0;
    done_ += static_cast<std::uint64_t>(got);
    return static_cast<std::size_t>(got);
  }

  std::uint64_t done() const { return done_; }

 private:
  int descriptor_;
  bool ended_ = false;
  std::uint64_t done_ = 0;
};

const char* const key_help =
    "Keys are lines, or NUL-separated with -0, and are taken byte by byte: a\n"
    "carriage return at the end of a line belongs to the key, an empty line is the\n"
    "empty key, and the last line needs no line end. Files may be compressed by gzip\n"
    "or zstd, and may be captures (pcap, pcapng), whose keys are the packets'\n"
    "5-tuples: `1.2.3.4:5 > 6.7.8.9:10 tcp`. Their first bytes tell.";

void key_style::add_to(CLI::App& command) {
  command.add_flag("-0,--null", nul, "keys end with a NUL character, not with a line end");
  command.add_flag("--plain", plain, "take files as they are, also if they look compressed or like a capture");
}

void key_flags::add_to(CLI::App& command, command_files& files) {
  files.reads_keys(command, "KEYS", path, "file of keys; standard input if it is missing or -",
                   command_files::missing::standard_input);
  style.add_to(command);
}

key_reader::key_reader(const std::string& path, const key_style& style)
    : separator_(style.separator()), buffer_(first_buffer_bytes) {
  const bool standard = path.empty() || path == "-";
  name_ = standard ? "standard input" : path;
  const int descriptor = standard ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail(name_, std::string("cannot open: ") + std::strerror(errno));
  auto raw = std::make_unique<raw_bytes>(descriptor);
  raw_ = raw.get();
  keys_in_ = std::make_unique<readers::key_input>(std::move(raw), separator_, style.format());
  struct stat info {};
  const bool known = ::fstat(descriptor, &info) == 0;
  if (known && S_ISDIR(info.st_mode)) fail(name_, "is a directory");
  if (known && S_ISREG(info.st_mode)) total_ = static_cast<std::uint64_t>(info.st_size);
  if (is_terminal(descriptor) && is_terminal(STDERR_FILENO)) {
    say("reading keys from the terminal, one per line; Ctrl-D ends them");
  }
}

std::uint64_t key_reader::bytes_done() const {
  return keys_in_->is_compressed() || keys_in_->is_capture() ? raw_->done() : bytes_before_ + position_;
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
  const std::size_t got = must(name_, keys_in_->read(std::span(buffer_).subspan(end_)));
  ended_ = got == 0;
  end_ += got;
  if (ended_ && keys_in_->is_capture()) tell_packets();
}

// Packets that are no ordinary key are not passed over in silence.
void key_reader::tell_packets() const {
  using readers::packet_kind;
  const readers::packet_counts& packets = keys_in_->packets();
  const auto list = [&](std::initializer_list<std::pair<packet_kind, const char*>> kinds) {
    std::string text;
    for (const auto& [kind, name] : kinds) {
      if (packets[kind] != 0) text += (text.empty() ? "" : ", ") + grouped(packets[kind]) + " " + name;
    }
    return text;
  };
  const std::string kept =
      list({{packet_kind::without_ports, "without ports"}, {packet_kind::later_fragment, "later fragments"}});
  const std::string skipped = list({{packet_kind::not_ip, "not IP"},
                                    {packet_kind::stray_fragment, "fragments whose first one is missing"},
                                    {packet_kind::cut_short, "with incomplete headers"}});
  if (kept.empty() && skipped.empty()) return;
  say(fmt::format("{}: note: {}, {}{}{}", name_, counted(packets.packets(), "packet"), counted(packets.keys(), "key"),
                  kept.empty() ? "" : " (" + kept + ")", skipped.empty() ? "" : "; skipped: " + skipped));
}

}  // namespace tamis::cli
