#include "tamis/cpu.hpp"

#include <cstdlib>
#include <string>

namespace tamis {

std::string_view to_string(cpu_level level) {
  switch (level) {
    case cpu_level::portable: return "portable";
    case cpu_level::avx2: return "avx2";
    case cpu_level::avx512: return "avx512";
  }
  return "unknown";
}

std::optional<cpu_level> parse_cpu_level(std::string_view name) {
  for (const cpu_level level : {cpu_level::portable, cpu_level::avx2, cpu_level::avx512}) {
    if (name == to_string(level)) return level;
  }
  return std::nullopt;
}

std::vector<cpu_level> available_cpu_levels() {
  std::vector<cpu_level> levels = {cpu_level::portable};
#if TAMIS_BUILT_LEVELS
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2") ||
      !__builtin_cpu_supports("popcnt")) {
    return levels;
  }
  levels.push_back(cpu_level::avx2);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512bitalg")) {
    levels.push_back(cpu_level::avx512);
  }
#endif
  return levels;
}

result<cpu_level> chosen_cpu_level() {
  const std::vector<cpu_level> available = available_cpu_levels();
  const char* forced = std::getenv("TAMIS_CPU");
  if (forced == nullptr || *forced == '\0') return available.back();
  std::string names;
  for (const cpu_level level : available) {
    if (forced == to_string(level)) return level;
    names += (names.empty() ? "" : ", ") + std::string(to_string(level));
  }
  return failure{"TAMIS_CPU: level '" + std::string(forced) + "' is not available here (available: " + names + ")",
                 error_code::unsupported};
}

cpu_level used_cpu_level() {
  const result<cpu_level> chosen = chosen_cpu_level();
  return chosen ? *chosen : available_cpu_levels().back();
}

}  // namespace tamis
