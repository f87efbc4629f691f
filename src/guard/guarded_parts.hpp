#pragma once

// The inside of a guarded_store: guarded_changes.cpp, guarded_load.cpp, guarded_queries.cpp, guarded_snapshot.cpp,
// guarded_recovery.cpp (opening) and guarded_parts.cpp (the rest).

#include <memory>
#include <new>
#include <thread>

#include "filter_maker.hpp"
#include "repeats.hpp"
#include "snapshot.hpp"
#include "stripe.hpp"
#include "tamis/guard/guarded_store.hpp"
#include "thread_counts.hpp"

namespace tamis {

// What `attempt` says; an error if it runs out of memory, short enough to need none.
template <class Attempt>
status or_no_memory(Attempt attempt) {
  try {
    return attempt();
  } catch (const std::bad_alloc&) {
    return failure{"out of memory", error_code::no_memory};
  }
}

// What is settled when a store is made: its configuration, and the hash of its keys.
struct store_settings {
  store_config config;
  hasher hash;
  bool is_new = false;  // not in the store yet
};
// The settings of a store, or those of a new one. Refuses a store that was filled through another hash than the given one, and
// a secret that has to be given and is not.
result<store_settings> find_settings(const store& behind, const guard_options& options);

class guarded_store::parts {
 public:
  parts(store_claim behind, const guard_options& options, const store_settings& settings);
  ~parts();
  parts(const parts&) = delete;
  parts& operator=(const parts&) = delete;

  struct change {
    std::string_view key;
    std::optional<std::string_view> value;  // none: erase
    digest hash{};
    std::uint32_t stripe = 0;
    bool stored = false;  // was the key in the store before?
  };

  // Guarded_recovery.cpp. Requires: called once, before anything else.
  status recover();
  void wait_until_ready();

  // Applies all or nothing; says how many keys were erased.
  result<std::uint64_t> apply(std::vector<change> changes);
  // Guarded_load.cpp.  Requires: all are puts.
  status load(std::vector<change> changes);

  result<std::optional<std::string>> get(std::string_view key);
  std::vector<result<std::optional<std::string>>> multi_get(std::span<const byte_view> keys);
  bool may_contain(std::string_view key) const;
  status scan_keys(std::string_view first, const std::function<bool(std::string_view, std::string_view)>& visit) const;

  status snapshot();
  status checkpoint(const std::string& directory);
  status close();

  const hasher& hash() const { return settings_.hash; }
  guard_stats stats() const;
  const recovery_report& recovered() const { return recovered_; }
  memory_bits bits() const;
  std::uint32_t stripes() const { return map_.count(); }
  double expected_fpr() const;

 private:
  struct query {
    digest hash;
    std::uint64_t inserts = 0;  // of the stripe, before its filter was asked
    std::uint64_t erases = 0;   // the same
    std::size_t index = 0;      // in its batch
    stripe::answer answered = stripe::answer::maybe;
  };

  bool skips(protocol_step step) const { return skipped(options_.skipped_steps, step); }
  stripe& home(digest d) const { return stripes_[map_.index(d)]; }

  // Changes.
  status usable() const;
  void locate(std::vector<change>& changes) const;
  std::vector<std::unique_lock<std::mutex>> lock_all(const std::vector<change>& changes);
  status look_up(std::vector<change>& changes) const;
  status cover(const std::vector<change>& changes);
  std::optional<digest> cover_stripe(std::span<const change> changes);
  result<bool> is_crowded(digest left_out, std::span<const change> changes, bool is_new);
  bool insert(stripe& where, digest local, std::uint64_t coming) const;
  void uncover(const std::vector<change>& changes);
  status commit(const std::vector<change>& changes);
  status write_to_store(const write_set& set);
  // Changes the store. After a failure, and if the store throws, nobody knows what it has done: no number of a record may be
  // given again, so nothing more is changed until the store is opened anew.
  template <class Work>
  status change_store(Work work) {
    try {
      status changed = work();
      if (!changed) broken_ = true;
      return changed;
    } catch (...) {
      broken_ = true;
      throw;
    }
  }
  std::uint64_t count(const std::vector<change>& changes);

  // Bulk loads.
  status load_locked(std::vector<change>& changes);
  status mark_load();
  status end_load();  // Requires: every stripe's `writing` is held
  result<bool> load_was_interrupted() const;

  // Queries.
  std::vector<query> sift(std::span<const byte_view> keys) const;
  void judge(const query& asked, std::string_view key, bool found);
  void adapt(const query& asked, std::string_view key);
  bool came_meanwhile(const query& asked, std::string_view key, std::uint64_t& version);
  bool try_to_adapt(stripe& where, digest hash, const stripe_remote& stored, detail::fetched_digests& have,
                    detail::fetched_digests::missing& lacks);
  void distrust(stripe& where, std::uint32_t index);
  void rejuvenate(const query& asked);

  // Filters.  Requires: the stripe's `writing` is held.
  struct growth {
    std::uint64_t room = 0;  // for new keys
    bool larger = false;     // than the filter before, in any case
  };
  status rebuild(std::uint32_t index, growth wish, const std::function<bool()>& go_on);
  status rebuild(std::uint32_t index, growth wish);

  // Snapshots.
  bool snapshot_due() const;
  void snapshot_if_due();
  status take_snapshot();  // Requires: `snapshotting_` is held
  result<snapshot_content> capture();
  status publish(const manifest_row& row);
  void trim(const manifest_row& oldest);

  // Recovery.
  status try_filter();
  status keep_settings();
  status read_manifest();
  result<bool> is_untouched() const;
  std::uint64_t named_record(std::uint32_t index) const;
  void begin_anew();
  bool restore_any();
  status restore(const manifest_row& row);
  result<std::vector<any_filter>> load_segments(snapshot_content& content) const;
  status replay(std::uint32_t index, std::uint64_t number, any_filter& filter);
  status take_numbers();
  status make_empty();
  void rebuild_all(const std::stop_token& stop);

  store_claim behind_;  // first: it outlives everything that uses the store
  guard_options options_;
  store_settings settings_;
  stripe_map map_;
  filter_maker maker_;
  std::unique_ptr<stripe[]> stripes_;
  repeats repeats_;
  mutable thread_counts counts_;
  bool can_adapt_ = false;
  bool adapts_itself_ = false;  // also without a list of known mistakes
  bool can_erase_ = false;
  bool can_expand_ = false;
  bool can_rejuvenate_ = false;

  std::atomic<bool> broken_ = false;  // a write failed: its outcome is unknown
  std::atomic<std::uint64_t> keys_ = 0;
  std::atomic<std::uint64_t> records_ = 0;       // since the last snapshot
  std::atomic<std::uint64_t> next_attempt_ = 0;  // no automatic snapshot before there are so many
  std::atomic<std::uint64_t> snapshots_ = 0;
  std::atomic<std::uint64_t> failed_snapshots_ = 0;

  std::mutex snapshotting_;         // guards what follows
  std::vector<manifest_row> kept_;  // the older one first
  std::uint64_t generation_ = 0;    // the newest that was ever in the manifest

  std::vector<std::string> manifest_;  // names of the rows that were there at opening
  recovery_report recovered_;
  enum class filter_state { rebuilding, ready, incomplete };
  std::atomic<filter_state> state_ = filter_state::ready;
  std::jthread rebuilder_;  // last: it ends before anything it uses
};

}  // namespace tamis
