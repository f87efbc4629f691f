#pragma once

// A filter that many threads share: any kind of the registry, asked and changed by all at once.
//
// The digests are divided by their first bits into stripes, each a filter of its own. Readers write to no memory that other
// readers write to, and wait for nobody but a change of their stripe while it is being made: not for growth, not for a rebuild,
// not for a remote. Changes of one stripe take turns; a turn waits for the readers inside, not for later ones.
// docs/threads.md has what is promised, and what a fork does; detail/threads/reader_gate.hpp has why it is right.
//
//   tamis::concurrent_filter seen = tamis::concurrent_filter::create("evergreen", {.capacity = 1'000'000, .fpr =
//   0.01}).value(); seen.insert("alice");               // from any thread if (seen.may_contain("bob")) …      // from any
//   thread
//
// Thread safety: all functions may run at once, but moving and destroying need the object for themselves. Every change of one
// key happens at one moment between call and answer, and each lookup sees all changes before it.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/any_filter.hpp"
#include "tamis/registry.hpp"

namespace tamis {

struct concurrent_options {
  std::uint32_t stripes = 0;        // a power of two up to 256; 0: one for 16,384 keys of capacity, up to 16
  const registry* known = nullptr;  // filters by id; nullptr: those that tamis comes with
};

struct concurrent_stats {
  std::uint32_t stripes = 0;
  std::uint64_t fewest_keys = 0;  // in a stripe
  std::uint64_t most_keys = 0;
  std::uint64_t growths = 0;      // of stripes, made beside the filter that readers went on with
  std::uint64_t rebuilds = 0;     // of stripes
  std::uint64_t adaptations = 0;  // mistakes that were fixed
  std::uint64_t known_mistakes = 0;
};

// What a save holds: each stripe as it was at some moment of the save, or all of them as they were at one.
enum class save_moment { of_each_stripe, of_the_whole };

class concurrent_filter {
 public:
  // A kind and its parameters as for any_filter; the capacity is that of the whole.
  static result<concurrent_filter> create(std::string_view id, const filter_params& params, hasher hash = {},
                                          const concurrent_options& options = {});
  concurrent_filter(concurrent_filter&&) noexcept;
  concurrent_filter& operator=(concurrent_filter&&) noexcept;
  ~concurrent_filter();

  // As in any_filter.
  std::string kind() const;
  capabilities can() const;
  const hasher& hash() const { return hash_; }
  std::uint32_t stripes() const;

  // As in any_filter, of digests or keys. insert_if_absent looks and inserts in one turn.
  [[nodiscard]] insert_result insert(digest d);
  [[nodiscard]] insert_result insert_if_absent(digest d);
  bool may_contain(digest d) const;
  erase_result erase(digest d);
  result<std::uint64_t> count(digest d) const;
  adapt_result adapt(digest d);
  status rejuvenate(digest d) { return rejuvenate_many(std::span(&d, 1)); }

  // With a remote, which holds all keys of the filter (of all stripes). It is asked in the calling thread, outside of any lock;
  // if the stripe has changed meanwhile it is asked again. From the third time on other changes of the stripe wait; lookups
  // never do. It may ask this filter, but not change it. What it throws is passed on, and nothing has changed.
  //
  // Store and filter have to agree: threads that change both do so in one turn (below) wherever adapt, or an insert with the
  // remote, may run meanwhile.
  [[nodiscard]] insert_result insert(digest d, const remote_ref& stored);
  erase_result erase(digest d, const remote_ref& stored);
  adapt_result adapt(digest d, const remote_ref& stored);

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

  // The right to change a key's stripe, for changes of a store and the filter that belong together:
  //
  //   auto turn = seen.take_turn(key);
  //   store.put(key, value);
  //   turn.insert();
  //
  // While it lives other changes of the stripe wait, also those of this thread: one turn at a time. Lookups go on.
  class turn {
   public:
    turn(turn&&) noexcept;
    turn& operator=(turn&&) = delete;
    ~turn();

    // As in concurrent_filter, for the key of the turn.
    bool may_contain() const;
    [[nodiscard]] insert_result insert();
    erase_result erase();

   private:
    friend class concurrent_filter;
    struct state;
    explicit turn(std::unique_ptr<state> held);
    std::unique_ptr<state> state_;
  };
  // Waits until no other turn of the stripe is taken.
  turn take_turn(digest d);
  template <hashable_key Key>
  turn take_turn(const Key& key) {
    return take_turn(hash_(key));
  }

  // Batches, sorted by stripe: one turn per stripe for each 4,096 keys of the batch. Equal keys keep their order. What throws
  // half way has done some of them; `out`, where it is given, says which.
  [[nodiscard]] std::size_t insert_many(const key_batch& keys, std::span<bool> out = {});
  void may_contain_many(const key_batch& keys, std::span<bool> out) const;
  result<std::size_t> erase_many(const key_batch& keys, std::span<bool> out = {});
  status count_many(const key_batch& keys, std::span<std::uint64_t> out) const;
  status rejuvenate_many(const key_batch& keys);

  // Makes room in every stripe, one after the other, beside the filter that readers go on with. An error without can().expand.
  status expand();
  // Makes every stripe's filter anew from what is stored, with other parameters of the same kind: how a filter grows that
  // cannot expand. Stripe by stripe: changes of that one wait, lookups go on with the old filter. If it fails, or the remote
  // throws, some stripes are new and the others are as they were; no key is lost.
  status rebuild(const filter_params& params, const remote_ref& stored);
  // No key is in afterwards, but what came in behind its stripe's turn: stripe by stripe, while lookups go on. `unsupported`
  // where the kind cannot be cleared. If it fails, the stripes before that one are empty.
  status clear();
  // Everything in `other` is in this one afterwards, stripe by stripe, while both are being used. An error if kind, hash,
  // number of stripes or shapes differ; then stripes before the one that failed have been merged.
  status merge(const concurrent_filter& other);

  // Sums over the stripes, each as it is at some moment of the call.
  std::uint64_t size() const;
  bool empty() const { return size() == 0; }
  std::uint64_t keys() const { return size(); }
  std::uint64_t capacity() const;
  double expected_fpr() const;  // averaged
  memory_bits bits() const;
  option_list settings() const;  // of the first stripe
  concurrent_stats stats() const;

  // A frame of this kind (docs/format.md). A stripe's changes wait until it has been copied, with of_the_whole
  // until all have been; lookups go on. The saved bytes are in memory first.
  static constexpr std::string_view saved_kind = "concurrent";
  status save(byte_sink& sink, save_moment moment = save_moment::of_each_stripe) const;
  status save_file(const std::string& path, save_moment moment = save_moment::of_each_stripe) const;
  std::vector<std::byte> save_bytes(save_moment moment = save_moment::of_each_stripe) const;
  static result<concurrent_filter> load(byte_source& source, const load_options& options = {});
  static result<concurrent_filter> load_file(const std::string& path, const load_options& options = {});
  static result<concurrent_filter> load_bytes(std::span<const std::byte> bytes, const load_options& options = {});

 private:
  class parts;
  concurrent_filter(std::unique_ptr<parts> made, const hasher& hash);

  std::unique_ptr<parts> parts_;
  hasher hash_;
};

}  // namespace tamis
