// Loaded into the child with LD_PRELOAD: numbers the operations on files under a directory, and at a chosen one kills the
// process or lets it fail. With a shadow directory it also keeps what a power cut would leave: the content of files as of their
// last sync, and the names of a directory as of its last sync. Nothing is really synced, which makes thousands of runs cheap.
//
//   CRASH_ROOT      the directory; log files in it do not count
//   CRASH_AT        number of the operation
//   CRASH_HOW       kill, torn (half of a write, then kill), eio, enospc (from there on, twenty times), short (half of a write)
//   CRASH_SHADOW    directory for the shadow

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>

namespace {

constexpr int most_descriptors = 4096;
constexpr long enospc_length = 20;

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

struct plan {
  std::string root = variable("CRASH_ROOT");
  long at = std::atol(variable("CRASH_AT").c_str());
  std::string how = variable("CRASH_HOW");
  std::string shadow = variable("CRASH_SHADOW");
};

const plan& the_plan() {
  static const plan made;
  return made;
}

std::atomic<long> operations = 0;
std::atomic<bool> watched[most_descriptors];
std::mutex shadowing;

bool counts(const char* path) {
  const std::string& root = the_plan().root;
  if (root.empty() || std::strncmp(path, root.c_str(), root.size()) != 0) return false;
  const char* name = std::strrchr(path, '/');
  return name == nullptr || (std::strncmp(name, "/LOG", 4) != 0 && std::strcmp(name, "/LOCK") != 0);
}

bool is_watched(int descriptor) { return descriptor >= 0 && descriptor < most_descriptors && watched[descriptor]; }

// Other threads may go on for a moment, this one does not.
void die() {
  ::kill(::getpid(), SIGKILL);
  while (true) ::pause();
}

enum class verdict { go_on, fail, half, half_and_die };
enum class effect { none, new_name, bytes };  // what an operation wants room for

// Numbers an operation and says what is to become of it. Only bytes can be halved.
verdict next_operation(effect wanted) {
  const plan& p = the_plan();
  const long number = ++operations;
  if (p.at == 0 || number < p.at) return verdict::go_on;
  if (p.how == "enospc") {
    if (number >= p.at + enospc_length || wanted == effect::none) return verdict::go_on;
    errno = ENOSPC;
    return verdict::fail;
  }
  if (number != p.at) return verdict::go_on;
  if (p.how == "torn" && wanted == effect::bytes) return verdict::half_and_die;
  if (p.how == "kill" || p.how == "torn") die();
  if (p.how == "short") return wanted == effect::bytes ? verdict::half : verdict::go_on;
  errno = EIO;
  return verdict::fail;
}

// The rest of the path, with `/` replaced so that it is one name.
std::string flat(std::string path) {
  path.erase(0, the_plan().root.size());
  for (char& c : path) {
    if (c == '/') c = '%';
  }
  return path;
}

void replace(const std::string& from, const std::string& to) { std::filesystem::rename(from, to); }

void shadow_directory(const std::string& path) {
  const std::string target = the_plan().shadow + "/names/" + flat(path + "/");
  {
    std::ofstream list(target + ".new");
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      struct stat info {};
      if (::stat(entry.path().c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
      // A second name keeps the number from being given to another file.
      const std::string keep = the_plan().shadow + "/keep/" + std::to_string(info.st_ino);
      if (::link(entry.path().c_str(), keep.c_str()) != 0 && errno != EEXIST) continue;
      list << info.st_ino << ' ' << entry.path().filename().string() << '\n';
    }
  }
  replace(target + ".new", target);
}

void shadow_file(int descriptor, const struct stat& info) {
  const std::string self = "/proc/self/fd/" + std::to_string(descriptor);
  const std::string number = std::to_string(info.st_ino);
  const std::string keep = the_plan().shadow + "/keep/" + number;
  ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, keep.c_str(), AT_SYMLINK_FOLLOW);
  const std::string target = the_plan().shadow + "/content/" + number;
  {
    // Not copy_file: libstdc++ 12 takes an empty file for a failure.
    std::ifstream from(self, std::ios::binary);
    if (!from) throw std::filesystem::filesystem_error("cannot open", self, std::error_code(errno, std::generic_category()));
    std::ofstream(target + ".new", std::ios::binary) << from.rdbuf();
  }
  replace(target + ".new", target);
}

void keep_shadow_of(int descriptor) {
  const std::lock_guard lock(shadowing);
  struct stat info {};
  if (::fstat(descriptor, &info) != 0) return;
  if (!S_ISDIR(info.st_mode)) return shadow_file(descriptor, info);
  shadow_directory(std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor)).string());
}

