// One target as a libFuzzer program; TAMIS_FUZZ_TARGET is its name.

#include <cstdint>
#include <cstring>

#include "tests/fuzz/targets.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

const tamis::fuzz::target& chosen() {
  static const tamis::fuzz::target& found = [&]() -> const tamis::fuzz::target& {
    for (const tamis::fuzz::target& t : tamis::fuzz::targets()) {
      if (t.name == TAMIS_FUZZ_TARGET) return t;
    }
    __builtin_trap();
  }();
  return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  chosen().run(std::as_bytes(std::span(data, size)));
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned) {
  size = LLVMFuzzerMutate(data, size, most);
  if (chosen().repaired == nullptr) return size;
  const auto mended = chosen().repaired(std::as_bytes(std::span(data, size)));
  if (mended.empty() || mended.size() > most) return size;
  std::memcpy(data, mended.data(), mended.size());
  return mended.size();
}
