#pragma once

// A filter whose type is chosen at run time: what the command line, the store and other languages use. A call costs one
// indirect call, which a batch shares among its keys.
//
// An any_filter knows its hasher, so it takes keys wherever it takes digests, hashes batches of them on the way, and can check
// that two filters belong together. A key is an integer, a string, bytes, or of a type of the program's own (key_parts.hpp).
//
// What a filter cannot do (can() says what it can) is an error value: `unsupported`, and nothing has changed.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/concepts.hpp"
#include "tamis/detail/io/frame.hpp"
#include "tamis/digest.hpp"
#include "tamis/hasher.hpp"
#include "tamis/key_batch.hpp"

namespace tamis {

class registry;

// The erased operations. Written once, as a template, in detail/any/model.hpp. Contracts: any_filter.hpp, below.
class any_model {
 public:
  virtual ~any_model();

  virtual const filter_info& info() const = 0;
  virtual capabilities can() const = 0;
  // The filter without its list of known mistakes (detail/any/known_mistakes.hpp), and how many are listed.
  virtual const any_model& plain() const { return *this; }
  virtual std::uint64_t known_mistakes() const { return 0; }

  // One key: as a batch of one if a model has nothing better. A batch of one costs twice as much as a call for one.
  virtual insert_result insert(digest d);
  virtual bool may_contain(digest d) const;
  // `out` of an update may be empty; otherwise it is as long as the batch.
  virtual std::size_t insert_many(const hasher& hash, const key_batch& keys, std::span<bool> out) = 0;
  virtual void may_contain_many(const hasher& hash, const key_batch& keys, std::span<bool> out) const = 0;
  virtual std::uint64_t keys() const = 0;
  virtual std::uint64_t capacity() const = 0;
  virtual double expected_fpr() const = 0;
  virtual memory_bits bits() const = 0;
  virtual option_list settings() const = 0;
  virtual std::unique_ptr<any_model> clone() const = 0;
  virtual result<std::unique_ptr<any_model>> emptied() const;
  virtual void save(detail::writer& out) const = 0;
  virtual status validate() const { return {}; }

  // For filters whose updates can use what is stored (see concepts.hpp); the others ignore it.
  virtual insert_result insert(digest d, const remote_ref& stored) = 0;

  // Without the capability `unsupported`, or a failure with that code; what has no such answer has no effect, and is not to be
  // asked for.
  virtual erase_result erase(digest d, const remote_ref& stored) = 0;
  virtual erase_result erase(digest d);
  virtual std::size_t erase_many(const hasher& hash, const key_batch& keys, std::span<bool> out) = 0;
  virtual std::uint64_t count(digest d) const = 0;
  virtual adapt_result adapt(digest d, const remote_ref& stored) = 0;
  virtual adapt_result adapt(digest d) = 0;
  virtual status expand() = 0;
  virtual status merge(const any_model& other) = 0;
  virtual status merge(const any_model& other, const remote_ref& stored) = 0;
  virtual void rejuvenate_many(const hasher& hash, const key_batch& keys) = 0;
  virtual result<std::uint64_t> fold(double fpr);
};

class any_filter {
 public:
  // By id, from `known` or from the registry that tamis comes with; "ID+mistakes" is one with a list of known mistakes, of a
  // 64th of its capacity if the option `mistakes` does not say otherwise.
  static result<any_filter> create(std::string_view id, const filter_params& params, hasher hash = {});
  static result<any_filter> create(const registry& known, std::string_view id, const filter_params& params, hasher hash = {});

  // Requires: the model is empty, or was filled through this hash.
  any_filter(std::unique_ptr<any_model> model, hasher hash) : model_(std::move(model)), hash_(hash) {}
  any_filter(any_filter&&) noexcept = default;
  any_filter& operator=(any_filter&&) noexcept = default;
  any_filter(const any_filter& other) : model_(other.model_->clone()), hash_(other.hash_) {}
  any_filter& operator=(const any_filter& other) {
    if (this != &other) *this = any_filter(other);
    return *this;
  }
  ~any_filter() = default;

