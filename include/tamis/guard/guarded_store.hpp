#pragma once

// A store behind a filter. The rule: the filter always covers the store. A key that is in the store answers "maybe" at every
// moment, also after a crash at any instruction; doubt means "maybe", or a rebuild from the store.
//
//   get    filter "no": done.  "maybe": ask the store.  Not there: the filter was wrong, and adapts if it can.
//   put    filter first, then the store (entry and record in one atomic write).
//   erase  store first, then the filter.
//
// Any filter of the registry works. The digests are divided into stripes; a stripe is a filter of its own with a lock of its
// own, so writers of different stripes run at once. docs/guarded-store.md has the promises, the limits and the locking rules.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tamis/concepts.hpp"
#include "tamis/guard/options.hpp"
#include "tamis/guard/store.hpp"

namespace tamis {

// Puts and erases that happen all or not at all. Of several changes of a key the last one counts.
class write_batch {
 public:
  // Copies what it is given; nothing happens before the batch is written.
  void put(byte_view key, byte_view value) { changes_.push_back({std::string(key.text()), std::string(value.text())}); }
  void erase(byte_view key) { changes_.push_back({std::string(key.text()), std::nullopt}); }
  std::size_t size() const { return changes_.size(); }
  void clear() { changes_.clear(); }

 private:
  friend class guarded_store;
  struct change {
    std::string key;
    std::optional<std::string> value;
  };
  std::vector<change> changes_;
};

// Thread safety: all functions may run at once, but close and moving need the object for themselves.
//
// Once closed or moved from, a guard has no store: every function that can answers with an error (a second close too),
// may_contain says "maybe", and what remains is empty.
class guarded_store {
 public:
  // The error names the reason: another hash, another guard on this store, a filter that cannot be made.
  static result<guarded_store> open(std::shared_ptr<store> behind, const guard_options& options);
  guarded_store(guarded_store&&) noexcept;
  guarded_store& operator=(guarded_store&&) noexcept;
  ~guarded_store();  // as close, without a last snapshot

  // After an error of put, erase or write the outcome is unknown. The store then refuses every further change until it is
  // opened again, and goes on answering queries.
  status put(byte_view key, byte_view value);
  result<bool> erase(byte_view key);  // was it there?
  status write(const write_batch& batch);
  // Very many puts at once: sorted into a file that the store takes over, an order of magnitude faster than one by one. Not
  // atomic: after an error or a crash some of the keys may be there and others not. Writers wait meanwhile.
  status load(const write_batch& puts);

  // What is stored, asked of the store only where the filter says "maybe", which is told when that was wrong. Nothing where
  // there is no such key; an error of the store is passed on. multi_get answers in the order of `keys`.
  result<std::optional<std::string>> get(byte_view key);
  result<bool> contains(byte_view key);
  std::vector<result<std::optional<std::string>>> multi_get(std::span<const byte_view> keys);
  // The filter's answer alone: false means certainly not.
  bool may_contain(byte_view key) const;
  // Keys from `first` on in the order of their bytes, with their values, until `visit` answers false. The store must have been
  // made `ordered`. Keys that change meanwhile may be seen or not.
  status scan_keys(byte_view first, const std::function<bool(std::string_view key, std::string_view value)>& visit) const;

  // Ensures: on success the filter as it is now is on disk; on failure the older snapshots still are.
  status snapshot();
  // A consistent copy of the store as it is now, with a new snapshot, in a directory that is not there yet: a store of its own,
  // which opens without a scan. Reads and writes go on meanwhile. Every write that was acknowledged before the call is in it;
  // of those during the call, any. Ensures: the directory is complete and durable, or not there.
  status checkpoint(const std::string& directory);
  // Blocks until the filter of every stripe is there.
  void wait_until_ready();
  // Takes a last snapshot, if there is anything new, and lets go of the store.
  status close();

  const hasher& hash() const;  // of the keys
  guard_stats stats() const;
  const recovery_report& recovered() const;
  memory_bits bits() const;
  std::uint32_t stripes() const;
  double expected_fpr() const;  // now, averaged over the stripes

 private:
  class parts;
  status check_open() const;
  explicit guarded_store(std::unique_ptr<parts> made);
  std::unique_ptr<parts> parts_;
};

}  // namespace tamis
