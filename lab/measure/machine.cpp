#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>

#include "lab/measure.hpp"

namespace tamis::lab {
namespace {

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

std::uint64_t cache_bytes([[maybe_unused]] int level) {
#ifdef _SC_LEVEL2_CACHE_SIZE
  const long bytes = sysconf(level == 2 ? _SC_LEVEL2_CACHE_SIZE : _SC_LEVEL3_CACHE_SIZE);
  if (bytes > 0) return static_cast<std::uint64_t>(bytes);
#endif
  return 0;
}

}  // namespace

machine_info this_machine() { return {cpu_name(), std::thread::hardware_concurrency(), cache_bytes(2), cache_bytes(3)}; }

}  // namespace tamis::lab
