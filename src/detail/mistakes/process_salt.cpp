#include "tamis/detail/mistakes/process_salt.hpp"

#include <chrono>
#include <exception>
#include <random>

#include "tamis/detail/base/random.hpp"

namespace tamis::detail {
namespace {

digest draw() {
  try {
    std::random_device device;
    const auto word = [&device] { return static_cast<std::uint64_t>(device()) << 32 | device(); };
    const std::uint64_t high = word();
    return {high, word()};
  } catch (const std::exception&) {
    // A machine without a source of random numbers has a clock and a place where this function stands.
    random_source source(static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()) ^
                         reinterpret_cast<std::uintptr_t>(&draw));
    const std::uint64_t high = source();
    return {high, source()};
  }
}

}  // namespace

digest process_salt() {
  static const digest salt = draw();
  return salt;
}

}  // namespace tamis::detail
