#pragma once

// Saving and loading through one list of fields per type:
//
//   template <class Self, class Archive>
//   static void visit(Self& self, Archive& archive) { archive(self.keys_, self.table_); }
//   status validate() const;   // optional: do the loaded fields agree with each other?
//
// `writer` and `reader` are the two archives. Numbers are little-endian and fixed in width, arrays are a 64-bit length and
// their elements. The elements of a large table stand in whole cache lines, so that a mapped file can be used as it is: zeros
// before and behind them. Both archives stop at the first error and keep it; a reader compares every length with the bytes that
// are left before it takes memory, and calls `validate` on each type it has read.

#include <bit>
#include <concepts>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "tamis/detail/base/zeroed_array.hpp"
#include "tamis/result.hpp"
#include "tamis/stream.hpp"

namespace tamis::detail {

static_assert(std::endian::native == std::endian::little,
              "saved filters are little-endian and this machine is not: add byte swaps");

template <class T>
concept stored_scalar = (std::integral<T> || std::floating_point<T> || std::is_enum_v<T>)&&!std::same_as<T, bool>;

template <class T, class Archive>
concept visitable = requires(T& value, Archive& archive) {
  std::remove_cv_t<T>::visit(value, archive);
};

template <class T>
concept self_checking = requires(const T& value) {
  { value.validate() } -> std::same_as<status>;
};

// Has a type a cheaper check, which does not read its tables?
template <class T>
concept checks_fields = requires(const T& value) {
  { value.validate_fields() } -> std::same_as<status>;
};

// Does a type say that all its operations stay inside its tables and end, whatever bytes the tables have?
template <class T>
concept accepts_any_table = requires {
  requires T::accepts_any_table;
};

// Makes the empty object that a reader fills. Types whose empty state is of no use to anybody keep their default constructor
// private and befriend this.
struct stored_access {
  template <class T>
  static T blank() {
    return T();
  }
};

// Tables from this size on begin and end at a multiple of a cache line, counted from the beginning of the archive.
inline constexpr std::uint64_t aligned_table_bytes = 4096;

// From a position in the archive up to the next cache line.
constexpr std::uint64_t bytes_to_line(std::uint64_t position) { return (0 - position) % cache_line_bytes; }

class writer {
 public:
  explicit writer(byte_sink& sink) : sink_(sink) {}

  template <class... Fields>
  void operator()(const Fields&... fields) {
    (put(fields), ...);
  }

  void bytes(std::span<const std::byte> bytes);
  // The first error, if there was one.
  status finish();

 private:
  template <class T>
  void put(const T& value) {
    if constexpr (std::same_as<T, bool>) {
      put(static_cast<std::uint8_t>(value));
    } else if constexpr (stored_scalar<T>) {
      bytes(std::as_bytes(std::span(&value, 1)));
    } else {
      static_assert(visitable<const T, writer>, "a stored type needs a visit function");
      T::visit(value, *this);
    }
  }
  template <stored_scalar T>
  void put(const zeroed_array<T>& array) {
    put(array.size());
    const bool aligned = array.bytes() >= aligned_table_bytes;
    if (aligned) align();
    bytes(std::as_bytes(array.span()));
    if (aligned) align();
  }
  template <class T, class Allocator>
  void put(const std::vector<T, Allocator>& values) {
    put(std::uint64_t{values.size()});
    for (const T& value : values) put(value);
  }
  void put(const std::string& text) {
    put(std::uint64_t{text.size()});
    bytes(std::as_bytes(std::span(text)));
  }
  void align();  // zeros up to the next line

  byte_sink& sink_;
  std::uint64_t position_ = 0;
  std::vector<std::byte> buffer_;
  status status_;
};

// A source whose tables can be used where they are.
class table_lender : public byte_source {
 public:
  // The next bytes as the memory of a table. `any_content`: whoever uses it can bear any bytes, so that they need no check.
  // Requires: they begin at a multiple of a cache line.
  virtual result<table_memory> lend(std::uint64_t bytes, bool any_content) = 0;
};
// Smaller tables are read.
inline constexpr std::uint64_t least_lent_bytes = std::uint64_t{1} << 16;

class reader {
 public:
  explicit reader(byte_source& source) : source_(source), remaining_(source.remaining()) {}
  explicit reader(table_lender& source) : source_(source), lender_(&source), remaining_(source.remaining()) {}

