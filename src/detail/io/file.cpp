#include "tamis/detail/io/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

namespace tamis::detail {
namespace {

failure not_regular(const std::string& path, mode_t mode) {
  if (S_ISDIR(mode)) return {path + ": is a directory", error_code::io};
  const char* kind = S_ISFIFO(mode)   ? "a named pipe"
                     : S_ISSOCK(mode) ? "a socket"
                     : S_ISCHR(mode)  ? "a character device"
                     : S_ISBLK(mode)  ? "a block device"
                                      : "something else";
  return {path + ": is not a regular file, but " + kind, error_code::io};
}

// Renames survive a power cut only once the directory is synced.
status sync_directory_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  const std::string directory = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return system_failure(directory, "cannot open directory");
  const bool synced = ::fsync(descriptor) == 0 || errno == EINVAL;  // some file systems cannot sync directories
  ::close(descriptor);
  if (!synced) return system_failure(directory, "cannot sync directory");
  return {};
}

// The file behind a symbolic link, so that replacing it keeps the link; it need not exist yet.
std::string target_of(const std::string& path) {
  namespace fs = std::filesystem;
  fs::path target = path;
  std::error_code failed;
  for (int hops = 0; hops < 40 && fs::is_symlink(target, failed); ++hops) {
    const fs::path next = fs::read_symlink(target, failed);
    if (failed) break;
    target = target.parent_path() / next;  // an absolute `next` replaces it
  }
  return target.string();
}

}  // namespace

failure system_failure(const std::string& path, const char* doing) {
  const int reason = errno;
  return {path + ": " + doing + ": " + std::strerror(reason), reason == ENOENT ? error_code::not_found : error_code::io};
}

// Never waits: a named pipe without a writer would keep an ordinary open waiting for one.
result<file_source> file_source::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  const int reason = errno;
  struct stat info {};
  if (descriptor < 0) {
    // A socket cannot be opened at all; the system's reason for that does not say so.
    if (::stat(path.c_str(), &info) == 0 && S_ISSOCK(info.st_mode)) return not_regular(path, info.st_mode);
    errno = reason;
    return system_failure(path, "cannot open");
  }
  const bool known = ::fstat(descriptor, &info) == 0;
  if (known && S_ISREG(info.st_mode)) return file_source(path, descriptor, static_cast<std::uint64_t>(info.st_size));
  failure refusal = known ? not_regular(path, info.st_mode) : system_failure(path, "cannot open");
  ::close(descriptor);
  return refusal;
}

file_source::file_source(file_source&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)), remaining_(other.remaining_) {}

file_source::~file_source() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

status file_source::read(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = ::read(descriptor_, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_failure(path_, "cannot read");
    if (got == 0) return failure{"it ends too early", error_code::damaged};
    remaining_ -= std::min(remaining_, static_cast<std::uint64_t>(got));
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return {};
}

result<file_replacement> file_replacement::create(const std::string& path) {
  std::string target = target_of(path);
  struct stat old {};
  const bool exists = ::stat(target.c_str(), &old) == 0;
  if (exists && !S_ISREG(old.st_mode)) return not_regular(path, old.st_mode);
  static std::atomic<unsigned> counter = 0;
  std::string temporary = target + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(++counter);
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) return system_failure(path, "cannot create a file beside it");
  file_replacement made(std::move(target), std::move(temporary), descriptor);
  if (exists && ::fchmod(descriptor, old.st_mode & 07777) != 0) return system_failure(path, "cannot keep its mode");
  return made;
}

file_replacement::file_replacement(file_replacement&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

file_replacement::~file_replacement() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

status file_replacement::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor_, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return system_failure(path_, "cannot write");
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return {};
}

status file_replacement::commit() {
  if (::fsync(descriptor_) != 0) return system_failure(path_, "cannot sync");
  if (::close(std::exchange(descriptor_, -1)) != 0) return system_failure(path_, "cannot close");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return system_failure(path_, "cannot replace");
  temporary_.clear();
  return sync_directory_of(path_);
}

status replace_file(const std::string& path, std::string_view text) {
  TAMIS_TRY(file_replacement file, file_replacement::create(path));
  TAMIS_CHECK(file.write(std::as_bytes(std::span(text.data(), text.size()))));
  return file.commit();
}

}  // namespace tamis::detail
