#include "directory_claim.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>

namespace tamis {
namespace {

std::mutex claims_lock;

// With the process that holds each: what a child inherits through fork() is its parent's, and the lock on a file tells them
// apart. Never destroyed: a store may be a global object, and end after it.
std::map<std::pair<dev_t, ino_t>, pid_t>& claims() {
  static auto& all = *new std::map<std::pair<dev_t, ino_t>, pid_t>;
  return all;
}

}  // namespace

result<std::string> absolute_path(const std::string& directory) {
  std::error_code failed;
  std::string path = std::filesystem::canonical(directory, failed).string();
  if (failed) return failure{directory + ": cannot be found: " + failed.message(), error_code::io};
  return path;
}

result<directory_claim> directory_claim::take(const std::string& directory) {
  TAMIS_TRY(std::string path, absolute_path(directory));
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0)
    return failure{directory + ": cannot be found: " + std::strerror(errno), error_code::io};
  claimed held{std::move(path), found.st_dev, found.st_ino};
  const std::lock_guard lock(claims_lock);
  pid_t& holder = claims()[{held.device, held.number}];
  if (holder == ::getpid()) return failure{directory + ": in use, by this very process", error_code::in_use};
  holder = ::getpid();
  return directory_claim(std::move(held));
}

directory_claim::~directory_claim() {
  if (held_.path.empty()) return;
  const std::lock_guard lock(claims_lock);
  claims().erase({held_.device, held_.number});
}

}  // namespace tamis
