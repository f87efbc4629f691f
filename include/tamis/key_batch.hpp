#pragma once

// Many keys, in the form in which their owner has them: what batches of an any_filter take. Refers to the keys, owns nothing.
//
//   filter.insert_many(std::vector<std::uint64_t>{1, 2, 3});                    // integers of any width
//   filter.may_contain_many(names, answers);                                    // std::string, std::string_view, …
//   filter.may_contain_many(digests, answers);                                  // hashed before
//   tamis::key_batch::of_width(bytes, 16)                                       // so many bytes each, one behind the other
//   tamis::key_batch::from_offsets(offsets, bytes)                              // as Apache Arrow has its strings
//
// Keys become digests on the way, a few dozen at a time (batch.hpp), so that nobody has to hash them beforehand.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <string>
#include <string_view>

#include "tamis/digest.hpp"
#include "tamis/hasher.hpp"
#include "tamis/result.hpp"

namespace tamis {

namespace detail {

template <class Key>
concept digest_or_key = std::same_as<Key, digest> || hashable_key<Key>;

// A string is one key, not a row of them.
template <class Keys>
concept range_of_keys = std::ranges::contiguous_range<const Keys> && std::ranges::sized_range<const Keys> &&
    digest_or_key<std::ranges::range_value_t<const Keys>> && !std::convertible_to<const Keys&, std::string_view>;

}  // namespace detail

class key_batch {
 public:
  key_batch() = default;

  // Of anything that is a key, or of digests, in a row: vector, array, span.
  template <detail::range_of_keys Keys>
  key_batch(const Keys& keys)  // NOLINT(google-explicit-constructor)
      : key_batch(std::ranges::data(keys), std::ranges::size(keys)) {}

  // The keys of a hash of the caller's own, which must outlive the batch: digest operator()(const Key&) const.
  template <class Key, class Hash>
  static key_batch hashed_by(const Hash& own, std::span<const Key> keys) {
    key_batch made(keys.data(), keys.size(), sizeof(Key), &hash_by<Key, Hash>);
    made.context_ = &own;
    return made;
  }

  // Keys of `width` bytes each. An error if the width is 0 or the bytes are no multiple of it.
  static result<key_batch> of_width(std::span<const std::byte> bytes, std::size_t width);

  // Key i is what stands from offsets[i] to offsets[i + 1]; there is one offset more than keys, or none at all. An error if the
  // offsets descend or leave the bytes: they may come from strangers. Offset: std::int32_t, std::int64_t or their unsigned
  // ones.
  template <std::integral Offset>
  static result<key_batch> from_offsets(std::span<const Offset> offsets, std::span<const std::byte> bytes);

  // How many keys there are.
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // `count` keys from `first` on.  Requires: first + count <= size().
  key_batch part(std::size_t first, std::size_t count) const {
    key_batch some = *this;
    some.data_ = static_cast<const std::byte*>(data_) + first * stride_;
    some.size_ = count;
    return some;
  }

  // The digests of as many keys as `out` is long, from `first` on. Throws what hashing a key of the caller's own type throws.
  // Requires: first + out.size() <= size().
  void hash(const hasher& with, std::size_t first, std::span<digest> out) const { hash_(*this, with, first, out); }
  digest hash_one(const hasher& with, std::size_t i) const {
    digest d;
    hash(with, i, std::span(&d, 1));
    return d;
  }

  // What needs no call to become digests: digests, and 64-bit integers.
  bool are_digests() const { return form_ == form::digests; }
  bool are_words() const { return form_ == form::words; }
  std::span<const digest> digests() const { return {static_cast<const digest*>(data_), size_}; }  // Requires: they are
  std::span<const std::uint64_t> words() const {
    return {static_cast<const std::uint64_t*>(data_), size_};
  }  // Requires: they are

 private:
  enum class form : std::uint8_t { digests, words, others };
  using hash_function = void (*)(const key_batch&, const hasher&, std::size_t first, std::span<digest> out);

  key_batch(const void* data, std::size_t size, std::size_t stride, hash_function function)
      : data_(data), size_(size), stride_(stride), hash_(function) {}
  template <class Key>
  key_batch(const Key* keys, std::size_t size) : key_batch(keys, size, sizeof(Key), &hash_each<Key>) {
    if constexpr (std::same_as<Key, digest>) {
      form_ = form::digests;
    } else if constexpr (std::same_as<Key, std::uint64_t> || std::same_as<Key, std::int64_t>) {
      form_ = form::words;  // signed and unsigned may be read as each other
    }
  }

  template <class Key>
  static void hash_each(const key_batch& keys, const hasher& with, std::size_t first, std::span<digest> out) {
    const Key* const from = static_cast<const Key*>(keys.data_) + first;
    if constexpr (std::same_as<Key, digest>) {
      std::copy_n(from, out.size(), out.begin());
    } else {
      if constexpr (std::same_as<Key, std::string> || std::same_as<Key, std::string_view>) {
        // Characters lie anywhere: those of the next group are on their way while this one is hashed.
        const std::size_t next = std::min(out.size(), keys.size_ - first - out.size());
        for (std::size_t i = 0; i < next; ++i) detail::prefetch_read(from[out.size() + i].data());
      }
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = with(from[i]);
    }
  }
  template <class Key, class Hash>
  static void hash_by(const key_batch& keys, const hasher&, std::size_t first, std::span<digest> out) {
    const Key* const from = static_cast<const Key*>(keys.data_) + first;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = (*static_cast<const Hash*>(keys.context_))(from[i]);
  }
  static void hash_fixed(const key_batch& keys, const hasher& with, std::size_t first, std::span<digest> out);
  template <class Offset>
  static void hash_between(const key_batch& keys, const hasher& with, std::size_t first, std::span<digest> out);

  const void* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t stride_ = 0;  // bytes from one key's entry in data_ to the next one's
  hash_function hash_ = &hash_each<digest>;
  const void* context_ = nullptr;  // the bytes that offsets point into, or the caller's hash
  form form_ = form::others;
};

}  // namespace tamis
