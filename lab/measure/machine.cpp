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

// "512K" in the system's description of the first processor's caches; 0 if it does not say.
std::uint64_t cache_bytes(int level) {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(level) + "/size");
  std::uint64_t size = 0;
  char unit = ' ';
  file >> size >> unit;
  return unit == 'K' ? size << 10 : unit == 'M' ? size << 20 : size;
}

}  // namespace

machine_info this_machine() { return {cpu_name(), std::thread::hardware_concurrency(), cache_bytes(2), cache_bytes(3)}; }

}  // namespace tamis::lab
