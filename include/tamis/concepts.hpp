#pragma once

// What a filter is, and what some of them can do besides. A capability is not declared anywhere: a type that has the operation
// has the capability, and everything outside (registry, command line, tests, benchmark) follows from these concepts.
//
// Contracts, for every filter:
//   may_contain  true for every digest that was inserted and not erased since; changes nothing; safe for many readers at once
//   insert    `inserted`, or `full` with nothing changed. Always physical: "insert only if absent" loses members in a filter
//             that erases or adapts. An item taken for present shares the entry of another, and goes when that one goes (47 to
//             87 of 50,000 in one experiment); only an `accumulating` filter may do it
//   erase     the caller promises that the key is in; one copy goes, every other key stays; `absent` if it certainly is not in
//   count     at least the number of copies that are in
//   adapt     after a "maybe" that was wrong; never makes a stored key disappear. What is not `fixed` has changed nothing, with
//             one exception that has to be asked for: the blind switch of abf changes a word and then sees. Nor has one that
//             ended in an exception, be it for want of memory or thrown by the remote
//             (evergreen may have grown before it finds that an insert or adapt must fail: its bytes differ then, but no key
//             was lost or added, and nothing is accepted that was not before)
//   rejuvenate  after a "maybe" that was right; the caller promises that the key is in. No key disappears, and no digest is
//             accepted that was not before
//   merge     afterwards everything that was in either is in this one; an error, and no change, if the two do not fit together.
//             Requires: both were filled through the same hasher (any_filter checks that)
//   emptied   the same filter without its keys, in memory of its own: shape and options stay, so that the two can be merged
//   where
//             their kind merges. Of one that has grown: as it was at first
//   expected_fpr   the rate that the present content gives, not the one that was asked for
//   create    the filter that `params` describe; an error names what is out of range, or the option that does not exist
//   keys      how many are in, each copy counted; a Bloom filter counts what was inserted
//   capacity  the number of keys that it was made for; one that grows says what it holds before it grows again
//   bits      its memory, fast and slow apart
//   settings  the options in force, chosen ones included
//   expand    makes room before it is needed; an error, and no change, if it cannot
//
// What batches, files and the library's own loops call, where a filter has it:
//   prefetch, prefetch_insert   ask for the memory that a lookup or insert of the digest will read; no answer depends on it
//   locate, test   the two halves of a lookup: where to look, and then the answer; nothing may have changed between them
//   prefetch_more, view_of   steps between the two, of filters that look in two places
//   with_view, with_updates   the same filter with its shape chosen once, for a loop (batch.hpp); nothing else may change it
//             while `use` runs
//   with_format, may_contain_as   the same for one lookup, for a caller that has chosen before (detail/any/model.hpp)
//   visit     names the fields to an archive, which saves or loads them
//   missing   how often filter and remote were found to have gone apart
//   table, tree   the inside, for tests and measuring; nothing is promised about it
//   validate  an error if the loaded fields do not fit together; what passes is safe to use, whatever bytes it came from

#include <concepts>
#include <cstdint>

#include "tamis/digest.hpp"
#include "tamis/options.hpp"
#include "tamis/params.hpp"
#include "tamis/remote.hpp"
#include "tamis/result.hpp"

