#pragma once

// What slots were before a change that may have to be taken back. Most changes are a few slots long and take no memory from
// the allocator.

#include <array>
#include <cstdint>
#include <vector>

#include "tamis/digest.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

class undo_log {
 public:
  struct entry {
    std::uint64_t slot;
    std::uint64_t value;
    digest key;
    std::uint8_t left;
  };

  undo_log() {}  // NOLINT(modernize-use-equals-default): the entries stay uninitialised
  TAMIS_INLINE void add(const entry& e) {
    if (size_ < first_.size()) {
      first_[size_] = e;
    } else {
      more_.push_back(e);
    }
    ++size_;
  }
  std::uint64_t size() const { return size_; }
  const entry& operator[](std::uint64_t i) const { return i < first_.size() ? first_[i] : more_[i - first_.size()]; }

 private:
  std::uint64_t size_ = 0;
  std::array<entry, 16> first_;
  std::vector<entry> more_;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
