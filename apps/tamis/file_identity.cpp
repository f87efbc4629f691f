#include "file_identity.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>

namespace tamis::cli {
namespace {

namespace fs = std::filesystem;

constexpr int most_links = 40;  // as many as Linux follows

// Where a symbolic link leads, one step; nothing if the path is none.
std::optional<fs::path> next_link(const fs::path& path) {
  std::error_code failed;
  const fs::path next = fs::read_symlink(path, failed);
  if (failed) return std::nullopt;
  return path.parent_path() / next;  // an absolute `next` replaces it
}

std::optional<int> descriptor_in_name(const std::string& path) {
  if (path == "/dev/stdin") return STDIN_FILENO;
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    int number = 0;
    const char* const end = path.data() + path.size();
    const auto [rest, failed] = std::from_chars(path.data() + folder.size(), end, number);
    if (failed == std::errc() && rest == end && number >= 0) return number;
  }
  return std::nullopt;
}

file_identity identity_of(const struct stat& info) { return {info.st_dev, info.st_ino, "", info.st_mode}; }

}  // namespace

bool file_identity::is_regular() const { return S_ISREG(mode); }
bool file_identity::is_directory() const { return S_ISDIR(mode); }
bool file_identity::is_exclusive() const { return !exists() || !(S_ISCHR(mode) || S_ISSOCK(mode)); }

bool same_file(const file_identity& a, const file_identity& b) {
  return a.device == b.device && a.inode == b.inode && a.name == b.name;
}

file_identity identify(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0) return identity_of(info);
  fs::path target = path;
  for (int hops = 0; hops < most_links; ++hops) {
    const auto next = next_link(target);
    if (!next) break;
    target = *next;
  }
  const fs::path folder = target.has_parent_path() ? target.parent_path() : ".";
  if (::stat(folder.c_str(), &info) == 0) return {info.st_dev, info.st_ino, target.filename().string(), 0};
  // Nothing can be created there; the name alone has to do.
  return {0, 0, fs::path(target).lexically_normal().string(), 0};
}

file_identity identify(int descriptor) {
  struct stat info {};
  if (::fstat(descriptor, &info) != 0) return {0, 0, "descriptor " + std::to_string(descriptor), 0};
  return identity_of(info);
}

std::optional<int> named_descriptor(const std::string& path) {
  fs::path name = path;
  for (int hops = 0; hops < most_links; ++hops) {
    if (const auto found = descriptor_in_name(name.string())) return found;
    const auto next = next_link(name);
    if (!next) break;
    name = *next;
  }
  return std::nullopt;
}

bool lies_in(const std::string& path, const std::string& folder) {
  std::error_code failed;
  const fs::path inside = fs::weakly_canonical(fs::absolute(path, failed), failed);
  fs::path outside = fs::weakly_canonical(fs::absolute(folder, failed), failed);
  if (failed) return false;
  if (!outside.has_filename()) outside = outside.parent_path();  // results/
  return std::mismatch(outside.begin(), outside.end(), inside.begin(), inside.end()).first == outside.end();
}

}  // namespace tamis::cli