namespace tamis {

// The last of each only comes from an any_filter that cannot do that, `present` only from insert_if_absent.
enum class insert_result { inserted, full, present, unsupported };
enum class erase_result { erased, absent, unsupported };
enum class adapt_result { fixed, unfixable, is_member, not_positive, unsupported };

template <class F>
concept filter_type = std::movable<F> && requires(F f, const F c, const filter_params& params, digest d) {
  { F::info } -> std::convertible_to<const filter_info&>;
  { F::create(params) } -> std::same_as<result<F>>;
  { f.insert(d) } -> std::same_as<insert_result>;
  { c.may_contain(d) } -> std::same_as<bool>;
  { c.keys() } -> std::same_as<std::uint64_t>;
  { c.capacity() } -> std::same_as<std::uint64_t>;
  { c.expected_fpr() } -> std::same_as<double>;
  { c.bits() } -> std::same_as<memory_bits>;
  { c.settings() } -> std::same_as<option_list>;  // the options in force, chosen ones included
};

// A filter with its options as a struct (options.hpp), checked by the compiler: create<bloom>({.capacity = 1000, .fpr = 0.01},
// {.k = 7}). What is out of range is an error, as it is where options are words.
template <filter_type F>
result<F> create(filter_params params, const typename F::options& options = {}) {
  for (auto& option : options.list()) params.options.push_back(std::move(option));
  return F::create(params);
}

template <class F>
concept erasable = filter_type<F> && requires(F f, digest d) {
  { f.erase(d) } -> std::same_as<erase_result>;
};

// Updates that do better with a remote at hand: what they would refuse, or do only in part, they do. The remote holds every key
// of the filter; whether it already holds a digest that is being inserted, or still holds one that is being erased, is left
// open.
template <class F>
concept insertable_with_remote = filter_type<F> && requires(F f, digest d, remote_ref stored) {
  { f.insert(d, stored) } -> std::same_as<insert_result>;
};
template <class F>
concept erasable_with_remote = erasable<F> && requires(F f, digest d, remote_ref stored) {
  { f.erase(d, stored) } -> std::same_as<erase_result>;
};

template <class F>
concept counting = filter_type<F> && requires(const F c, digest d) {
  { c.count(d) } -> std::same_as<std::uint64_t>;
};

// Adapts by asking a remote for the digests that are really stored, ...
template <class F>
concept adaptive_with_remote = filter_type<F> && requires(F f, digest d, remote_ref stored) {
  { f.adapt(d, stored) } -> std::same_as<adapt_result>;
};

// ... or out of slow memory of its own (a mirror, shadows).
template <class F>
concept adaptive_alone = filter_type<F> && requires(F f, digest d) {
  { f.adapt(d) } -> std::same_as<adapt_result>;
};

template <class F>
concept adaptive = adaptive_with_remote<F> || adaptive_alone<F>;

// What is in stays in, for as long as the filter lives: nothing is erased, no entry ever says less than it did.
template <class F>
concept accumulating = filter_type<F> && !erasable<F> && !adaptive<F>;

// Inserts a digest that is not in as far as the filter can tell; `present` otherwise, with nothing changed.
template <accumulating F>
insert_result insert_if_absent(F& f, digest d) {
  return f.may_contain(d) ? insert_result::present : f.insert(d);
}

template <class F>
concept expandable = filter_type<F> && requires(F f) {
  { f.expand() } -> std::same_as<status>;
};

// After a true positive, the entry that answered for the key can be made as good as a new one.  Requires: the key is in.
template <class F>
concept rejuvenating = filter_type<F> && requires(F f, digest d) {
  f.rejuvenate(d);
};

template <class F>
concept clearable = filter_type<F> && requires(const F c) {
  { c.emptied() } -> std::same_as<result<F>>;
};

template <class F>
concept mergeable = filter_type<F> && requires(F f, const F other) {
  { f.merge(other) } -> std::same_as<status>;
};

// Merges better, or at all, with a remote at hand that holds all keys of both.
template <class F>
concept mergeable_with_remote = filter_type<F> && requires(F f, const F other, remote_ref stored) {
  { f.merge(other, stored) } -> std::same_as<status>;
};

struct capabilities {
  bool erase = false;
  bool count = false;
  bool adapt = false;
  bool expand = false;
  bool merge = false;
  bool rejuvenate = false;
};

// What F can do, from the concepts above.
template <filter_type F>
constexpr capabilities capabilities_of() {
  return {erasable<F>, counting<F>, adaptive<F>, expandable<F>, mergeable<F>, rejuvenating<F>};
}

}  // namespace tamis
