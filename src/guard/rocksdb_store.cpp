#include "tamis/guard/rocksdb_store.hpp"

#include <rocksdb/db.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table_properties.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <filesystem>

#include "directory_claim.hpp"
#include "rocksdb_keys.hpp"
#include "rocksdb_setup.hpp"

namespace tamis {
namespace {

namespace keys = rocksdb_keys;
using rocksdb_setup::store_error;

constexpr std::size_t scan_read_ahead = std::size_t{2} << 20;

std::string_view view(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }
rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

struct rocksdb_store::parts {
  directory_claim claim;  // of a store that writes: ends after everything that uses its files
  std::string directory;  // as it was called, for messages
  std::string root;       // its absolute_path(), for files
  bool read_only = false;
  std::shared_ptr<rocksdb::Statistics> statistics;
  std::unique_ptr<rocksdb::DB> db;
  std::vector<rocksdb::ColumnFamilyHandle*> families;  // default, data, oplog, perhaps order, meta

  rocksdb::ColumnFamilyHandle* data() const { return families[1]; }
  rocksdb::ColumnFamilyHandle* oplog() const { return families[2]; }
  rocksdb::ColumnFamilyHandle* order() const { return families.size() == 5 ? families[3] : nullptr; }
  rocksdb::ColumnFamilyHandle* meta() const { return families.back(); }

  status answer(const rocksdb::Status& reason) const {
    if (reason.ok()) return {};
    return store_error(directory, reason);
  }
  status writable() const {
    if (!read_only) return {};
    return failure{directory + ": is open for reading only", error_code::unsupported};
  }
  failure damaged(const char* what) const {
    return {directory + ": " + what + " in the database has a wrong form", error_code::damaged};
  }

  // Calls `visit` with key and value from `first` on; `bound`, if given, is the first key that no longer belongs.
  status walk(rocksdb::ColumnFamilyHandle* family, const std::string& first, const std::optional<std::string>& bound,
              scan_size size, const std::function<bool(std::string_view, std::string_view)>& visit) const {
    rocksdb::ReadOptions options;
    options.total_order_seek = true;
    rocksdb::Slice upper;
    if (bound) {
      upper = *bound;
      options.iterate_upper_bound = &upper;
    }
    if (size == scan_size::many) {
      options.readahead_size = scan_read_ahead;
      options.fill_cache = false;
    }
    const std::unique_ptr<rocksdb::Iterator> at(db->NewIterator(options, family));
    for (at->Seek(first); at->Valid(); at->Next()) {
      if (!visit(view(at->key()), view(at->value()))) break;
    }
    return answer(at->status());
  }

