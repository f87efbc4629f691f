#pragma once

// Just enough JSON for the texts that C callers get.

#include <cstdio>
#include <string>
#include <string_view>

namespace tamis::c {

inline std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\', out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      out += escape;
    } else {
      out += c;
    }
  }
  return out + '"';
}

// Appends an element to a list that begins with one character, with a comma before all but the first.
inline void append_element(std::string& list, std::string_view element) {
  if (list.size() > 1) list += ',';
  list += element;
}

// {"name":value,…}, built field by field.
class json_object {
 public:
  json_object& raw(std::string_view name, std::string_view value) {
    append_element(text_, quoted(name));
    text_ += ':';
    text_ += value;
    return *this;
  }
  json_object& text(std::string_view name, std::string_view value) { return raw(name, quoted(value)); }
  json_object& number(std::string_view name, std::uint64_t value) { return raw(name, std::to_string(value)); }
  json_object& flag(std::string_view name, bool value) { return raw(name, value ? "true" : "false"); }
  std::string str() const { return text_ + "}"; }

 private:
  std::string text_ = "{";
};

}  // namespace tamis::c
