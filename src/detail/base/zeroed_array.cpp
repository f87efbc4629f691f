#include "tamis/detail/base/zeroed_array.hpp"

#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "memory_owners.hpp"
#include "tamis/memory.hpp"

namespace tamis::detail {
namespace {

// Below, a table fits any machine, and asking it would take longer than to allocate the table.
constexpr std::uint64_t never_too_large = std::uint64_t{1} << 20;

std::uint64_t machine_memory() {
  constexpr std::uint64_t addressable = (std::uint64_t{1} << 48) - 1;
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || page_bytes <= 0) return addressable;
  return std::min(addressable, static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes));
}

}  // namespace

status check_table_bytes(std::uint64_t bytes) {
  if (bytes <= never_too_large) return {};
  const std::uint64_t limit = machine_memory();
  if (bytes <= limit) return {};
  return failure{"a table of " + format_bytes(bytes) + " does not fit into this machine's memory of " + format_bytes(limit),
                 error_code::no_memory};
}

result<table_memory> allocate_table(std::uint64_t bytes) {
  TAMIS_CHECK(check_table_bytes(bytes));
  memory_resource& from = current_memory();
  const std::uint64_t whole = whole_lines(bytes);
  void* const memory = from.allocate_zeroed(whole, cache_line_bytes);
  if (memory == nullptr) throw memory_refused(whole);
  return table_memory{memory, memory_owners::number_of(from)};
}

void release_table(const table_memory& table, std::uint64_t bytes) noexcept {
  memory_owners::at(table.owner).release(table.data, whole_lines(bytes), cache_line_bytes);
}

std::array<char, 48> shown_bytes(std::uint64_t bytes) noexcept {
  constexpr std::array<std::string_view, 7> units = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit].data());
  return text;
}

std::string format_bytes(std::uint64_t bytes) { return shown_bytes(bytes).data(); }

}  // namespace tamis::detail
