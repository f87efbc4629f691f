#include "tamis/detail/base/file_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>

#include "tamis/detail/base/zeroed_array.hpp"

namespace tamis::detail {
namespace {

// A file that is closed at the end of the scope; a mapping keeps its content.
struct descriptor {
  int number;

  explicit descriptor(int n) : number(n) {}
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() {
    if (number >= 0) close(number);
  }
};

int open_nameless(std::string path) {
  path += "/tamis-XXXXXX";
  const int made = mkostemp(path.data(), O_CLOEXEC);
  if (made >= 0) unlink(path.c_str());
  return made;
}

}  // namespace

file_memory::file_memory(file_memory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

file_memory& file_memory::operator=(file_memory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

file_memory::~file_memory() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

result<file_memory> file_memory::make(std::uint64_t bytes) {
  file_memory made;
  if (bytes == 0) return made;
  std::error_code failed;
  const std::string directory = std::filesystem::temp_directory_path(failed).string();
  const auto refuse = [&](int reason) {
    return failure{"a file of " + format_bytes(bytes) + " in the directory for temporary files '" + directory +
                       "': " + std::strerror(reason),
                   error_code::io};
  };
  if (failed) return refuse(failed.value());
  if (bytes > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max())) return refuse(EFBIG);
  const descriptor file(open_nameless(directory));
  if (file.number < 0) return refuse(errno);
  if (const int reason = posix_fallocate(file.number, 0, static_cast<off_t>(bytes)); reason != 0) return refuse(reason);
  void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.number, 0);
  if (mapped == MAP_FAILED) return refuse(errno);
  made.data_ = mapped;
  made.bytes_ = bytes;
  return made;
}

}  // namespace tamis::detail
