#include "file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "failure.hpp"
#include "file_identity.hpp"
#include "interrupt.hpp"

namespace tamis::cli {

file_lock::file_lock(const std::string& path) {
  for (;;) {
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor_ < 0) {
      if (errno == ENOENT) fail(path, "no such file; `tamis create` makes a filter");
      fail(path, std::string("cannot open: ") + std::strerror(errno));
    }
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      ::close(descriptor_);
      fail(path, "another tamis is changing it");
    }
    // Who held the lock before may have replaced the file: then this lock is on the old one.
    const file_identity locked = identify(descriptor_);
    const file_identity named = identify(path);
    if (named.exists() && same_file(locked, named)) return;
    ::close(descriptor_);
    stop_if_interrupted();
  }
}

file_lock::~file_lock() { ::close(descriptor_); }

}  // namespace tamis::cli
