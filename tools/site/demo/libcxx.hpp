#pragma once

// What Emscripten's standard library of Debian 12 (libc++ 14) lacks. Read before every file of the demo.

#include <bit>
#include <charconv>
#include <cstdlib>
#include <string>

namespace std {

#ifndef __cpp_lib_bit_cast
template <class To, class From>
constexpr To bit_cast(const From& from) {
  return __builtin_bit_cast(To, from);
}
#endif

// Of numbers only.
inline from_chars_result from_chars(const char* first, const char* last, double& value, chars_format) {
  const string text(first, last);
  char* end = nullptr;
  const double read = strtod(text.c_str(), &end);
  if (end == text.c_str()) return {first, errc::invalid_argument};
  value = read;
  return {first + (end - text.c_str()), errc()};
}

}  // namespace std
