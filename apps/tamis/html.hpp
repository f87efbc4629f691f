#pragma once

// What the tool's pages share. A page is one file that opens offline: its styles and charts are inside, nothing is loaded.

#include <string>
#include <string_view>

namespace tamis::cli {

// For text and for attributes.
std::string escaped(std::string_view text);

// The page up to the end of its <h1>: light and dark as the reader's screen, tables and figures, and `more_style` after that.
std::string page_start(std::string_view title, std::string_view heading, std::string_view more_style);
inline constexpr std::string_view page_end = "</body></html>\n";

}  // namespace tamis::cli
