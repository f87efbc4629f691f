#pragma once

// Help that fits 80 columns and names an option's value, not its C++ type.

#include <CLI/CLI.hpp>

#include "terminal.hpp"

namespace tamis::cli {

class help_format final : public CLI::Formatter {
 public:
  help_format() { column_width(names); }

  std::string make_option_desc(const CLI::Option* option) const override {
    return wrapped(option->get_description(), 80 - names, 0);
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string value = option->get_type_name();
    return option->get_items_expected_max() == 0 || option->get_positional() || value.empty() ? "" : " " + value;
  }
  std::string make_usage(const CLI::App* command, std::string name) const override {
    return "\n" + CLI::Formatter::make_usage(command, std::move(name));
  }

 private:
  static constexpr unsigned names = 26;
};

}  // namespace tamis::cli
