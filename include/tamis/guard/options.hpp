#pragma once

// What a guarded_store is told when it is opened, and what it tells.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tamis/hasher.hpp"
#include "tamis/params.hpp"

namespace tamis {

class registry;

// Steps of the protocol that tests leave out one by one, to see that the crash harness notices. Never skip one in earnest.
enum class protocol_step : std::uint32_t {
  one_write = 1 << 0,            // data and record in one atomic write
  late_filter_erase = 1 << 1,    // erase: the store first, then the filter
  early_filter_insert = 1 << 2,  // put: the filter first, then the store
  own_numbers = 1 << 3,          // each segment of a snapshot has its own number, records up to it are not replayed
  gap_check = 1 << 4,            // records must be complete
  file_sync = 1 << 5,            // the snapshot's file is synced before it is named in the manifest
  file_checks = 1 << 6,          // checksum, identity and generation of a snapshot must be those of the manifest
  file_first = 1 << 7,           // the manifest names a snapshot only after its file is in place
  older_trim = 1 << 8,           // records are trimmed to the older of the kept generations
  hash_check = 1 << 9,           // a store filled through another hash is refused
  load_marker = 1 << 10,         // a bulk load leaves a marker in the store until it is done
  load_gap = 1 << 11,            // after a bulk load the records have a gap, which makes older snapshots useless
};

struct guard_options {
  // An id, or "ID+mistakes". A filter that does not adapt by itself has a list of known mistakes, of a 64th of the capacity,
  // unless the option `mistakes` in params says how many entries the store gets (0: no list). With a rate the list comes on top
  // of the filter, at about 2.3 bits per key; bits per key pay for both. A filter that adapts by itself has a list only where
  // it is asked for, and lists what it cannot fix.
  std::string filter = "evergreen";
  // Of the whole store; the capacity is divided among the stripes. All filters, also those that are loaded or rebuilt, take
  // their tables from params.memory; nullptr: from the memory that is in force when the store is opened.
  filter_params params = {.capacity = 1'000'000, .fpr = 0.01};
  // None: the one that the store was made with. A new store draws a secret for the keyed hash and keeps it, so that strangers
  // cannot make up keys of equal digests. hasher() is the fast one, for keys that no stranger chooses. A given secret is not
  // kept: whoever gives one has to give it at every opening.
  std::optional<hasher> hash = std::nullopt;
  const registry* known = nullptr;  // filters by id; nullptr: those that tamis comes with

  std::uint32_t stripes = 0;  // of a new store: a power of two up to 256; 0: chosen from the capacity
  bool sync = false;          // false: an acknowledged write survives the death of the process; true: also a power cut

  // A snapshot is taken by the writer that brings the records since the last one to
  // max(snapshot_least, snapshot_share · keys): replaying a record costs about as much as scanning a key.
  bool snapshots = true;
  std::uint64_t snapshot_least = 10'000;
  double snapshot_share = 0.25;

  bool rejuvenate = true;  // after a true positive, a filter that can is told the key's bits again; a busy stripe is left alone

  // Where no snapshot can be used: true: a thread scans the store and fills the filters, and until it is done they answer
  // "maybe"; false: no thread is ever started, and open does it before it returns.
  bool background_rebuild = true;
  // Slots, at most 2^26 of 8 bytes, of the table that tells repeated false positives from first-time ones: for statistics.
  std::uint32_t repeat_detection_slots = 1 << 16;

  std::uint32_t skipped_steps = 0;  // for tests: protocol_step values, added up
};

// Which way the filter came back.
enum class recovery_way { created, snapshot, older_snapshot, rebuilt };
std::string_view to_string(recovery_way way);

struct recovery_report {
  recovery_way way = recovery_way::created;
  std::uint64_t generation = 0;  // of the snapshot that was used
  std::uint64_t replayed = 0;    // records
  std::string reason;            // why a newer snapshot, or any, could not be used
};

struct guard_stats {
  std::uint64_t queries = 0;
  std::uint64_t negatives = 0;  // answered by the filter alone
  // A "maybe" whose key was not in the store. Repeated: the same digest was the last mistake remembered in its slot of a table
  // of fixed size, so a mistake that was pushed out by others counts as first-time again: repeated is a lower bound.
  std::uint64_t first_false_positives = 0;
  std::uint64_t repeated_false_positives = 0;
  std::uint64_t unguarded = 0;         // queries while a stripe's filter was being rebuilt
  std::uint64_t store_reads = 0;       // of entries, on behalf of queries
  std::uint64_t adaptations = 0;       // mistakes that the filter fixed, or listed as known
  std::uint64_t known_mistakes = 0;    // in the lists now
  std::uint64_t unfixable = 0;         // mistakes that the filter could not fix
  std::uint64_t adaptations_left = 0;  // given up because a writer held the stripe
  std::uint64_t rejuvenations = 0;     // true positives that the filter was told of
  std::uint64_t left_behind = 0;       // erased from the store, still in a filter that cannot erase
  std::uint64_t rebuilds = 0;          // of stripes
  std::uint64_t snapshots = 0;
  std::uint64_t failed_snapshots = 0;
  std::uint64_t records_since_snapshot = 0;
};

}  // namespace tamis
