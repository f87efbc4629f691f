#include "tests/fuzz/targets.hpp"

namespace tamis::fuzz {

std::span<const target> targets() {
  static constexpr target all[] = {
      {"guard", guard, nullptr}, {"keys", keys, nullptr}, {"load", load, repaired_file}, {"operations", operations, nullptr}};
  return all;
}

}  // namespace tamis::fuzz
