#include "filter_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "failure.hpp"
#include "interrupt.hpp"
#include "numbers.hpp"
#include "tamis/detail/io/file.hpp"
#include "tamis/registry.hpp"

namespace tamis::cli {
namespace {

// As tamis::load_file, but which hasher is right is decided when the header is known, and a signal stops it.
template <class HasherFor>
filter_file read_filter(const std::string& path, HasherFor hasher_for) {
  file_source file = must(file_source::open(path));
  const std::uint64_t bytes = file.remaining();
  watched_source source(file);
  std::unique_ptr<any_model> model;
  hasher hash;
  hash_identity identity;
  must(path, read_frame(source, [&](const frame_header& header, reader& in) -> status {
         TAMIS_TRY(const registry_entry* entry, registry::builtin().find(header.kind));
         if (header.kind_version != entry->info->version) {
           return error{fmt::format("it holds version {} of {}, this tamis reads version {}", header.kind_version, header.kind,
                                    entry->info->version)};
         }
         identity = header.hash;
         TAMIS_TRY(hash, hasher_for(header.hash));
         TAMIS_TRY(model, entry->load(in));
         return {};
       }));
  return {any_filter(std::move(model), hash), identity, bytes};
}

bool same_file(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

}  // namespace

filter_file open_filter(const std::string& path, const seed_flag& seed) {
  return read_filter(path, [&](const hash_identity& stored) { return seed.matching(stored); });
}

filter_file open_filter_unkeyed(const std::string& path) {
  return read_filter(path, [](const hash_identity& stored) -> result<hasher> {
    return stored.family == hash_family::fast ? hasher::from(stored) : hasher();
  });
}

void save_filter(const any_filter& filter, const std::string& path) {
  file_replacement file = must(file_replacement::create(path));
  watched_sink sink(file);
  must(filter.save(sink));
  stop_if_interrupted();
  must(file.commit());
}

void refuse_existing(const std::string& path, bool replace) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return;
  if (S_ISDIR(info.st_mode)) fail(path, "is a directory");
  if (!replace) fail(path, "exists already; --force replaces it");
}

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
    struct stat locked {};
    struct stat named {};
    if (::fstat(descriptor_, &locked) == 0 && ::stat(path.c_str(), &named) == 0 && same_file(locked, named)) return;
    ::close(descriptor_);
    stop_if_interrupted();
  }
}

file_lock::~file_lock() { ::close(descriptor_); }

std::unique_ptr<file_lock> claim(const std::string& path, bool replace) {
  refuse_existing(path, replace);
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return nullptr;
  return std::make_unique<file_lock>(path);
}

json info_json(const any_filter& filter, hash_family hash) {
  const double load = static_cast<double>(filter.keys()) / static_cast<double>(filter.capacity());
  json options = json::object();
  for (const auto& [name, value] : filter.settings()) options[name] = value;
  return {{"filter", filter.info().id},
          {"keys", filter.keys()},
          {"capacity", filter.capacity()},
          {"load", number_or_null(load)},
          {"bits_per_key", number_or_null(bits_per_key(filter, filter.keys()))},
          {"expected_fpr", number_or_null(filter.expected_fpr())},
          {"hash", to_string(hash)},
          {"format_version", format_version},
          {"options", std::move(options)}};
}

void note_overload(const any_filter& filter, const std::string& path) {
  if (filter.keys() <= filter.capacity()) return;
  say(fmt::format("{}: note: {} in a filter made for {}; the expected false-positive rate is now {}", path,
                  counted(filter.keys(), "key"), grouped(filter.capacity()), percent(filter.expected_fpr())));
}

double bits_per_key(const any_filter& filter, std::uint64_t keys) {
  if (keys == 0) return std::numeric_limits<double>::infinity();
  return static_cast<double>(filter.bits().fast) / static_cast<double>(keys);
}

}  // namespace tamis::cli