  // What is read from here on stays inside its tables and ends whatever bytes they have: the tables of a lender are used
  // unread, and types that have a `validate_fields` are asked that instead of `validate`.
  void accept_any_table(bool accept = true) { any_table_ = accept && lender_ != nullptr; }

  template <class... Fields>
  void operator()(Fields&... fields) {
    (get(fields), ...);
  }

  void bytes(std::span<std::byte> bytes);
  std::uint64_t remaining() const { return remaining_; }

  bool ok() const { return status_.ok(); }
  // The first error wins.
  void fail(std::string message, error_code code = error_code::damaged);
  const status& state() const { return status_; }

 private:
  template <class T>
  void get(T& value) {
    if constexpr (std::same_as<T, bool>) {
      std::uint8_t byte = 0;
      get(byte);
      if (byte > 1) fail("a truth value is neither 0 nor 1");
      value = byte == 1;
    } else if constexpr (stored_scalar<T>) {
      bytes(std::as_writable_bytes(std::span(&value, 1)));
    } else {
      static_assert(visitable<T, reader>, "a stored type needs a visit function");
      T::visit(value, *this);
      if constexpr (checks_fields<T>) {
        if (ok() && any_table_) return check(value.validate_fields());
      }
      if constexpr (self_checking<T>) {
        if (ok()) check(value.validate());
      }
    }
  }
  template <stored_scalar T>
  void get(zeroed_array<T>& array) {
    const std::uint64_t size = length(sizeof(T));
    if (!ok()) return;
    const std::uint64_t table_bytes = size * sizeof(T);  // not more than are left
    if (table_bytes >= aligned_table_bytes) align();
    if (lender_ != nullptr && table_bytes >= least_lent_bytes) {
      borrow(array, size);
    } else {
      fill(array, size);
    }
    if (table_bytes >= aligned_table_bytes) align();
  }
  template <class T>
  void fill(zeroed_array<T>& array, std::uint64_t size) {
    auto made = zeroed_array<T>::make(size);
    if (!made) return fail(made.message(), made.code());
    array = *std::move(made);
    bytes(std::as_writable_bytes(array.span()));
  }
  template <class T>
  void borrow(zeroed_array<T>& array, std::uint64_t size) {
    if (!ok()) return;
    if (size * sizeof(T) > remaining_) return fail("it ends too early");
    auto lent = lender_->lend(size * sizeof(T), any_table_);
    if (!lent) return fail(lent.message(), lent.code());
    array = zeroed_array<T>::adopt(*lent, size);
    position_ += array.bytes();
    remaining_ -= array.bytes();
  }
  template <class T, class Allocator>
  void get(std::vector<T, Allocator>& values) {
    values.clear();
    for (std::uint64_t left = length(1); left != 0 && ok(); --left) {  // every element takes at least a byte
      values.push_back(stored_access::blank<T>());
      get(values.back());
    }
  }
  void get(std::string& text) {
    const std::uint64_t size = length(1);
    if (!ok()) return;
    text.resize(size);
    bytes(std::as_writable_bytes(std::span(text)));
  }
  // Fields that do not agree were not stored like that, unless `validate` knows better.
  void check(const status& valid) {
    if (valid) return;
    fail(valid.message(), valid.code() == error_code::invalid_argument ? error_code::damaged : valid.code());
  }

  // A stored length of elements of this size, checked against what is left.
  std::uint64_t length(std::uint64_t element_bytes);
  void align();  // what lies before the next line is zero

  byte_source& source_;
  table_lender* lender_ = nullptr;
  bool any_table_ = false;
  std::uint64_t position_ = 0;
  std::uint64_t remaining_;
  status status_;
};

}  // namespace tamis::detail
