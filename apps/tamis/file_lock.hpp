#pragma once

#include <string>

namespace tamis::cli {

// Keeps other tamis commands from changing a filter meanwhile: of two commands that each add keys and replace the file, one
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

}  // namespace tamis::cli
