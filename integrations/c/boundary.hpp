#pragma once

// The border between C and C++: no exception crosses it, and every failure becomes a code and a text in the caller's memory.

#include <cstring>
#include <exception>
#include <new>
#include <string_view>
#include <utility>

#include "tamis/result.hpp"
#include "tamis/tamis.h"

namespace tamis::c {

int code_of(error_code code) noexcept;

// Writes the failure, cut at a character, and answers its code.
int report(tamis_error* error, int code, std::string_view message) noexcept;
inline int report(tamis_error* error, const failure& f) noexcept { return report(error, code_of(f.code), f.message); }

// Thrown by remotes and sinks whose callback failed.
class callback_failed final : public std::exception {
 public:
  explicit callback_failed(const char* what) noexcept : what_(what) {}
  const char* what() const noexcept override { return what_; }

 private:
  const char* what_;
};

// The code of the exception in flight.  Requires: called from a catch block.
int report_current(tamis_error* error) noexcept;

// Runs `body`, which answers a number or a status, result or failure. Ensures: noexcept.
template <class Answer = int, class Body>
Answer guarded(tamis_error* error, Body&& body) noexcept {
  try {
    result<Answer> answer = std::forward<Body>(body)();
    if (answer) return *answer;
    return report(error, std::move(answer).take_failure());
  } catch (...) {
    return report_current(error);
  }
}

// An argument that must not be NULL.
inline status given(const void* argument, const char* name) {
  if (argument != nullptr) return {};
  return failure{std::string(name) + ": is NULL"};
}

// Something that a handle is made of goes to *out. An exception leaves *out NULL.
template <class Handle, class Make>
int make_handle(Handle** out, tamis_error* error, Make&& make) noexcept {
  if (out == nullptr) return report(error, TAMIS_INVALID, "out: is NULL");
  *out = nullptr;
  return guarded(error, [&]() -> result<int> {
    TAMIS_TRY(auto made, make());
    *out = new Handle(std::move(made));
    return TAMIS_OK;
  });
}

// Hands a text to a sink.
status sent(std::string_view text, tamis_sink sink, void* context);

}  // namespace tamis::c
