#pragma once

// What a guarded_store asks of the slow side. Entries stand in digest order (digest, then key), so that the digests near a
// given one are one short scan. Beside the entries a store keeps two things that must change together with them, in one atomic
// write: records (what happened to a stripe's filter since its last snapshot) and rows (small named texts: the manifest).

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tamis/digest.hpp"
#include "tamis/result.hpp"

namespace tamis {

// Keys and values: texts or bytes, of any length.
class byte_view {
 public:
  // Requires: the text or the bytes live as long as the view.
  template <std::convertible_to<std::string_view> Text>
  byte_view(const Text& text) : text_(text) {}  // NOLINT(google-explicit-constructor)
  template <class Bytes>
  requires(std::convertible_to<const Bytes&, std::span<const std::byte>> &&
           !std::convertible_to<const Bytes&, std::string_view>) byte_view(const Bytes& bytes)
      : text_(as_text(bytes)) {}  // NOLINT(google-explicit-constructor)

  // The bytes as characters.
  std::string_view text() const { return text_; }

 private:
  static std::string_view as_text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  std::string_view text_;
};

// A key with its digest.
struct located_key {
  digest hash;
  std::string_view key;
};

enum class oplog_operation : std::uint8_t { insert = 1, erase = 2 };

// One change of a stripe's filter. The numbers of a stripe's records follow each other without a gap, starting at 1.
struct oplog_record {
  std::uint32_t stripe = 0;
  std::uint64_t number = 0;
  oplog_operation what = oplog_operation::insert;
  digest hash;

  friend bool operator==(const oplog_record&, const oplog_record&) = default;
};

// Changes that happen all or not at all. The texts are views: they must live until the write is done.
struct write_set {
  struct entry {
    located_key at;
    std::optional<std::string_view> value;  // none: the entry is erased
  };
  struct row {
    std::string name;
    std::optional<std::string> text;  // none: the row is erased
  };
  // Records of a stripe to forget: from `first` up to, but not including, `end`.
  struct trim {
    std::uint32_t stripe;
    std::uint64_t first;
    std::uint64_t end;
  };

  std::vector<entry> entries;
  std::vector<oplog_record> records;
  std::vector<row> rows;
  std::vector<trim> trims;
};

enum class scan_size { few, many };  // how much a scan will read: decides about read-ahead and caching

class store_claim;

// Thread safety: all functions may run at once; a scan sees the entries as they were at some moment after it was called.
class store {
 public:
  virtual ~store() = default;

  // What messages call it.
  virtual std::string name() const = 0;
  // Where snapshots of the filter may be kept; empty if the store has no such place.
  virtual std::string snapshot_directory() const = 0;
  // Was it opened for reading only? Then every write is refused.
  virtual bool is_read_only() const { return false; }

  // Is the key there, and its value; nothing where there is no such key. Errors are the store's own.
  virtual result<bool> contains(const located_key& at) const = 0;
  virtual result<std::optional<std::string>> get(const located_key& at) const = 0;
  // out[i] = get(keys[i]).  Requires: out is as long as keys.
  virtual status get_many(std::span<const located_key> keys, std::span<std::optional<std::string>> out) const = 0;
  // Digests of the entries in the range, in order, each as often as it is stored, until `visit` answers false.
  virtual status scan(digest_range range, scan_size size, const std::function<bool(digest)>& visit) const = 0;

  // After an error the outcome is unknown: all of it may have happened or nothing.
  virtual status write(const write_set& changes, bool sync) = 0;
  // Ensures: on success, everything written before survives a power cut.
  virtual status sync() = 0;
  // Very many puts at once, durably. A crash may leave some of them behind and others not.
  // Requires: entries with values, in order of digest and key, none twice.
  virtual status ingest(std::span<const write_set::entry> entries) {
    write_set set;
    set.entries.assign(entries.begin(), entries.end());
    return write(set, true);
  }

  // A copy of all that is written when this is called, in a directory that is not there yet, with copies of these snapshots:
  // a store of its own. What is written meanwhile may be in it or not, as after a crash.
  // Ensures: the directory is there, durably, with all of it, or not at all.
  virtual status checkpoint(const std::string& /*directory*/, std::span<const std::string> /*snapshots*/) {
    return failure{name() + ": cannot be copied while it is open", error_code::unsupported};
  }

  // Keys from `first` on in the order of their bytes, until `visit` answers false. Most stores have no such order.
  virtual status scan_keys(std::string_view /*first*/, const std::function<bool(const located_key&)>& /*visit*/) const {
    return failure{name() + ": is not ordered by key", error_code::unsupported};
  }

  // Records of a stripe from number `first` on, in order, until `visit` answers false.
  virtual status records(std::uint32_t stripe, std::uint64_t first,
                         const std::function<bool(const oplog_record&)>& visit) const = 0;
  // Number of the stripe's last record, 0 if there is none.
  virtual result<std::uint64_t> last_record(std::uint32_t stripe) const = 0;

  // Rows whose name begins with `prefix`, in order of their names.
  virtual result<std::vector<std::pair<std::string, std::string>>> rows(std::string_view prefix) const = 0;

 private:
  friend class store_claim;
  // Is there a guard? A copy of a store is another store, which nobody guards yet.
  struct guard_flag {
    std::atomic<bool> taken = false;
    guard_flag() = default;
    guard_flag(const guard_flag& /*other*/) {}
    guard_flag& operator=(const guard_flag& /*other*/) { return *this; }
  };
  guard_flag guarded_;
};

// The right to be the guard of a store, which one has at a time: two would give their records the same numbers. It ends with
// this object. Keeps the store alive.
class store_claim {
 public:
  // Requires: `wanted` is a store.
  static result<store_claim> take(std::shared_ptr<store> wanted) {
    if (wanted->guarded_.taken.exchange(true)) {
      return failure{wanted->name() + ": another guarded_store is open on it; close that one first"};
    }
    return store_claim(std::move(wanted));
  }
  store_claim(store_claim&&) noexcept = default;  // which leaves the other one without a store
  store_claim& operator=(store_claim&&) = delete;
  ~store_claim() {
    if (claimed_) claimed_->guarded_.taken = false;
  }

  store& operator*() const { return *claimed_; }
  store* operator->() const { return claimed_.get(); }

 private:
  explicit store_claim(std::shared_ptr<store> claimed) : claimed_(std::move(claimed)) {}

  std::shared_ptr<store> claimed_;
};

}  // namespace tamis
