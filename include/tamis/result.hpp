#pragma once

// Errors as values. What comes from outside (files, arguments, stored bytes) is answered with a `result` whose message names
// the thing and the reason; our own mistakes assert; memory failure throws before any state has changed.

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

namespace tamis {

struct failure {
  std::string message;
};

// A value or an error.
template <class T>
class [[nodiscard]] result {
 public:
  using value_type = T;

  result(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT(google-explicit-constructor)
  result(failure e) : state_(std::in_place_index<1>, std::move(e)) {}    // NOLINT(google-explicit-constructor)

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // Requires: ok().
  T& operator*() & { return *std::get_if<0>(&state_); }
  const T& operator*() const& { return *std::get_if<0>(&state_); }
  T&& operator*() && { return std::move(*std::get_if<0>(&state_)); }
  T* operator->() { return std::get_if<0>(&state_); }
  const T* operator->() const { return std::get_if<0>(&state_); }

  // The value; throws std::runtime_error with the message if there is none.
  T& value() & { return check(), **this; }
  const T& value() const& { return check(), **this; }
  T&& value() && { return check(), *std::move(*this); }

  // Requires: !ok().
  const std::string& message() const { return std::get_if<1>(&state_)->message; }
  failure take_failure() && { return std::move(*std::get_if<1>(&state_)); }

 private:
  void check() const {
    if (!ok()) throw std::runtime_error(message());
  }

  std::variant<T, failure> state_;
};

// Success or an error.
class [[nodiscard]] status {
 public:
  status() = default;
  status(failure e) : error_(std::move(e)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }

  // Requires: !ok().
  const std::string& message() const { return error_->message; }
  failure take_failure() && { return std::move(*error_); }

  // Throws std::runtime_error with the message if this is an error.
  void value() const {
    if (!ok()) throw std::runtime_error(message());
  }

 private:
  std::optional<failure> error_;
};

}  // namespace tamis

#define TAMIS_JOIN_(a, b) a##b
#define TAMIS_JOIN(a, b) TAMIS_JOIN_(a, b)

// TAMIS_TRY(auto x, expression): x becomes the value, or the function returns the error.
#define TAMIS_TRY(declaration, ...)                                    \
  auto TAMIS_JOIN(tamis_try_, __LINE__) = (__VA_ARGS__);               \
  if (!TAMIS_JOIN(tamis_try_, __LINE__)) {                             \
    return std::move(TAMIS_JOIN(tamis_try_, __LINE__)).take_failure(); \
  }                                                                    \
  declaration = *std::move(TAMIS_JOIN(tamis_try_, __LINE__))

// TAMIS_CHECK(expression): goes on if the status is fine, or the function returns its error.
#define TAMIS_CHECK(...)                                                                                 \
  do {                                                                                                   \
    if (auto tamis_check_ = (__VA_ARGS__); !tamis_check_) return std::move(tamis_check_).take_failure(); \
  } while (false)
