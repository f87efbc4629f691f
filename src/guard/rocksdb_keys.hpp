#pragma once

// How keys look inside RocksDB, whose order is that of bytes: numbers are big-endian, so their order is the same.

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "tamis/guard/store.hpp"

namespace tamis::rocksdb_keys {

inline constexpr std::size_t digest_bytes = 16;
inline constexpr std::size_t record_key_bytes = 12;
inline constexpr std::size_t record_value_bytes = 1 + digest_bytes;

template <class Number>
void append(std::string& text, Number number) {
  for (unsigned shift = 8 * sizeof number; shift != 0;) text.push_back(static_cast<char>(number >> (shift -= 8) & 0xff));
}

template <class Number>
Number number_at(std::string_view text, std::size_t at) {
  Number number = 0;
  for (std::size_t i = 0; i < sizeof number; ++i)
    number = static_cast<Number>(number << 8 | static_cast<unsigned char>(text[at + i]));
  return number;
}

inline std::string of_digest(digest d) {
  std::string text;
  text.reserve(digest_bytes);
  append(text, d.high);
  append(text, d.low);
  return text;
}

inline std::string of_entry(const located_key& at) {
  std::string text;
  text.reserve(digest_bytes + at.key.size());
  append(text, at.hash.high);
  append(text, at.hash.low);
  return text.append(at.key);
}

inline std::optional<digest> digest_at(std::string_view text, std::size_t at) {
  if (text.size() < at + digest_bytes) return std::nullopt;
  return digest{number_at<std::uint64_t>(text, at), number_at<std::uint64_t>(text, at + 8)};
}

// The first key behind all entries with digests up to `last`; none if that is the end of everything.
inline std::optional<std::string> behind(digest last) {
  if (++last.low == 0 && ++last.high == 0) return std::nullopt;
  return of_digest(last);
}

inline std::string of_record(std::uint32_t stripe, std::uint64_t number) {
  std::string text;
  append(text, stripe);
  append(text, number);
  return text;
}

inline std::string record_value(const oplog_record& record) {
  return std::string(1, static_cast<char>(record.what)) + of_digest(record.hash);
}

inline std::optional<oplog_record> record_of(std::string_view key, std::string_view value) {
  if (key.size() != record_key_bytes || value.size() != record_value_bytes) return std::nullopt;
  const auto what = static_cast<oplog_operation>(value[0]);
  if (what != oplog_operation::insert && what != oplog_operation::erase) return std::nullopt;
  return oplog_record{number_at<std::uint32_t>(key, 0), number_at<std::uint64_t>(key, 4), what, *digest_at(value, 1)};
}

}  // namespace tamis::rocksdb_keys
