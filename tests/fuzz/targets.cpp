#include "tests/fuzz/targets.hpp"

namespace tamis::fuzz {

std::span<const target> targets() {
  static constexpr target all[] = {{"difference", difference, repaired_patch},
                                   {"guard", guard, nullptr},
                                   {"keys", keys, nullptr},
                                   {"load", load, repaired_file},
                                   {"mapped", mapped, nullptr},
                                   {"operations", operations, nullptr},
                                   {"redis", redis_value, repaired_value}};
  return all;
}

}  // namespace tamis::fuzz
