#pragma once

// How a command gives up: `tamis: THING: REASON` on standard error, exit code 1. What was opened is closed, and unfinished
// files are removed, on the way out.

#include <stdexcept>
#include <string>
#include <utility>

#include "tamis/result.hpp"

namespace tamis::cli {

struct command_failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] inline void fail(const std::string& thing, const std::string& reason) {
  throw command_failure(thing + ": " + reason);
}

// The value, or the library's message, which names the thing already ...
template <class T>
T must(result<T> answer) {
  if (!answer) throw command_failure(answer.message());
  return *std::move(answer);
}
inline void must(const status& answer) {
  if (!answer) throw command_failure(answer.message());
}

// ... or does not yet.
template <class T>
T must(const std::string& thing, result<T> answer) {
  if (!answer) fail(thing, answer.message());
  return *std::move(answer);
}
inline void must(const std::string& thing, const status& answer) {
  if (!answer) fail(thing, answer.message());
}

}  // namespace tamis::cli
