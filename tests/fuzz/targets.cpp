#include "tests/fuzz/targets.hpp"

namespace tamis::fuzz {

std::span<const target> targets() {
  static constexpr target all[] = {{"guard", guard, nullptr},
                                   {"keys", keys, nullptr},
                                   {"load", load, repaired_file},
                                   {"operations", operations, nullptr},
                                   {"redis", redis_value, repaired_value}};
  return all;
}

}  // namespace tamis::fuzz
