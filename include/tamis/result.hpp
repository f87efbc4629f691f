#pragma once

// Errors as values. What comes from outside (files, arguments, stored bytes) is answered with a `result` whose message names
// the thing and the reason, for people, and whose code tells programs what kind of reason it is. Our own mistakes assert;
// memory failure throws before any state has changed.

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace tamis {

enum class error_code : std::uint8_t {
  invalid_argument,  // what was given is not acceptable: unknown option, malformed value, values that exclude each other
  out_of_range,      // a number outside what is allowed, or a size or rate that no filter of this kind can have
  not_found,         // no such file or filter id
  damaged,           // stored bytes that are not what was stored: cut off, flipped, or never a filter
  newer_version,     // stored by a newer tamis, or in a version that this one does not read
  wrong_hash,        // filled through another hash or seed, or the secret is missing
  mismatch,          // two filters that do not belong together
  unsupported,       // this filter, store or machine cannot do that
  full,              // no room
  io,                // the system refused to read or write
  no_memory,         // a table larger than the machine's memory
  in_use,            // somebody else has it open, or it must be closed first
};

// "invalid argument", "out of range", …
std::string_view to_string(error_code code);

// What went wrong.
struct failure {
  std::string message;
  error_code code = error_code::invalid_argument;
};

// What value() throws.
class result_error : public std::runtime_error {
 public:
  // what() is the failure's message.
  explicit result_error(const failure& f) : std::runtime_error(f.message), code_(f.code) {}
  // The failure's code.
  error_code code() const noexcept { return code_; }

 private:
  error_code code_;
};

// A value or a failure.
template <class T>
class [[nodiscard]] result {
 public:
  using value_type = T;

  // A value, or a failure, is one without further words: `return 5;`, `return failure{"no"};`.
  result(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT(google-explicit-constructor)
  result(failure f) : state_(std::in_place_index<1>, std::move(f)) {}    // NOLINT(google-explicit-constructor)

  // Is it a value?
  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // Requires: ok().
  T& operator*() & { return *std::get_if<0>(&state_); }
  const T& operator*() const& { return *std::get_if<0>(&state_); }
  T&& operator*() && { return std::move(*std::get_if<0>(&state_)); }
  T* operator->() { return std::get_if<0>(&state_); }
  const T* operator->() const { return std::get_if<0>(&state_); }

  // The value; throws result_error if there is none.
  T& value() & { return check(), **this; }
  const T& value() const& { return check(), **this; }
  T&& value() && { return check(), *std::move(*this); }

  // Requires: !ok().
  const std::string& message() const { return std::get_if<1>(&state_)->message; }
  error_code code() const { return std::get_if<1>(&state_)->code; }
  failure take_failure() && { return std::move(*std::get_if<1>(&state_)); }

 private:
  void check() const {
    if (!ok()) throw result_error(*std::get_if<1>(&state_));
  }

  std::variant<T, failure> state_;
};

// Success or a failure.
class [[nodiscard]] status {
 public:
  status() = default;
  // A failure is one without further words: `return failure{"no"};`. Without arguments it is a success.
  status(failure f) : failure_(std::move(f)) {}  // NOLINT(google-explicit-constructor)

  // Is it a success?
  bool ok() const { return !failure_; }
  explicit operator bool() const { return ok(); }

  // Requires: !ok().
  const std::string& message() const { return failure_->message; }
  error_code code() const { return failure_->code; }
  failure take_failure() && { return std::move(*failure_); }

  // Throws result_error if this is a failure.
  void value() const {
    if (!ok()) throw result_error(*failure_);
  }

 private:
  std::optional<failure> failure_;
};

}  // namespace tamis

namespace tamis::detail {

// The failure of a status or result, with what it is about in front of its message.  Requires: !answer.ok().
template <class Answer>
failure prefixed(const std::string& prefix, const Answer& answer) {
  return {prefix + answer.message(), answer.code()};
}

}  // namespace tamis::detail

#define TAMIS_JOIN_(a, b) a##b
#define TAMIS_JOIN(a, b) TAMIS_JOIN_(a, b)

// TAMIS_TRY(auto x, expression): x becomes the value, or the function returns the failure.
#define TAMIS_TRY(declaration, ...)                                    \
  auto TAMIS_JOIN(tamis_try_, __LINE__) = (__VA_ARGS__);               \
  if (!TAMIS_JOIN(tamis_try_, __LINE__)) {                             \
    return std::move(TAMIS_JOIN(tamis_try_, __LINE__)).take_failure(); \
  }                                                                    \
  declaration = *std::move(TAMIS_JOIN(tamis_try_, __LINE__))

// TAMIS_CHECK(expression): goes on if the status is fine, or the function returns its failure.
#define TAMIS_CHECK(...)                                                                                 \
  do {                                                                                                   \
    if (auto tamis_check_ = (__VA_ARGS__); !tamis_check_) return std::move(tamis_check_).take_failure(); \
  } while (false)
