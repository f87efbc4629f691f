#include "created_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <cstring>

#include "failure.hpp"
#include "file_identity.hpp"
#include "interrupt.hpp"

namespace tamis::cli {

using namespace detail;

namespace {

int open_as_it_is(const std::string& path) {
  for (;;) {
    stop_if_interrupted();
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);  // a named pipe waits here for its reader
    if (descriptor >= 0 || errno != EINTR) return descriptor;
  }
}

}  // namespace

created_file::~created_file() {
  if (stream_ != -1) ::close(stream_);
}

bool created_file::on_stdout() const { return path_ == "-" || named_descriptor(path_) == STDOUT_FILENO; }

void created_file::open() {
  if (on_stdout()) {
    stdout_.emplace();
  } else if (const auto descriptor = named_descriptor(path_)) {
    open_stream(::fcntl(*descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  } else if (const file_identity there = identify(path_); there.exists() && !there.is_regular()) {
    open_stream(open_as_it_is(path_));
  } else {
    replacement_.emplace(must(file_replacement::create(path_)));
  }
}

void created_file::open_stream(int descriptor) {
  if (descriptor < 0) fail(path_, std::string("cannot open: ") + std::strerror(errno));
  stream_ = descriptor;
}

status created_file::write(std::span<const std::byte> bytes) {
  if (replacement_) return replacement_->write(bytes);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (stdout_) {
    stdout_->write(text);
  } else {
    assert(stream_ != -1);
    write_all(stream_, path_, text);
  }
  return {};
}

void created_file::write(std::string_view text) { must(write(std::as_bytes(std::span(text)))); }

void created_file::commit() {
  if (stdout_) stdout_->flush();
  if (replacement_) must(replacement_->commit());
  if (stream_ != -1 && ::close(std::exchange(stream_, -1)) != 0) {
    fail(path_, std::string("cannot close: ") + std::strerror(errno));
  }
}

}  // namespace tamis::cli