  // A filter without keys and known mistakes, of the same kind, hash, memory, options and shape, so that the two can be merged;
  // of one that has grown, as it was at first. `unsupported` where the kind has no such thing (concepts.hpp: clearable).
  result<any_filter> emptied() const;
  // Becomes that. The memory of both is needed for a moment; an error, or std::bad_alloc, has changed nothing.
  status clear();
  void swap(any_filter& other) noexcept { std::swap(*this, other); }
  friend void swap(any_filter& a, any_filter& b) noexcept { a.swap(b); }

  // What the kind is: its id, options and paper.
  const filter_info& info() const { return model_->info(); }
  std::string kind() const;  // the id, with "+mistakes" behind it if there is a list
  capabilities can() const { return model_->can(); }
  const hasher& hash() const { return hash_; }
  const any_model& model() const { return *model_; }  // for who saves it in a frame of its own

  // `inserted`, or `full` with nothing changed. Always physical: a key that is inserted twice is in twice, and a filter that
  // erases has to be told twice that it left.
  [[nodiscard]] insert_result insert(digest d) { return model_->insert(d); }
  // Is it in? False is certain, true is "maybe". Changes nothing; many threads may ask at once, as long as nobody changes it.
  bool may_contain(digest d) const { return model_->may_contain(d); }
  // One copy less.  Requires: the key is in. What only may be in takes the trace of another key with it.
  // `absent` if it certainly is not in; `unsupported` without can().erase.
  erase_result erase(digest d) { return model_->erase(d); }
  // The same where a remote is at hand. A telescoping filter that has adapted may need it to make room.
  [[nodiscard]] insert_result insert(digest d, const remote_ref& stored) { return model_->insert(d, stored); }
  erase_result erase(digest d, const remote_ref& stored) { return model_->erase(d, stored); }
  // Inserts what is not in as far as the filter can tell; `present` otherwise, with nothing changed. Only for filters that
  // neither erase nor adapt: `unsupported` for all others. There a key that is taken for present shares the entry of another
  // one, and is lost when that one is erased or the entry is adapted to a mistake.
  [[nodiscard]] insert_result insert_if_absent(digest d);
  // At least the number of copies that are in. An error without can().count.
  result<std::uint64_t> count(digest d) const;
  // After a "maybe" that was wrong: the same question is answered "no" from now on, as far as the filter can. `stored` holds
  // every key of the filter. `is_member` if the remote has the key after all, `not_positive` if the answer was "no" anyway,
  // `unfixable` if nothing can be done, `unsupported` without can().adapt. No key is lost, whatever the answer.
  adapt_result adapt(digest d, const remote_ref& stored) { return model_->adapt(d, stored); }
  // The same without a remote: `unfixable` where the fix would need one and there is no list of known mistakes.
  // Requires: the key is not in. Of a list nobody can tell otherwise.
  adapt_result adapt(digest d) { return model_->adapt(d); }
  std::uint64_t known_mistakes() const { return model_->known_mistakes(); }  // how many are listed now
  // Makes room before it is needed. An error without can().expand.
  status expand() { return model_->expand(); }
  // After a true positive: the entry that answered is made as good as a new one.  Requires: the key is in.
  // An error without can().rejuvenate.
  status rejuvenate(digest d) { return rejuvenate_many(std::span(&d, 1)); }

