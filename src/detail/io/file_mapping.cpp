#include "tamis/detail/io/file_mapping.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <map>
#include <mutex>
#include <utility>

#include "../base/memory_owners.hpp"
#include "tamis/detail/io/file.hpp"
#include "tamis/memory.hpp"

namespace tamis::detail {

// Takes back the tables of all mappings; it gives none itself.
class mapped_tables final : public memory_resource {
 public:
  static mapped_tables& all() {
    static auto* const only = new mapped_tables;  // never destroyed: tables of static storage may be freed late
    return *only;
  }

  void* allocate_zeroed(std::uint64_t, std::uint64_t) noexcept override { return nullptr; }
  void release(void* memory, std::uint64_t, std::uint64_t) noexcept override {
    std::shared_ptr<file_mapping> last;  // unmapped when the lock is free again
    const std::lock_guard lock(mutex_);
    const auto found = lent_.find(memory);
    assert(found != lent_.end());
    last = std::move(found->second);
    lent_.erase(found);
  }

  table_memory lend(const std::shared_ptr<file_mapping>& from, std::span<std::byte> part) {
    const std::lock_guard lock(mutex_);
    const bool is_new = lent_.emplace(part.data(), from).second;
    assert(is_new);
    static_cast<void>(is_new);
    return {part.data(), memory_owners::number_of(*this)};
  }

 private:
  // Nobody can choose it, so scopes stay as cheap as without it.
  mapped_tables() : memory_resource(memory_owners::add(this)) {}

  std::mutex mutex_;
  std::map<const void*, std::shared_ptr<file_mapping>> lent_;
};

result<std::shared_ptr<file_mapping>> file_mapping::open(const std::string& path) {
  TAMIS_TRY(file_source file, file_source::open(path));
  const std::uint64_t size = file.remaining();
  void* const data =
      size == 0 ? nullptr : ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file.descriptor(), 0);
  if (data == MAP_FAILED) return system_failure(path, "cannot map");
  return std::shared_ptr<file_mapping>(
      new file_mapping(path, std::move(file).take_descriptor(), static_cast<std::byte*>(data), size));
}

file_mapping::~file_mapping() {
  if (size_ != 0) ::munmap(data_, size_);
  ::close(descriptor_);
}

status file_mapping::read(std::uint64_t offset, std::span<std::byte> to) const {
  while (!to.empty()) {
    const ssize_t got = ::pread(descriptor_, to.data(), to.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_failure(path_, "cannot read");
    if (got == 0) return failure{path_ + ": it ends too early", error_code::damaged};
    offset += static_cast<std::uint64_t>(got);
    to = to.subspan(static_cast<std::size_t>(got));
  }
  return {};
}

table_memory lend_table(const std::shared_ptr<file_mapping>& from, std::span<std::byte> part) {
  return mapped_tables::all().lend(from, part);
}

}  // namespace tamis::detail
