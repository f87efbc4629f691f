#pragma once

// Filters and keys through tamis.h alone, as a C program sees them.

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tamis/tamis.h"

namespace tamis::test {

struct free_filter {
  void operator()(tamis_filter* f) const { tamis_filter_free(f); }
};
using filter_handle = std::unique_ptr<tamis_filter, free_filter>;
struct free_remote {
  void operator()(tamis_remote* r) const { tamis_remote_free(r); }
};
using remote_handle = std::unique_ptr<tamis_remote, free_remote>;

inline filter_handle made(const std::string& spec, const std::uint8_t* secret = nullptr) {
  tamis_filter* f = nullptr;
  tamis_error error{};
  EXPECT_EQ(tamis_filter_create(spec.c_str(), secret, &f, &error), TAMIS_OK) << spec << ": " << error.message;
  return filter_handle(f);
}

inline int append(void* context, const void* bytes, size_t size) {
  static_cast<std::string*>(context)->append(static_cast<const char*>(bytes), size);
  return 0;
}

inline std::string saved(const tamis_filter* f) {
  std::string bytes;
  tamis_error error{};
  EXPECT_EQ(tamis_filter_save(f, append, &bytes, &error), TAMIS_OK) << error.message;
  return bytes;
}

inline tamis_keys integers(const std::vector<std::uint64_t>& keys) {
  tamis_keys batch{};
  batch.struct_size = sizeof batch;
  batch.form = TAMIS_U64;
  batch.count = keys.size();
  batch.data = keys.data();
  return batch;
}

inline std::vector<std::uint64_t> numbers(std::uint64_t first, std::uint64_t count) {
  std::vector<std::uint64_t> keys;
  for (std::uint64_t i = 0; i < count; ++i) keys.push_back((first + i) * 0x9e3779b97f4a7c15u);
  return keys;
}

inline std::vector<std::uint8_t> answers(const tamis_filter* f, const tamis_keys& keys) {
  std::vector<std::uint8_t> out(keys.count, 7);
  tamis_error error{};
  EXPECT_EQ(tamis_may_contain(f, &keys, out.data(), &error), TAMIS_OK) << error.message;
  return out;
}

inline std::vector<std::string> kinds() {
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < tamis_kinds(); ++i) ids.emplace_back(tamis_kind(i));
  return ids;
}

}  // namespace tamis::test
