#pragma once

// What the two output streams are connected to.

#include <cstddef>
#include <string>
#include <string_view>

namespace tamis::cli {

bool is_terminal(int descriptor);
unsigned terminal_columns(int descriptor);  // 80 if it is no terminal
// Columns for running text on standard output: readable on wide screens, and never too few to put a word in.
unsigned text_columns();
// Columns that a line on standard output may have: as many as it likes, if that is no terminal.
std::size_t line_columns();
bool colours();  // standard output is a terminal, and NO_COLOR is not set
bool unicode();  // the locale's characters are UTF-8

// The text as it is, or in bold or dim where there are colours.
std::string bold(std::string_view text);
std::string dim(std::string_view text);

// Breaks text between words so that no line is longer than `columns`; lines after the first start with `indent` spaces, which
// count.
std::string wrapped(std::string_view text, unsigned columns, unsigned indent);
// The same for a command line, which stays one: it is broken before flags, behind backslashes.
std::string wrapped_command(std::string_view text, std::size_t columns, unsigned indent);

}  // namespace tamis::cli
