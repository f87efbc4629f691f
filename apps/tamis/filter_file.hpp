#pragma once

// Saved filters: opened with their hash, guarded against a second writer, replaced whole.

#include <cstdint>
#include <memory>
#include <string>

#include "filter_flags.hpp"
#include "json_target.hpp"
#include "tamis/any_filter.hpp"

namespace tamis::cli {

struct filter_file {
  any_filter filter;
  hash_identity hash;
  std::uint64_t bytes;
};

filter_file open_filter(const std::string& path, const seed_flag& seed);
// For looking at only: works without the secret of a keyed hash, so nothing may be asked of or added to the filter.
filter_file open_filter_unkeyed(const std::string& path);

void save_filter(const any_filter& filter, const std::string& path);

// Keeps other tamis commands from changing the file meanwhile: of two commands that each add keys and replace the file, one
// would lose its keys without a word.
class file_lock {
 public:
  explicit file_lock(const std::string& path);
  file_lock(const file_lock&) = delete;
  file_lock& operator=(const file_lock&) = delete;
  ~file_lock();

 private:
  int descriptor_ = -1;
};

// Fails if something is at the path, unless it may be replaced.
void refuse_existing(const std::string& path, bool replace);
// The same for a filter, and the lock on what will be replaced.
std::unique_ptr<file_lock> claim(const std::string& path, bool replace);

// The fields of `info`, which `create` and `merge` show too.
json info_json(const any_filter& filter, hash_family hash);

// A note on standard error if the filter holds more than it was made for.
void note_overload(const any_filter& filter, const std::string& path);

double bits_per_key(const any_filter& filter, std::uint64_t keys);  // infinite without keys

}  // namespace tamis::cli