  // A file of entries that RocksDB can take over. `pair_of` gives key and value as they stand in the family.
  template <class PairOf>
  result<rocksdb::IngestExternalFileArg> table_file(const std::string& path, rocksdb::ColumnFamilyHandle* family,
                                                    std::span<const write_set::entry> entries, PairOf pair_of) const {
    rocksdb::SstFileWriter file(rocksdb::EnvOptions(), db->GetOptions(family), family);
    TAMIS_CHECK(answer(file.Open(path)));
    for (const write_set::entry& entry : entries) {
      const auto [key, value] = pair_of(entry);
      TAMIS_CHECK(answer(file.Put(key, value)));
    }
    TAMIS_CHECK(answer(file.Finish()));
    rocksdb::IngestExternalFileArg made;
    made.column_family = family;
    made.external_files = {path};
    made.options.move_files = true;
    return made;
  }
};

rocksdb_store::rocksdb_store(std::unique_ptr<parts> made) : parts_(std::move(made)) {}

rocksdb_store::~rocksdb_store() {
  for (rocksdb::ColumnFamilyHandle* family : parts_->families) parts_->db->DestroyColumnFamilyHandle(family);
}

result<std::unique_ptr<rocksdb_store>> rocksdb_store::open(const std::string& directory, const rocksdb_options& options) {
  TAMIS_CHECK(options.read_only ? rocksdb_setup::check_directory(directory) : rocksdb_setup::prepare_directory(directory));
  auto made = std::make_unique<parts>();
  made->directory = directory;
  made->read_only = options.read_only;
  if (options.read_only) {
    TAMIS_TRY(made->root, absolute_path(directory));
  } else {
    TAMIS_TRY(made->claim, directory_claim::take(directory));
    made->root = made->claim.path();
  }
  const rocksdb::DBOptions database = rocksdb_setup::database_options(options);
  made->statistics = database.statistics;
  TAMIS_TRY(const std::vector<std::string> names, rocksdb_setup::family_names(directory, options.ordered));
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  families.reserve(names.size());
  for (const std::string& name : names) {
    families.emplace_back(name, name == "data" ? rocksdb_setup::data_options(options) : rocksdb::ColumnFamilyOptions());
  }
  rocksdb::DB* db = nullptr;
  const std::string path = made->root + "/db";
  const auto open_it = [&] {
    if (options.read_only) return rocksdb::DB::OpenForReadOnly(database, path, families, &made->families, &db);
    return rocksdb::DB::Open(database, path, families, &made->families, &db);
  };
  rocksdb::Status opened = open_it();
  while (!opened.ok() && !options.read_only && rocksdb_setup::put_loaded_file_back(made->root, opened)) opened = open_it();
  if (!opened.ok()) return rocksdb_setup::open_error(directory, opened);
  made->db.reset(db);
  if (!options.read_only) rocksdb_setup::drop_loaded_files(made->root);  // left by a load that was interrupted
  return std::unique_ptr<rocksdb_store>(new rocksdb_store(std::move(made)));
}

std::string rocksdb_store::name() const { return parts_->directory; }
std::string rocksdb_store::snapshot_directory() const { return parts_->root + "/filter"; }
bool rocksdb_store::is_read_only() const { return parts_->read_only; }

result<bool> rocksdb_store::contains(const located_key& at) const {
  rocksdb::PinnableSlice value;
  const auto found = parts_->db->Get(rocksdb::ReadOptions(), parts_->data(), slice(keys::of_entry(at)), &value);
  if (found.IsNotFound()) return false;
  if (!found.ok()) return store_error(parts_->directory, found);
  return true;
}

result<std::optional<std::string>> rocksdb_store::get(const located_key& at) const {
  std::string value;
  const auto found = parts_->db->Get(rocksdb::ReadOptions(), parts_->data(), slice(keys::of_entry(at)), &value);
  if (found.IsNotFound()) return std::optional<std::string>();
  if (!found.ok()) return store_error(parts_->directory, found);
  return std::optional(std::move(value));
}

status rocksdb_store::get_many(std::span<const located_key> wanted, std::span<std::optional<std::string>> out) const {
  std::vector<std::string> texts;
  texts.reserve(wanted.size());
  for (const located_key& at : wanted) texts.push_back(keys::of_entry(at));
  const std::vector<rocksdb::Slice> slices(texts.begin(), texts.end());
  std::vector<rocksdb::PinnableSlice> values(wanted.size());
  std::vector<rocksdb::Status> found(wanted.size());
  parts_->db->MultiGet(rocksdb::ReadOptions(), parts_->data(), slices.size(), slices.data(), values.data(), found.data());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!found[i].ok() && !found[i].IsNotFound()) return store_error(parts_->directory, found[i]);
    out[i] = found[i].ok() ? std::optional(values[i].ToString()) : std::nullopt;
  }
  return {};
}

status rocksdb_store::scan(digest_range range, scan_size size, const std::function<bool(digest)>& visit) const {
  bool whole = true;
  TAMIS_CHECK(parts_->walk(parts_->data(), keys::of_digest(range.first), keys::behind(range.last), size,
                           [&](std::string_view key, std::string_view /*value*/) {
                             const std::optional<digest> found = keys::digest_at(key, 0);
                             whole = found.has_value();
                             return whole && visit(*found);
                           }));
  if (!whole) return parts_->damaged("an entry");
  return {};
}