  // The same for keys.
  template <hashable_key Key>
  [[nodiscard]] insert_result insert(const Key& key) {
    return insert(hash_(key));
  }
  template <hashable_key Key>
  [[nodiscard]] insert_result insert(const Key& key, const remote_ref& stored) {
    return insert(hash_(key), stored);
  }
  template <hashable_key Key>
  [[nodiscard]] insert_result insert_if_absent(const Key& key) {
    return insert_if_absent(hash_(key));
  }
  template <hashable_key Key>
  bool may_contain(const Key& key) const {
    return may_contain(hash_(key));
  }
  template <hashable_key Key>
  erase_result erase(const Key& key) {
    return erase(hash_(key));
  }
  template <hashable_key Key>
  erase_result erase(const Key& key, const remote_ref& stored) {
    return erase(hash_(key), stored);
  }
  template <hashable_key Key>
  result<std::uint64_t> count(const Key& key) const {
    return count(hash_(key));
  }
  template <hashable_key Key>
  adapt_result adapt(const Key& key) {
    return adapt(hash_(key));
  }
  template <hashable_key Key>
  adapt_result adapt(const Key& key, const remote_ref& stored) {
    return adapt(hash_(key), stored);
  }
  template <hashable_key Key>
  status rejuvenate(const Key& key) {
    return rejuvenate(hash_(key));
  }

  // Batches of keys or digests (key_batch.hpp), in order: each does what the single calls would, for less. Keys are hashed on
  // the way. `out`, where it may be empty, says per key whether it went in or out; otherwise it is as long as the batch.
  // What throws half way (no memory, or the hash of a key of the program's own type) has done the first of them.
  [[nodiscard]] std::size_t insert_many(const key_batch& keys, std::span<bool> out = {}) {  // how many went in
    return model_->insert_many(hash_, keys, out);
  }
  void may_contain_many(const key_batch& keys, std::span<bool> out) const { model_->may_contain_many(hash_, keys, out); }
  result<std::size_t> erase_many(const key_batch& keys, std::span<bool> out = {});  // how many were there
  status count_many(const key_batch& keys, std::span<std::uint64_t> out) const;
  status rejuvenate_many(const key_batch& keys);

  // Everything in `other` is in this one afterwards. An error, and no change, if kind, hash, seed or shape differ.
  status merge(const any_filter& other);
  // The same with a remote that holds all keys of both. A telescoping filter that has adapted may need it; one that grows gives
  // the entries back what they have forgotten. Filters that have no use for it merge without.
  status merge(const any_filter& other, const remote_ref& stored);

  // bloom and bloom1: as small as can be with a rate of at most `fpr`, for the keys that are in. By how much it became smaller,
  // 1 if it could not; the capacity follows. An error, and no change, for other filters.
  result<std::uint64_t> fold(double fpr);

  // How many keys are in, each copy counted; Bloom filters count what was inserted.
  std::uint64_t size() const { return model_->keys(); }
  bool empty() const { return size() == 0; }
  std::uint64_t keys() const { return size(); }  // the filter types' word for it
  std::uint64_t capacity() const { return model_->capacity(); }
  double expected_fpr() const { return model_->expected_fpr(); }
  memory_bits bits() const { return model_->bits(); }
  option_list settings() const { return model_->settings(); }

  // Does the table agree with the fields? Of a filter that was made or loaded it does.
  status validate() const { return model_->validate(); }
  status save(byte_sink& sink) const;
  status save_file(const std::string& path) const;
  std::vector<std::byte> save_bytes() const;

 private:
  status may_merge(const any_filter& other) const;
  failure unable(const char* what) const;

  std::unique_ptr<any_model> model_;
  hasher hash_;
};

// Loading. A filter of the keyed hash needs its secret: `hash` must then be the hasher it was filled through. Without `hash`
// the stored seed is used. Messages begin with the path where there is one.
struct load_options {
  std::optional<hasher> hash = std::nullopt;
  const registry* known = nullptr;    // nullptr: the registry that tamis comes with
  memory_resource* memory = nullptr;  // of the filter's tables, as in filter_params
};
// A damaged, forged or foreign file is an error that says what is wrong with it; so is a filter that this build does not know.
result<any_filter> load(byte_source& source, const load_options& options = {});
result<any_filter> load_file(const std::string& path, const load_options& options = {});
result<any_filter> load_bytes(std::span<const std::byte> bytes, const load_options& options = {});

}  // namespace tamis
