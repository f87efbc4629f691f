// Differences between saved filters.

#include "tamis/difference.hpp"

#include "integrations/c/boundary.hpp"

namespace tamis::c {
namespace {

std::span<const std::byte> bytes_of(const void* bytes, size_t size) { return {static_cast<const std::byte*>(bytes), size}; }

// Hands what `make` answers to the sink, if the arguments, name by name, are there.
template <class Make>
int sent_difference(std::initializer_list<std::pair<const void*, const char*>> arguments, tamis_sink sink, void* context,
                    tamis_error* error, Make make) noexcept {
  return guarded(error, [&]() -> result<int> {
    for (const auto& [argument, name] : arguments) TAMIS_CHECK(given(argument, name));
    if (sink == nullptr) return failure{"sink: is NULL"};
    TAMIS_TRY(const std::vector<std::byte> made, make());
    TAMIS_CHECK(sent({reinterpret_cast<const char*>(made.data()), made.size()}, sink, context));
    return TAMIS_OK;
  });
}

}  // namespace
}  // namespace tamis::c

using namespace tamis;     // NOLINT(google-build-using-namespace)
using namespace tamis::c;  // NOLINT(google-build-using-namespace)

extern "C" {

int tamis_diff_bytes(const void* old, size_t old_size, const void* made, size_t made_size, tamis_sink sink, void* context,
                     tamis_error* error) {
  return sent_difference({{old, "old"}, {made, "made"}}, sink, context, error,
                         [&] { return diff_bytes(bytes_of(old, old_size), bytes_of(made, made_size)); });
}

int tamis_diff_files(const char* old, const char* made, tamis_sink sink, void* context, tamis_error* error) {
  return sent_difference({{old, "old"}, {made, "made"}}, sink, context, error, [&] { return diff_files(old, made); });
}

int tamis_patch_bytes(const void* saved, size_t size, const void* patch, size_t patch_size, tamis_sink sink, void* context,
                      tamis_error* error) {
  return sent_difference({{saved, "saved"}, {patch, "patch"}}, sink, context, error,
                         [&] { return patch_bytes(bytes_of(saved, size), bytes_of(patch, patch_size)); });
}

int tamis_patch_file(const char* path, const char* patch, tamis_error* error) {
  return guarded(error, [&]() -> result<int> {
    TAMIS_CHECK(given(path, "path"));
    TAMIS_CHECK(given(patch, "patch"));
    TAMIS_CHECK(patch_file(path, patch));
    return TAMIS_OK;
  });
}

int tamis_checksums_of_bytes(const void* saved, size_t size, tamis_sink sink, void* context, tamis_error* error) {
  return sent_difference({{saved, "saved"}}, sink, context, error, [&] { return checksums_of_bytes(bytes_of(saved, size)); });
}

int tamis_checksums_of_file(const char* path, tamis_sink sink, void* context, tamis_error* error) {
  return sent_difference({{path, "path"}}, sink, context, error, [&] { return checksums_of_file(path); });
}
}