status rocksdb_store::write(const write_set& changes, bool sync) {
  TAMIS_CHECK(parts_->writable());
  rocksdb::WriteBatch batch;
  for (const auto& entry : changes.entries) {
    const std::string key = keys::of_entry(entry.at);
    const auto put = entry.value ? batch.Put(parts_->data(), key, slice(*entry.value)) : batch.Delete(parts_->data(), key);
    TAMIS_CHECK(parts_->answer(put));
    if (parts_->order() == nullptr) continue;
    const auto order = entry.value ? batch.Put(parts_->order(), slice(entry.at.key), keys::of_digest(entry.at.hash))
                                   : batch.Delete(parts_->order(), slice(entry.at.key));
    TAMIS_CHECK(parts_->answer(order));
  }
  for (const auto& record : changes.records) {
    TAMIS_CHECK(
        parts_->answer(batch.Put(parts_->oplog(), keys::of_record(record.stripe, record.number), keys::record_value(record))));
  }
  for (const auto& row : changes.rows) {
    TAMIS_CHECK(
        parts_->answer(row.text ? batch.Put(parts_->meta(), row.name, *row.text) : batch.Delete(parts_->meta(), row.name)));
  }
  for (const auto& trim : changes.trims) {
    if (trim.first >= trim.end) continue;
    TAMIS_CHECK(parts_->answer(
        batch.DeleteRange(parts_->oplog(), keys::of_record(trim.stripe, trim.first), keys::of_record(trim.stripe, trim.end))));
  }
  rocksdb::WriteOptions options;
  options.sync = sync;
  return parts_->answer(parts_->db->Write(options, &batch));
}

// Not SyncWAL: that goes past the queue of writers, and if a write fails meanwhile it syncs a log file in which RocksDB wants
// to be left alone (an assertion). A synced write that says nothing waits for its turn and is told of the error.
status rocksdb_store::sync() {
  TAMIS_CHECK(parts_->writable());
  rocksdb::WriteBatch nothing;
  TAMIS_CHECK(parts_->answer(nothing.PutLogData("")));
  rocksdb::WriteOptions options;
  options.sync = true;
  return parts_->answer(parts_->db->Write(options, &nothing));
}

status rocksdb_store::ingest(std::span<const write_set::entry> entries) {
  TAMIS_CHECK(parts_->writable());
  if (entries.empty()) return {};
  const std::string folder = parts_->root + "/load";
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return failure{folder + ": cannot create: " + failed.message(), error_code::io};
  std::vector<rocksdb::IngestExternalFileArg> files;
  TAMIS_TRY(files.emplace_back(),
            parts_->table_file(folder + "/" + rocksdb_setup::loaded_data, parts_->data(), entries,
                               [](const auto& e) { return std::pair(keys::of_entry(e.at), std::string(*e.value)); }));
  if (parts_->order() != nullptr) {
    std::vector<write_set::entry> by_key(entries.begin(), entries.end());
    std::sort(by_key.begin(), by_key.end(), [](const auto& a, const auto& b) { return a.at.key < b.at.key; });
    TAMIS_TRY(files.emplace_back(),
              parts_->table_file(folder + "/" + rocksdb_setup::loaded_order, parts_->order(), by_key,
                                 [](const auto& e) { return std::pair(std::string(e.at.key), keys::of_digest(e.at.hash)); }));
  }
  // After a failure they stay: the next opening may need them.
  TAMIS_CHECK(parts_->answer(parts_->db->IngestExternalFiles(files)));
  rocksdb_setup::drop_loaded_files(parts_->root);
  return {};
}

// RocksDB links the files that do not change any more, and copies its log; so a checkpoint on the same file system takes hardly
// any room. It gets its name when all of it is there.
status rocksdb_store::checkpoint(const std::string& directory, std::span<const std::string> snapshots) {
  TAMIS_CHECK(parts_->writable());
  TAMIS_TRY(const std::string unfinished, rocksdb_setup::begin_copy(directory));
  const auto make = [&]() -> status {
    rocksdb::Checkpoint* made = nullptr;
    TAMIS_CHECK(parts_->answer(rocksdb::Checkpoint::Create(parts_->db.get(), &made)));
    const std::unique_ptr<rocksdb::Checkpoint> owned(made);
    TAMIS_CHECK(parts_->answer(owned->CreateCheckpoint(unfinished + "/db")));
    return rocksdb_setup::finish_copy(unfinished, directory, snapshots);
  };
  const status done = make();
  std::error_code ignored;
  if (!done) std::filesystem::remove_all(unfinished, ignored);
  return done;
}

