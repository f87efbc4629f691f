#include <array>

#include "integrations/c/boundary.hpp"
#include "integrations/c/json.hpp"
#include "tamis/registry.hpp"

namespace tamis::c {
namespace {

std::string capability_list(capabilities can) {
  const std::array<std::pair<bool, const char*>, 6> all = {{{can.erase, "erase"},
                                                            {can.count, "count"},
                                                            {can.adapt, "adapt"},
                                                            {can.expand, "expand"},
                                                            {can.merge, "merge"},
                                                            {can.rejuvenate, "rejuvenate"}}};
  std::string list = "[";
  for (const auto& [has, name] : all) {
    if (has) append_element(list, quoted(name));
  }
  return list + "]";
}

void append_options(std::string& list, std::span<const option_info> options) {
  for (const option_info& option : options) {
    json_object object;
    object.text("name", option.name).text("values", option.values).text("default", option.fallback);
    object.text("meaning", option.meaning);
    append_element(list, object.str());
  }
}

std::string description(const registry_entry& entry) {
  std::string options = "[";
  append_options(options, entry.info->options);
  append_options(options, shared_options);
  json_object object;
  object.text("id", entry.info->id).text("summary", entry.info->summary).text("paper", entry.info->paper);
  object.raw("can", capability_list(entry.can)).raw("options", options + "]");
  return object.str();
}

}  // namespace
}  // namespace tamis::c

using namespace tamis;     // NOLINT(google-build-using-namespace)
using namespace tamis::c;  // NOLINT(google-build-using-namespace)

extern "C" {

uint32_t tamis_version(void) {
  return std::uint32_t{TAMIS_VERSION_MAJOR} << 16 | std::uint32_t{TAMIS_VERSION_MINOR} << 8 | TAMIS_VERSION_PATCH;
}

const char* tamis_version_text(void) { return TAMIS_LIBRARY_VERSION; }

const char* tamis_cpu_level(void) {
  try {
    return to_string(used_cpu_level()).data();  // a literal
  } catch (...) {
    return "unknown";
  }
}

const char* tamis_code_text(int code) {
  if (code >= TAMIS_OK) return "no error";
  if (code == TAMIS_CALLBACK) return "a callback failed";
  if (code == TAMIS_INTERNAL || code < TAMIS_INTERNAL) return "internal error";
  for (int i = 0; i <= static_cast<int>(error_code::in_use); ++i) {
    if (code_of(static_cast<error_code>(i)) == code) return to_string(static_cast<error_code>(i)).data();  // a literal
  }
  return "internal error";
}

size_t tamis_kinds(void) {
  try {
    return registry::builtin().entries().size();
  } catch (...) {
    return 0;
  }
}

const char* tamis_kind(size_t number) {
  try {
    const auto& entries = registry::builtin().entries();
    return number < entries.size() ? entries[number].info->id.data() : nullptr;  // literals: tests/c checks that they end
  } catch (...) {
    return nullptr;
  }
}

int tamis_describe(const char* id, tamis_sink sink, void* context, tamis_error* error) {
  return guarded(error, [&]() -> result<int> {
    TAMIS_CHECK(given(id, "id"));
    if (sink == nullptr) return failure{"sink: is NULL"};
    TAMIS_TRY(const registry_entry* entry, registry::builtin().find(id));
    TAMIS_CHECK(sent(description(*entry), sink, context));
    return TAMIS_OK;
  });
}
}
