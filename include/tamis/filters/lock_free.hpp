#pragma once

// Bloom filters that any number of threads change and read at once, without a lock: lock_free<bloom>, lock_free<bloom1> and
// lock_free<counting_bloom>. The table is the plain filter's, bit for bit; its words are read and changed by relaxed atomics.
//
//   tamis::lock_free<tamis::bloom1> seen = tamis::lock_free<tamis::bloom1>::create({.capacity = 1'000'000, .fpr =
//   0.01}).value(); seen.insert(hash("alice"));        // from any thread, at once seen.may_contain(hash("bob"));     // from
//   any thread, meanwhile
//
// A lookup reads as the plain filter's does. An insert writes each bit that is not there yet by an atomic instruction of its
// own; a counter is raised by one. Nobody ever waits.
//
// What holds: a key whose insert (or the merge that brought it) came before a lookup, by whatever the threads tell each other
// with, is found; so is one that any lookup before has found because of it. A lookup beside an insert of its key says either.
// Bits and counters add up to the same whatever the order of inserts and merges, so copy() of what nobody changes any more is
// the plain filter of the same keys.
//
// Thread safety: all functions may run at once, but moving, assigning and destroying need the object for themselves. An erase
// takes out a key that is in and that nobody else takes out at the same time: of a key that is in twice, two may go at once.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "tamis/concepts.hpp"
#include "tamis/detail/base/access.hpp"
#include "tamis/detail/threads/reader_marks.hpp"

namespace tamis::inline TAMIS_LEVEL {

// What a filter offers besides: see bloom.hpp.
template <class F>
concept changed_by_atomics = filter_type<F> && requires(F f, const F c, digest d) {
  f.template add<detail::atomic_access>(d);
  { c.template accepts<detail::atomic_access>(d) } -> std::same_as<bool>;
  f.template unite<detail::atomic_access>(c);
  { c.template copied<detail::atomic_access>(0) } -> std::same_as<F>;
};

template <changed_by_atomics Filter>
class lock_free {
  using atomics = detail::atomic_access;

 public:
  static constexpr const filter_info& info = Filter::info;

  static result<lock_free> create(const filter_params& params) {
    TAMIS_TRY(Filter made, Filter::create(params));
    return lock_free(std::move(made));
  }
  // Takes a filter that no other thread uses yet.
  explicit lock_free(Filter made) : filter_(std::move(made)) { note(static_cast<std::int64_t>(filter_.keys())); }

  [[nodiscard]] insert_result insert(digest d) {
    filter_.template add<atomics>(d);
    note(1);
    return insert_result::inserted;
  }
  TAMIS_INLINE bool may_contain(digest d) const { return filter_.template accepts<atomics>(d); }

  erase_result erase(digest d) requires erasable<Filter> {
    if (!may_contain(d)) return erase_result::absent;
    filter_.template take_out<atomics>(d);
    note(-1);
    return erase_result::erased;
  }
  std::uint64_t count(digest d) const requires counting<Filter> { return filter_.template count_among<atomics>(d, keys()); }

  // `other` may be changed meanwhile: what comes into it then is in this one or not.
  status merge(const lock_free& other) { return merge(other.filter_, other.keys()); }
  // `other` must not.
  status merge(const Filter& other) { return merge(other, other.keys()); }

  // The plain filter, to be saved or asked more about. What comes in meanwhile is in it or not.
  Filter copy() const { return filter_.template copied<atomics>(keys()); }

  std::uint64_t keys() const {
    std::int64_t all = 0;
    for (const part& p : *keys_) all += p.keys.load(std::memory_order_relaxed);
    return all < 0 ? 0 : static_cast<std::uint64_t>(all);
  }
  std::uint64_t capacity() const { return filter_.capacity(); }
  double expected_fpr() const { return copy().expected_fpr(); }  // takes the filter's memory a second time
  memory_bits bits() const { return filter_.bits(); }
  option_list settings() const { return filter_.settings(); }

  // Batches: see batch.hpp.
  TAMIS_INLINE void prefetch(digest d) const requires requires(const Filter& f) { f.prefetch(d); }
  { filter_.prefetch(d); }
  TAMIS_INLINE void prefetch_insert(digest d) const { filter_.prefetch_insert(d); }
  template <class Use>
  void with_view(Use use) const requires requires(const Filter& f) {
    f.template with_view_by<atomics>(use);
  }
  { filter_.template with_view_by<atomics>(use); }

 private:
  // Keys are counted by each thread on a line of its own, or nearly: readers and writers of the table share none for it.
  struct alignas(detail::cache_line_bytes) part {
    std::atomic<std::int64_t> keys = 0;
  };
  static constexpr std::size_t parts = 16;

  TAMIS_INLINE void note(std::int64_t keys) {
    (*keys_)[detail::reader_marks::my_number() % parts].keys.fetch_add(keys, std::memory_order_relaxed);
  }
  status merge(const Filter& other, std::uint64_t keys) {
    TAMIS_CHECK(filter_.fits(other));
    filter_.template unite<atomics>(other);
    note(static_cast<std::int64_t>(keys));
    return {};
  }

  Filter filter_;
  std::unique_ptr<std::array<part, parts>> keys_ = std::make_unique<std::array<part, parts>>();
};

}  // namespace tamis::inline TAMIS_LEVEL