// Threads may live on for a moment after the kill, when /proc is already gone: they wait for their end.
void keep_shadow(int descriptor) {
  if (the_plan().shadow.empty()) return;
  try {
    keep_shadow_of(descriptor);
  } catch (const std::filesystem::filesystem_error&) {
    while (true) ::pause();
  }
}

int opened(int descriptor, const char* path) {
  if (descriptor >= 0 && descriptor < most_descriptors) watched[descriptor] = counts(path);
  return descriptor;
}

bool may_open(const char* path, int flags) {
  return (flags & O_CREAT) == 0 || !counts(path) || next_operation(effect::new_name) == verdict::go_on;
}

int sync_file(int descriptor) {
  if (is_watched(descriptor)) {
    if (next_operation(effect::none) == verdict::fail) return -1;
    keep_shadow(descriptor);
  }
  return 0;
}

template <class Write>
ssize_t write_some(int descriptor, std::size_t size, Write write_bytes) {
  if (!is_watched(descriptor)) return write_bytes(size);
  switch (next_operation(effect::bytes)) {
    case verdict::go_on: return write_bytes(size);
    case verdict::fail: return -1;
    case verdict::half: return write_bytes(size > 1 ? size / 2 : size);
    case verdict::half_and_die: write_bytes(size / 2), die();
  }
  return -1;
}

bool may_change(const char* path) { return !counts(path) || next_operation(effect::none) != verdict::fail; }

}  // namespace

extern "C" {

long crash_operations() { return operations; }

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const int mode = (flags & O_CREAT) != 0 ? va_arg(arguments, int) : 0;
  va_end(arguments);
  if (!may_open(path, flags)) return -1;
  return opened(real<int(const char*, int, ...)>("open")(path, flags, mode), path);
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const int mode = (flags & O_CREAT) != 0 ? va_arg(arguments, int) : 0;
  va_end(arguments);
  if (!may_open(path, flags)) return -1;
  return opened(real<int(const char*, int, ...)>("open64")(path, flags, mode), path);
}

int close(int descriptor) {
  if (descriptor >= 0 && descriptor < most_descriptors) watched[descriptor] = false;
  return real<int(int)>("close")(descriptor);
}

ssize_t write(int descriptor, const void* bytes, size_t size) {
  return write_some(descriptor, size,
                    [&](std::size_t n) { return real<ssize_t(int, const void*, size_t)>("write")(descriptor, bytes, n); });
}

ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t at) {
  return write_some(descriptor, size, [&](std::size_t n) {
    return real<ssize_t(int, const void*, size_t, off_t)>("pwrite")(descriptor, bytes, n, at);
  });
}

ssize_t pwrite64(int descriptor, const void* bytes, size_t size, off64_t at) {
  return write_some(descriptor, size, [&](std::size_t n) {
    return real<ssize_t(int, const void*, size_t, off64_t)>("pwrite64")(descriptor, bytes, n, at);
  });
}

int fsync(int descriptor) { return sync_file(descriptor); }
int fdatasync(int descriptor) { return sync_file(descriptor); }

void* mmap(void* at, size_t size, int protection, int flags, int descriptor, off_t offset) {
  if (is_watched(descriptor) && next_operation(effect::none) == verdict::fail) return MAP_FAILED;
  return real<void*(void*, size_t, int, int, int, off_t)>("mmap")(at, size, protection, flags, descriptor, offset);
}
void* mmap64(void* at, size_t size, int protection, int flags, int descriptor, off64_t offset) {
  return mmap(at, size, protection, flags, descriptor, offset);
}

int rename(const char* from, const char* to) {
  if (!may_change(to)) return -1;
  return real<int(const char*, const char*)>("rename")(from, to);
}

int unlink(const char* path) {
  if (!may_change(path)) return -1;
  return real<int(const char*)>("unlink")(path);
}

int ftruncate(int descriptor, off_t size) {
  if (is_watched(descriptor) && next_operation(effect::none) == verdict::fail) return -1;
  return real<int(int, off_t)>("ftruncate")(descriptor, size);
}

int ftruncate64(int descriptor, off64_t size) {
  if (is_watched(descriptor) && next_operation(effect::none) == verdict::fail) return -1;
  return real<int(int, off64_t)>("ftruncate64")(descriptor, size);
}
}
