#pragma once

// Zeroed memory that is mapped from a file: for slow memory that should not have to stay in RAM. The file stands in the
// directory for temporary files (TMPDIR), has no name and is gone with the object.

#include <cstdint>

#include "tamis/result.hpp"

namespace tamis::detail {

class file_memory {
 public:
  file_memory() = default;
  file_memory(file_memory&& other) noexcept;
  file_memory& operator=(file_memory&& other) noexcept;
  ~file_memory();

  // An error names the directory and the reason. The space is taken at once, so that no later write can fail for want of it.
  static result<file_memory> make(std::uint64_t bytes);

  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
  std::uint64_t bytes_ = 0;
};

}  // namespace tamis::detail
