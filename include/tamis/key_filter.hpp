#pragma once

// A filter for keys of one type, with its hash: what most programs want.
//
//   using seen_urls = tamis::key_filter<std::string, tamis::bloom1>;
//   auto seen = seen_urls::create({.capacity = 1'000'000, .fpr = 0.01}).value();
//   seen.insert("https://example.org/");
//   seen.may_contain("https://example.org/");                     // true
//
//   Key      an integer, std::string, bytes, or a type of the program's own (key_parts.hpp)
//   Filter   a filter type, whose operations are checked by the compiler: what it cannot do does not exist. Or any_filter,
//            whose kind is chosen at run time: what that cannot do is the answer `unsupported`
//   Hash     tamis::hasher, or a function object of the program's own:
//
//     struct case_blind {
//       tamis::digest operator()(std::string_view key) const { return tamis::hasher()(lower_case(key)); }
//       tamis::hash_identity identity() const { return tamis::custom_hash("case-blind"); }
//     };
//
// Saved filters say which hash filled them, a hash of the program's own by its name; a file of another one is refused. The
// bytes are those that any_filter saves and loads (docs/format.md).
//
// Threads: any number may ask at once, as long as nobody changes it.

#include <cassert>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tamis/any_filter.hpp"
#include "tamis/batch.hpp"
#include "tamis/detail/any/model.hpp"
#include "tamis/detail/any/saved.hpp"

