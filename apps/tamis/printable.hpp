#pragma once

#include <string>
#include <string_view>

#include "terminal.hpp"

namespace tamis::cli {

// Text that came from outside, such as a file's name, as it may be shown: what a terminal would obey, or a reader not see, is
// written as \n, \x1b or \u202e, and so are bytes that are no characters. With `utf8` false, only ASCII is shown as it is.
std::string printable(std::string_view text, bool utf8 = unicode());

}  // namespace tamis::cli
