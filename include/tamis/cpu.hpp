#pragma once

// Which instructions the compiled library may use. Headers that a user compiles follow the user's flags; what the library
// compiled ahead (the registry's filters) exists once per level, and the best level that this machine has is chosen at run
// time.

#include <optional>
#include <string_view>
#include <vector>

#include "tamis/result.hpp"

namespace tamis {

// avx2 means AVX2, BMI1, BMI2 and POPCNT; avx512 these and AVX-512 F, BW, DQ, VL, VBMI and BITALG, as Ice Lake, Zen 4 and what
// came after them have.
enum class cpu_level { portable, avx2, avx512 };

// "portable", "avx2", "avx512", and back; nothing for any other name.
std::string_view to_string(cpu_level level);
std::optional<cpu_level> parse_cpu_level(std::string_view name);

// What this build was compiled for and this machine can run, worst first. Never empty.
std::vector<cpu_level> available_cpu_levels();

// The best available level, unless the environment variable TAMIS_CPU names another available one. A name that is unknown or
// unavailable is an error, for programs that want to say so.
result<cpu_level> chosen_cpu_level();

// The level in use: the chosen one, or the best available one if TAMIS_CPU asks in vain. No environment makes the library fail.
cpu_level used_cpu_level();

}  // namespace tamis
