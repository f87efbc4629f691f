#pragma once

// A filter whose type is chosen at run time: what the command line, the store and other languages use. A call costs one
// indirect call, which a batch shares among its keys.
//
// An any_filter knows its hasher, so it takes keys as well as digests and can check that two filters belong together.

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

namespace tamis {

class registry;

// The erased operations. Written once, as a template, in detail/any/model.hpp.
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
  virtual std::size_t insert_many(std::span<const digest> digests, std::span<bool> out) = 0;
  virtual void may_contain_many(std::span<const digest> digests, std::span<bool> out) const = 0;
  virtual std::uint64_t keys() const = 0;
  virtual std::uint64_t capacity() const = 0;
  virtual double expected_fpr() const = 0;
  virtual memory_bits bits() const = 0;
  virtual option_list settings() const = 0;
  virtual std::unique_ptr<any_model> clone() const = 0;
  virtual void save(detail::writer& out) const = 0;

  // For filters whose updates can use what is stored (see concepts.hpp); the others ignore it.
  virtual insert_result insert(digest d, const remote_ref& stored) = 0;

  // Requires: the capability.
  virtual erase_result erase(digest d, const remote_ref& stored) = 0;
  virtual erase_result erase(digest d);
  virtual std::size_t erase_many(std::span<const digest> digests, std::span<bool> out) = 0;
  virtual std::uint64_t count(digest d) const = 0;
  virtual adapt_result adapt(digest d, const remote_ref& stored) = 0;
  virtual adapt_result adapt(digest d) = 0;
  virtual status expand() = 0;
  virtual status merge(const any_model& other) = 0;
  virtual status merge(const any_model& other, const remote_ref& stored) = 0;
  virtual void rejuvenate_many(std::span<const digest> digests) = 0;
};

class any_filter {
 public:
  // By id, from `known` or from the registry that tamis comes with; "ID+mistakes" is one with a list of known mistakes, of a
  // 64th of its capacity if the option `mistakes` does not say otherwise.
  static result<any_filter> create(std::string_view id, const filter_params& params, hasher hash = {});
  static result<any_filter> create(const registry& known, std::string_view id, const filter_params& params, hasher hash = {});

  any_filter(std::unique_ptr<any_model> model, hasher hash) : model_(std::move(model)), hash_(hash) {}
  any_filter(any_filter&&) noexcept = default;
  any_filter& operator=(any_filter&&) noexcept = default;
  any_filter(const any_filter& other) : model_(other.model_->clone()), hash_(other.hash_) {}
  any_filter& operator=(const any_filter& other) {
    if (this != &other) *this = any_filter(other);
    return *this;
  }
  ~any_filter() = default;

  const filter_info& info() const { return model_->info(); }
  std::string kind() const;  // the id, with "+mistakes" behind it if there is a list
  capabilities can() const { return model_->can(); }
  const hasher& hash() const { return hash_; }

  insert_result insert(digest d) { return model_->insert(d); }
  bool may_contain(digest d) const { return model_->may_contain(d); }
  erase_result erase(digest d) { return model_->erase(d); }  // Requires: can().erase
  // The same where a remote is at hand. A telescoping filter that has adapted may need it to make room.
  insert_result insert(digest d, const remote_ref& stored) { return model_->insert(d, stored); }
  erase_result erase(digest d, const remote_ref& stored) { return model_->erase(d, stored); }  // Requires: can().erase
  std::uint64_t count(digest d) const;                                                         // Requires: can().count
  adapt_result adapt(digest d, const remote_ref& stored) { return model_->adapt(d, stored); }  // Requires: can().adapt
  // The same without a remote: `unfixable` where the fix would need one and there is no list of known mistakes.
  // Requires: can().adapt, and that the key is not in. Of a list nobody can tell otherwise.
  adapt_result adapt(digest d) { return model_->adapt(d); }
  std::uint64_t known_mistakes() const { return model_->known_mistakes(); }  // how many are listed now
  status expand() { return model_->expand(); }                               // Requires: can().expand
  // After a true positive: the caller knows that the key is in.  Requires: can().rejuvenate
  void rejuvenate(digest d) { model_->rejuvenate_many(std::span(&d, 1)); }
  void rejuvenate_many(std::span<const digest> digests) { model_->rejuvenate_many(digests); }

  // Keys: integers, strings, bytes.
  template <class Key>
  insert_result insert(const Key& key) requires(!std::same_as<Key, digest>) {
    return insert(hash_(key));
  }
  template <class Key>
  bool may_contain(const Key& key) const requires(!std::same_as<Key, digest>) {
    return may_contain(hash_(key));
  }
  template <class Key>
  erase_result erase(const Key& key) requires(!std::same_as<Key, digest>) {
    return erase(hash_(key));
  }
  template <class Key>
  std::uint64_t count(const Key& key) const requires(!std::same_as<Key, digest>) {
    return count(hash_(key));
  }

  // Batches. `out`, where it may be empty, says per digest whether it went in or out.
  std::size_t insert_many(std::span<const digest> digests, std::span<bool> out = {}) {
    return model_->insert_many(digests, out);
  }
  void may_contain_many(std::span<const digest> digests, std::span<bool> out) const { model_->may_contain_many(digests, out); }
  std::size_t erase_many(std::span<const digest> digests, std::span<bool> out = {}) { return model_->erase_many(digests, out); }

  // Everything in `other` is in this one afterwards. An error, and no change, if kind, hash, seed or shape differ.
  status merge(const any_filter& other);
  // The same with a remote that holds all keys of both. A telescoping filter that has adapted may need it; one that grows gives
  // the entries back what they have forgotten. Filters that have no use for it merge without.
  status merge(const any_filter& other, const remote_ref& stored);

  std::uint64_t keys() const { return model_->keys(); }
  std::uint64_t capacity() const { return model_->capacity(); }
  double expected_fpr() const { return model_->expected_fpr(); }
  memory_bits bits() const { return model_->bits(); }
  option_list settings() const { return model_->settings(); }

  status save(byte_sink& sink) const;
  status save_file(const std::string& path) const;
  std::vector<std::byte> save_bytes() const;

 private:
  status may_merge(const any_filter& other) const;

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
result<any_filter> load(byte_source& source, const load_options& options = {});
result<any_filter> load_file(const std::string& path, const load_options& options = {});
result<any_filter> load_bytes(std::span<const std::byte> bytes, const load_options& options = {});

}  // namespace tamis