status rocksdb_store::scan_keys(std::string_view first, const std::function<bool(const located_key&)>& visit) const {
  if (parts_->order() == nullptr) return store::scan_keys(first, visit);
  bool whole = true;
  TAMIS_CHECK(parts_->walk(parts_->order(), std::string(first), std::nullopt, scan_size::few,
                           [&](std::string_view key, std::string_view value) {
                             const std::optional<digest> hash = keys::digest_at(value, 0);
                             whole = hash.has_value();
                             return whole && visit({*hash, key});
                           }));
  if (!whole) return parts_->damaged("a key");
  return {};
}

status rocksdb_store::records(std::uint32_t stripe, std::uint64_t first,
                              const std::function<bool(const oplog_record&)>& visit) const {
  bool whole = true;
  TAMIS_CHECK(parts_->walk(parts_->oplog(), keys::of_record(stripe, first), keys::of_record(stripe + 1, 0), scan_size::many,
                           [&](std::string_view key, std::string_view value) {
                             const std::optional<oplog_record> record = keys::record_of(key, value);
                             whole = record.has_value();
                             return whole && visit(*record);
                           }));
  if (!whole) return parts_->damaged("a record");
  return {};
}

result<std::uint64_t> rocksdb_store::last_record(std::uint32_t stripe) const {
  // Trimming keeps a stripe's last record, so going back from the end does not wade through what was trimmed.
  rocksdb::ReadOptions options;
  options.total_order_seek = true;
  const std::unique_ptr<rocksdb::Iterator> at(parts_->db->NewIterator(options, parts_->oplog()));
  at->SeekForPrev(keys::of_record(stripe, ~std::uint64_t{0}));
  TAMIS_CHECK(parts_->answer(at->status()));
  if (!at->Valid()) return std::uint64_t{0};
  const std::optional<oplog_record> record = keys::record_of(view(at->key()), view(at->value()));
  if (!record) return parts_->damaged("a record");
  return record->stripe == stripe ? record->number : std::uint64_t{0};
}

result<std::vector<std::pair<std::string, std::string>>> rocksdb_store::rows(std::string_view prefix) const {
  std::vector<std::pair<std::string, std::string>> found;
  TAMIS_CHECK(parts_->walk(parts_->meta(), std::string(prefix), std::nullopt, scan_size::few,
                           [&](std::string_view key, std::string_view value) {
                             if (!key.starts_with(prefix)) return false;
                             found.emplace_back(key, value);
                             return true;
                           }));
  return found;
}

status rocksdb_store::settle() {
  TAMIS_CHECK(parts_->answer(parts_->db->Flush(rocksdb::FlushOptions(), parts_->families)));
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  return parts_->answer(parts_->db->CompactRange(options, parts_->data(), nullptr, nullptr));
}

result<rocksdb_store::filtered_answer> rocksdb_store::look_up_filtered(const located_key& at) const {
  // The counts of this thread: cheaper than those of the whole database, and nobody else's lookups are in them.
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
  const auto& counted = *rocksdb::get_perf_context();
  const std::uint64_t before = counted.bloom_sst_hit_count;
  TAMIS_TRY(const bool found, contains(at));
  return filtered_answer{found || counted.bloom_sst_hit_count != before, found};
}

result<std::uint64_t> rocksdb_store::bloom_bytes() const {
  rocksdb::TablePropertiesCollection tables;
  TAMIS_CHECK(parts_->answer(parts_->db->GetPropertiesOfAllTables(parts_->data(), &tables)));
  std::uint64_t sum = 0;
  for (const auto& [name, properties] : tables) sum += properties->filter_size;
  return sum;
}

rocksdb_counts rocksdb_store::counts() const {
  if (!parts_->statistics) return {};
  const auto ticker = [this](rocksdb::Tickers which) { return parts_->statistics->getTickerCount(which); };
  return {ticker(rocksdb::BLOCK_CACHE_DATA_MISS), ticker(rocksdb::BLOOM_FILTER_USEFUL),
          ticker(rocksdb::BLOOM_FILTER_FULL_POSITIVE), ticker(rocksdb::BLOOM_FILTER_FULL_TRUE_POSITIVE)};
}

}  // namespace tamis
