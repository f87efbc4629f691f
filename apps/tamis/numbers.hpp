#pragma once

// Numbers as people write and read them.

#include <cstdint>
#include <string>

namespace tamis::cli {

inline constexpr const char* count_help = "Numbers may be written 1000000, 1e6, 1000k or 1M (k, M, G, T: powers of 1000).";

// A whole number from `least` to `most`; fails with the flag, the text and the range.
std::uint64_t parse_count(const std::string& flag, const std::string& text, std::uint64_t least, std::uint64_t most);
// Above `above` and below `below`, or `below` itself if it is included.
double parse_real(const std::string& flag, const std::string& text, double above, double below, bool included = false);

// A share from 0 to 1.
double parse_share(const std::string& flag, const std::string& text);

std::string grouped(std::uint64_t number);                           // 1,234,567
std::string percent(double share);                                   // 1.02 %, and 3.1e-09 where per cent would be 0.00 %
std::string about(double number);                                    // 1,234,567, 3.2, 0.0011: an expected number
std::string counted(std::uint64_t number, const std::string& noun);  // 1 key, 2 keys

}  // namespace tamis::cli
