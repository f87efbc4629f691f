#pragma once

// Keys of a program's own types. A function beside the type, found by its argument, lists what makes two keys equal:
//
//   struct flow {
//     std::uint32_t from, to;
//     std::string protocol;
//   };
//   void tamis_key_parts(tamis::key_parts& parts, const flow& f) { parts(f.from, f.to, f.protocol); }
//
// From then on a flow is a key wherever an integer or a string is one. Parts are integers, enumerations, bool, char, strings,
// bytes, and other types with such a function. Two lists of the same kinds of parts give the same bytes only if all parts are
// equal: an integer is eight bytes (little-endian), a string its length and its characters. A type whose lists differ in their
// kinds (a variant) first lists which one it is. These bytes are hashed, so the order of the parts and their kinds belong to
// what a saved filter means. A floating-point number is no part: 0.0 and -0.0 are equal and have different bytes.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tamis {

class key_parts {
 public:
  key_parts() = default;
  key_parts(const key_parts&) = delete;
  key_parts& operator=(const key_parts&) = delete;

  // One part after the other. May throw std::bad_alloc: short keys need no memory, long ones do.
  template <class... Parts>
  void operator()(const Parts&... parts) {
    (add(parts), ...);
  }

  // What was listed so far.
  std::span<const std::byte> bytes() const { return long_.empty() ? std::span(short_).first(size_) : std::span(long_); }

 private:
  template <class Part>
  void add(const Part& part) {
    if constexpr (std::same_as<Part, char>) {
      add_word(static_cast<unsigned char>(part));  // char is signed on some machines only
    } else if constexpr (std::integral<Part> || std::is_enum_v<Part>) {
      static_assert(sizeof(Part) <= sizeof(std::uint64_t));
      add_word(static_cast<std::uint64_t>(part));
    } else if constexpr (std::convertible_to<const Part&, std::string_view>) {
      const std::string_view text = part;
      add_sized(std::as_bytes(std::span(text.data(), text.size())));
    } else if constexpr (std::convertible_to<const Part&, std::span<const std::byte>>) {
      add_sized(std::span<const std::byte>(part));
    } else {
      tamis_key_parts(*this, part);
    }
  }
  void add_word(std::uint64_t word) { append(std::as_bytes(std::span(&word, 1))); }
  void add_sized(std::span<const std::byte> bytes) {
    add_word(bytes.size());
    append(bytes);
  }
  void append(std::span<const std::byte> bytes) {
    if (long_.empty() && bytes.size() <= short_.size() - size_) {
      if (!bytes.empty()) std::memcpy(short_.data() + size_, bytes.data(), bytes.size());
      size_ += bytes.size();
      return;
    }
    if (long_.empty()) long_.assign(short_.begin(), short_.begin() + static_cast<std::ptrdiff_t>(size_));
    long_.insert(long_.end(), bytes.begin(), bytes.end());
  }

  std::array<std::byte, 256> short_;
  std::size_t size_ = 0;  // of short_, while long_ is empty
  std::vector<std::byte> long_;
};

// A type whose parts are known.
template <class T>
concept composed_key = requires(key_parts& parts, const T& key) {
  tamis_key_parts(parts, key);
};

}  // namespace tamis
