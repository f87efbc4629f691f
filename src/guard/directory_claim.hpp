#pragma once

// A directory belongs to one store of this process at a time, by whatever name it is opened: through a link, with a dot in it,
// or relative to a directory that the program has left since. RocksDB compares names only, and the lock on its file holds among
// processes, not within one: two stores would write over each other's files.

#include <sys/types.h>

#include <string>
#include <utility>

#include "tamis/result.hpp"

namespace tamis {

// Without links; an error if nothing is there.
result<std::string> absolute_path(const std::string& directory);

class directory_claim {
 public:
  directory_claim() = default;
  directory_claim(directory_claim&& other) noexcept : held_(std::exchange(other.held_, {})) {}
  directory_claim& operator=(directory_claim&& other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~directory_claim();

  // Fails if the directory is not there, or another claim holds it.
  static result<directory_claim> take(const std::string& directory);

  const std::string& path() const { return held_.path; }  // an absolute_path()

 private:
  struct claimed {
    std::string path;  // empty: nothing is held
    dev_t device = 0;
    ino_t number = 0;
  };
  explicit directory_claim(claimed held) : held_(std::move(held)) {}

  claimed held_;
};

}  // namespace tamis
