#pragma once

// The checks of validators by their numbers: a number is the place among all calls of is_wrong() in include/tamis and src, in
// the order of files and lines.

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/support/bytes.hpp"

namespace tamis::test {

struct numbered_check {
  std::string file;  // below the root
  unsigned line = 0;
  unsigned column = 0;    // of the parenthesis
  std::string condition;  // as it is written, on one line
};

// From the sources.
const std::vector<numbered_check>& numbered_checks();

// What happens to a file while checks refuse, all or all but one.
struct checked_load {
  bool is_refused = false;
  std::string message;
  std::set<std::size_t> asked;            // checks that were made
  std::optional<std::size_t> refused_by;  // the first that refused; nothing: a check without a number did
};
checked_load load_checked(const std::string& kind, const byte_vector& bytes, std::optional<std::size_t> off = std::nullopt);

// The same in a process of its own: without a check a load may end badly.
enum class load_end { refused, accepted, crashed };
load_end end_of_load(const std::string& kind, const byte_vector& bytes, std::optional<std::size_t> off);

}  // namespace tamis::test
