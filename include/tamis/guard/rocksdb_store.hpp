#pragma once

// A store in a directory, kept by RocksDB inside this process. Column families: `data` (big-endian digest, then key → value),
// `oplog` (records), `meta` (rows) and, if it is ordered, `order` (key → digest). RocksDB's own Bloom filter is off: the filter
// in front of the store replaces it.
//
// The directory is ours alone: it holds `db` (RocksDB), `filter` (snapshots) and, during a bulk load, `load`.

#include <cstdint>
#include <memory>

#include "tamis/guard/store.hpp"

namespace tamis {

struct rocksdb_options {
  std::uint64_t block_bytes = 4096;                      // what a read of one entry costs; 16 KiB where runs are long
  std::uint64_t cache_bytes = std::uint64_t{8} << 20;    // of blocks
  std::uint64_t buffer_bytes = std::uint64_t{64} << 20;  // written entries kept in memory before they go to a file
  bool direct_reads = false;                             // past the operating system's cache: for measuring
  double bloom_bits_per_key = 0;                         // of RocksDB's own filter: for comparing; 0 is off
  bool ordered = false;  // of a new store: also keep the keys in their own order, for scan_keys; a second write per key
  // Only look: nothing is written, nothing is locked, and what another process writes after the opening is not seen.
  bool read_only = false;
  bool counting = false;  // keep the counts of `counts()`, for a few per cent of speed
};

// What RocksDB counted since it was opened.
struct rocksdb_counts {
  std::uint64_t blocks_read = 0;      // data blocks that were not in RocksDB's cache
  std::uint64_t bloom_negatives = 0;  // lookups that its own filter answered
  std::uint64_t bloom_positives = 0;  // lookups that it let through,
  std::uint64_t bloom_true = 0;       // and those of them that found their key
};

class rocksdb_store final : public store {
 public:
  // Opens the store in `directory`, which is made if it is not there.
  static result<std::unique_ptr<rocksdb_store>> open(const std::string& directory, const rocksdb_options& options = {});
  ~rocksdb_store() override;

  std::string name() const override;
  std::string snapshot_directory() const override;
  bool is_read_only() const override;
  result<bool> contains(const located_key& at) const override;
  result<std::optional<std::string>> get(const located_key& at) const override;
  status get_many(std::span<const located_key> keys, std::span<std::optional<std::string>> out) const override;
  status scan(digest_range range, scan_size size, const std::function<bool(digest)>& visit) const override;
  status write(const write_set& changes, bool sync) override;
  status sync() override;
  status ingest(std::span<const write_set::entry> entries) override;
  status checkpoint(const std::string& directory, std::span<const std::string> snapshots) override;
  status scan_keys(std::string_view first, const std::function<bool(const located_key&)>& visit) const override;
  status records(std::uint32_t stripe, std::uint64_t first,
                 const std::function<bool(const oplog_record&)>& visit) const override;
  result<std::uint64_t> last_record(std::uint32_t stripe) const override;
  result<std::vector<std::pair<std::string, std::string>>> rows(std::string_view prefix) const override;

  // Moves everything that is still in memory into files, merged into one level: for measuring.
  status settle();
  rocksdb_counts counts() const;

  // Of RocksDB's own Bloom filter: what it said about this key (true as well if the key was still in memory, where it has no
  // say), and the bytes of all its filters.  Requires: bloom_bits_per_key > 0.
  struct filtered_answer {
    bool passed;
    bool found;
  };
  // As get, without the value.
  result<filtered_answer> look_up_filtered(const located_key& at) const;
  result<std::uint64_t> bloom_bytes() const;

 private:
  struct parts;
  explicit rocksdb_store(std::unique_ptr<parts> made);
  std::unique_ptr<parts> parts_;
};

}  // namespace tamis