namespace tamis {

// What a hash of a program's own says of itself. Whatever changes its digests (a seed, another method) has to change the name
// or the seed.  Requires: the name has 1 to 64 bytes.
inline hash_identity custom_hash(std::string name, std::uint64_t seed = 0) {
  assert(!name.empty() && name.size() <= 64);
  return {hash_family::custom, seed, 0, std::move(name)};
}

template <class H, class Key>
concept key_hash = std::copyable<H> && requires(const H& hash, const Key& key) {
  { hash(key) } -> std::same_as<digest>;
  { hash.identity() } -> std::same_as<hash_identity>;
};

namespace detail {

struct no_options {};
template <class Filter>
struct options_of {
  using type = no_options;
};
template <class Filter>
requires requires { typename Filter::options; }
struct options_of<Filter> {
  using type = typename Filter::options;
};

}  // namespace detail

template <class Key, class Filter = any_filter, class Hash = hasher>
requires((filter_type<Filter> || std::same_as<Filter, any_filter>)&&key_hash<Hash, Key>) class key_filter {
  static constexpr bool is_any = std::same_as<Filter, any_filter>;
  static constexpr bool is_text = std::same_as<Key, std::string>;
  static constexpr bool own_hash = !std::same_as<Hash, hasher>;
  static constexpr bool never_full = [] {
    if constexpr (is_any)
      return false;
    else
      return Filter::info.never_full;
  }();
  // A string need not be made to be asked for.
  using argument = std::conditional_t<is_text, std::string_view, const Key&>;

 public:
  // Of a filter type; the second one with options that the compiler checks. The error names what is out of range.
  static result<key_filter> create(const filter_params& params, Hash hash = {}) requires(!is_any) {
    TAMIS_TRY(Filter made, Filter::create(params));
    return key_filter(std::move(made), std::move(hash));
  }
  static result<key_filter> create(const filter_params& params, const typename detail::options_of<Filter>::type& options,
                                   Hash hash = {}) requires(!is_any) {
    TAMIS_TRY(Filter made, tamis::create<Filter>(params, options));
    return key_filter(std::move(made), std::move(hash));
  }
  // Of any_filter: by id, as any_filter::create.
  static result<key_filter> create(std::string_view kind, const filter_params& params, Hash hash = {}) requires(is_any) {
    TAMIS_TRY(any_filter made, any_filter::create(kind, params, inner_hash(hash)));
    return key_filter(std::move(made), std::move(hash));
  }
  // Requires: the filter is empty, or was filled through this hash.
  key_filter(Filter filter, Hash hash) : filter_(std::move(filter)), hash_(std::move(hash)) {}

  // No key is in afterwards; kind, options, hash and shape stay. What has grown is as it was at first. The memory of both is
  // needed for a moment; an error, or std::bad_alloc, has changed nothing.
  status clear() requires(is_any || clearable<Filter>) {
    TAMIS_TRY(filter_, filter_.emptied());
    return {};
  }
  void swap(key_filter& other) noexcept { std::swap(*this, other); }
  friend void swap(key_filter& a, key_filter& b) noexcept { a.swap(b); }

  // `inserted`, or `full` with nothing changed. Always physical: a key that is inserted twice is in twice.
  insert_result insert(argument key) requires(never_full) { return filter_.insert(hash_(key)); }
  [[nodiscard]] insert_result insert(argument key) requires(!never_full) { return filter_.insert(hash_(key)); }
  // With a remote at hand, which holds the digests (digest_of) of all keys that are in: a telescoping filter that has adapted
  // may need it to make room. The others have no use for it.
  [[nodiscard]] insert_result insert(argument key, const remote auto& stored) {
    if constexpr (is_any || insertable_with_remote<Filter>) {
      return filter_.insert(hash_(key), remote_ref(stored));
    } else {
      return filter_.insert(hash_(key));
    }
  }
  // Inserts what is not in as far as the filter can tell; `present` otherwise, with nothing changed. Not for filters that erase
  // or adapt: a key that is taken for present shares the entry of another one there, and is lost with it.
  [[nodiscard]] insert_result insert_if_absent(argument key) requires(is_any || accumulating<Filter>) {
    if constexpr (is_any) {
      return filter_.insert_if_absent(hash_(key));
    } else {
      return tamis::insert_if_absent(filter_, hash_(key));
    }
  }
  // Is it in? False is certain, true is "maybe".
  bool may_contain(argument key) const { return filter_.may_contain(hash_(key)); }
  // One copy less; `absent` if it certainly is not in.  Requires: the key is in.
  erase_result erase(argument key) requires(is_any || erasable<Filter>) { return filter_.erase(hash_(key)); }
  erase_result erase(argument key, const remote auto& stored) requires(is_any || erasable<Filter>) {
    if constexpr (is_any || erasable_with_remote<Filter>) {
      return filter_.erase(hash_(key), remote_ref(stored));
    } else {
      return filter_.erase(hash_(key));
    }
  }
  // At least the number of copies that are in; of any_filter a result.
  auto count(argument key) const requires(is_any || counting<Filter>) { return filter_.count(hash_(key)); }
  // After a "maybe" that was wrong. The remote holds the digests (digest_of) of all keys that are in; what is not `fixed` has
  // changed nothing, and no key is lost.
  adapt_result adapt(argument key) requires(is_any || adaptive_alone<Filter>) { return filter_.adapt(hash_(key)); }
  adapt_result adapt(argument key, const remote auto& stored) requires(is_any || adaptive<Filter>) {
    if constexpr (is_any || adaptive_with_remote<Filter>) {
      return filter_.adapt(hash_(key), remote_ref(stored));
    } else {
      return filter_.adapt(hash_(key));
    }
  }
  // After a "maybe" that was right: the entry becomes as good as a new one.  Requires: the key is in.
  // Of any_filter a status.
  auto rejuvenate(argument key) requires(is_any || rejuvenating<Filter>) { return filter_.rejuvenate(hash_(key)); }
  // Makes room before it is needed.
  status expand() requires(is_any || expandable<Filter>) { return filter_.expand(); }
  // Everything in `other` is in this one afterwards. An error, and no change, if hash or shape differ.
  status merge(const key_filter& other) requires(is_any || mergeable<Filter>) {
    TAMIS_CHECK(same_hash_as(other));
    return filter_.merge(other.filter_);
  }
  // The same with a remote that holds the digests of all keys of both.
  status merge(const key_filter& other,
               const remote auto& stored) requires(is_any || mergeable<Filter> || mergeable_with_remote<Filter>) {
    TAMIS_CHECK(same_hash_as(other));
    if constexpr (is_any || mergeable_with_remote<Filter>) {
      return filter_.merge(other.filter_, remote_ref(stored));
    } else {
      return filter_.merge(other.filter_);
    }
  }

  // Batches, in order. Keys are hashed on the way. `out`, where it may be empty, says per key whether it went in or out.
  [[nodiscard]] std::size_t insert_many(std::span<const Key> keys, std::span<bool> out = {}) {
    return insert_batch(batch(keys), out);
  }
  void may_contain_many(std::span<const Key> keys, std::span<bool> out) const {  // Requires: out is as long as keys
    if constexpr (!is_any && !own_hash) {
      tamis::may_contain_many(filter_, hash_, keys, out);
    } else {
      ask_batch(batch(keys), out);
    }
  }
  // How many were there; of any_filter a result.
  auto erase_many(std::span<const Key> keys, std::span<bool> out = {}) requires(is_any || erasable<Filter>) {
    return erase_batch(batch(keys), out);
  }
  // After true positives.  Requires: all of them are in. An error of any_filter that cannot.
  status rejuvenate_many(std::span<const Key> keys) requires(is_any || rejuvenating<Filter>) {
    if constexpr (is_any) {
      return filter_.rejuvenate_many(batch(keys));
    } else {
      tamis::rejuvenate_many(filter_, inner_hash(hash_), batch(keys));
      return {};
    }
  }
  // out[i]: at least the number of copies of keys[i] that are in.  Requires: out is as long as keys.
  status count_many(std::span<const Key> keys, std::span<std::uint64_t> out) const requires(is_any || counting<Filter>) {
    assert(out.size() >= keys.size());
    if constexpr (is_any) {
      return filter_.count_many(batch(keys), out);
    } else {
      for (std::size_t i = 0; i < keys.size(); ++i) out[i] = filter_.count(hash_(keys[i]));
      return {};
    }
  }
  // The same for views of strings.
  [[nodiscard]] std::size_t insert_many(std::span<const std::string_view> keys, std::span<bool> out = {}) requires(is_text) {
    return insert_batch(batch(keys), out);
  }
  void may_contain_many(std::span<const std::string_view> keys, std::span<bool> out) const requires(is_text) {
    ask_batch(batch(keys), out);
  }
  auto erase_many(std::span<const std::string_view> keys,
                  std::span<bool> out = {}) requires(is_text && (is_any || erasable<Filter>)) {
    return erase_batch(batch(keys), out);
  }

  // How many keys are in, each copy counted; Bloom filters count what was inserted.
  std::uint64_t size() const { return filter_.keys(); }
  bool empty() const { return size() == 0; }
  std::uint64_t capacity() const { return filter_.capacity(); }
  double expected_fpr() const { return filter_.expected_fpr(); }
  memory_bits bits() const { return filter_.bits(); }

  // The hash, and what it makes of a key: what a remote has to hold.
  const Hash& hash() const { return hash_; }
  digest digest_of(argument key) const { return hash_(key); }
  // Digests go around the hash: what is done with them there has to come from digest_of.
  const Filter& filter() const requires(!(is_any && own_hash)) { return filter_; }
  Filter& filter() requires(!(is_any && own_hash)) { return filter_; }

  // The same filter with its type erased; takes keys of every type from then on.
  any_filter to_any() && requires(!is_any && !own_hash) {
    return any_filter(detail::make_model<Filter>(std::move(filter_)), hash_);
  }

  // Written whole and synced before it takes the place of an older file.
  status save_file(const std::string& path) const { return detail::save_file(path, saver()); }
  status save(byte_sink& sink) const { return saver()(sink); }
  std::vector<std::byte> save_bytes() const { return detail::save_bytes(saver()); }

  // Loads what a key_filter of the same Filter, or an any_filter of its kind, has saved. Refused, with the reason: other kinds,
  // other hashes, damaged bytes. Without `hash` it is the default one, or for tamis::hasher the stored seed's.
  static result<key_filter> load(byte_source& source, std::optional<Hash> hash = std::nullopt) {
    std::optional<key_filter> made;
    TAMIS_CHECK(detail::read_frame(source, [&](const detail::frame_header& header, detail::reader& in) -> status {
      TAMIS_TRY(Hash found, stored_hash(header.hash, hash));
      TAMIS_TRY(Filter filter, load_filter(header, in, found));
      made.emplace(std::move(filter), std::move(found));
      return {};
    }));
    return *std::move(made);
  }
  static result<key_filter> load_file(const std::string& path, std::optional<Hash> hash = std::nullopt) {
    return detail::load_file_with<key_filter>(path, [&](byte_source& source) { return load(source, std::move(hash)); });
  }
  static result<key_filter> load_bytes(std::span<const std::byte> bytes, std::optional<Hash> hash = std::nullopt) {
    memory_source source(bytes);
    return load(source, std::move(hash));
  }

 private:
  status same_hash_as(const key_filter& other) const {
    if (hash_.identity() == other.hash_.identity()) return {};
    return failure{"the two filters use different hash functions or seeds", error_code::wrong_hash};
  }
  static hasher inner_hash(const Hash& hash) {
    if constexpr (own_hash) {
      return hasher();  // never asked: digests only
    } else {
      return hash;
    }
  }
  static result<Hash> stored_hash(const hash_identity& stored, const std::optional<Hash>& given) {
    if constexpr (own_hash) {
      const Hash mine = given ? *given : Hash();
      TAMIS_CHECK(detail::same_hash(stored, mine.identity()));
      return mine;
    } else {
      return detail::hasher_for(stored, given);
    }
  }
  static result<Filter> load_filter(const detail::frame_header& header, detail::reader& in, const Hash& hash) {
    if constexpr (is_any) {
      TAMIS_TRY(std::unique_ptr<any_model> model, detail::load_builtin(header, in));
      return any_filter(std::move(model), inner_hash(hash));
    } else {
      return detail::load_static<Filter>(header, in);
    }
  }
  auto saver() const {
    return [this](byte_sink& sink) {
      if constexpr (is_any) {
        const detail::frame_header header{filter_.kind(), filter_.info().version, hash_.identity()};
        return detail::write_frame(sink, header, [this](detail::writer& out) { filter_.model().save(out); });
      } else {
        return detail::save_static(sink, filter_, hash_.identity());
      }
    };
  }

  template <class K>
  key_batch batch(std::span<const K> keys) const {
    if constexpr (own_hash) {
      return key_batch::hashed_by(hash_, keys);
    } else {
      return key_batch(keys);
    }
  }
  std::size_t insert_batch(const key_batch& keys, std::span<bool> out) {
    if constexpr (is_any) {
      return filter_.insert_many(keys, out);
    } else {
      return tamis::insert_many(filter_, inner_hash(hash_), keys, out);
    }
  }
  void ask_batch(const key_batch& keys, std::span<bool> out) const {
    if constexpr (is_any) {
      filter_.may_contain_many(keys, out);
    } else {
      tamis::may_contain_many(filter_, inner_hash(hash_), keys, out);
    }
  }
  auto erase_batch(const key_batch& keys, std::span<bool> out) requires(is_any || erasable<Filter>) {
    if constexpr (is_any) {
      return filter_.erase_many(keys, out);
    } else {
      return tamis::erase_many(filter_, inner_hash(hash_), keys, out);
    }
  }

  Filter filter_;
  Hash hash_;
};

}  // namespace tamis
