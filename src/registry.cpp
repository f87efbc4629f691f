#include "tamis/registry.hpp"

#include <cassert>

// Every filter has one entry function per CPU level, each compiled in a file of its own.
#define TAMIS_WIDE(name, header) TAMIS_FILTER(name, header)
#define TAMIS_FILTER(name, header) extern "C" void tamis_entry_portable_##name(tamis::registry_entry*);
#include "filters.def"
#undef TAMIS_FILTER
#if TAMIS_BUILT_LEVELS
#define TAMIS_FILTER(name, header) extern "C" void tamis_entry_avx2_##name(tamis::registry_entry*);
#include "filters.def"
#undef TAMIS_FILTER
#undef TAMIS_WIDE
#define TAMIS_FILTER(name, header)
#define TAMIS_WIDE(name, header) extern "C" void tamis_entry_avx512_##name(tamis::registry_entry*);
#include "filters.def"
#undef TAMIS_FILTER
#endif
#undef TAMIS_WIDE

namespace tamis {
namespace {

using entry_function = void (*)(registry_entry*);

#define TAMIS_WIDE(name, header) TAMIS_FILTER(name, header)
#define TAMIS_FILTER(name, header) tamis_entry_portable_##name,
constexpr entry_function portable_entries[] = {
#include "filters.def"
};
#undef TAMIS_FILTER
#if TAMIS_BUILT_LEVELS
#define TAMIS_FILTER(name, header) tamis_entry_avx2_##name,
constexpr entry_function avx2_entries[] = {
#include "filters.def"
};
#undef TAMIS_WIDE
#define TAMIS_WIDE(name, header) tamis_entry_avx512_##name,
constexpr entry_function avx512_entries[] = {
#include "filters.def"
};
#undef TAMIS_FILTER
#endif
#undef TAMIS_WIDE

std::span<const entry_function> entries_of(cpu_level level) {
#if TAMIS_BUILT_LEVELS
  if (level == cpu_level::avx512) return avx512_entries;
  if (level == cpu_level::avx2) return avx2_entries;
#endif
  assert(level == cpu_level::portable);
  return portable_entries;
}

registry assemble(cpu_level level) {
  registry made;
  for (const entry_function function : entries_of(level)) {
    registry_entry entry{};
    function(&entry);
    made.add(entry);
  }
  return made;
}

}  // namespace

const registry& registry::builtin() {
  static const registry made = assemble(used_cpu_level());
  return made;
}

result<registry> registry::builtin(cpu_level level) {
  for (const cpu_level available : available_cpu_levels()) {
    if (available == level) return assemble(level);
  }
  return failure{"CPU level " + std::string(to_string(level)) + ": not available here", error_code::unsupported};
}

void registry::add(const registry_entry& entry) {
  assert(!find(entry.info->id));
  entries_.push_back(entry);
}

result<const registry_entry*> registry::find(std::string_view id) const {
  std::string ids;
  for (const registry_entry& entry : entries_) {
    if (entry.info->id == id) return &entry;
    ids += (ids.empty() ? "" : ", ") + std::string(entry.info->id);
  }
  return failure{"filter '" + std::string(id) + "': unknown, there are: " + ids, error_code::not_found};
}

}  // namespace tamis
