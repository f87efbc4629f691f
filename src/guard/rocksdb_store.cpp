#include "tamis/guard/rocksdb_store.hpp"

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>
#include <rocksdb/table_properties.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <filesystem>

#include "rocksdb_keys.hpp"

namespace tamis {
namespace {

namespace keys = rocksdb_keys;
namespace files = std::filesystem;

constexpr std::size_t scan_read_ahead = std::size_t{2} << 20;

std::string_view view(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }
rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }

error store_error(const std::string& directory, const rocksdb::Status& reason) {
  return {directory + ": " + reason.ToString()};
}

// RocksDB says why it could not open; the two everyday reasons deserve plain words.
error open_error(const std::string& directory, const rocksdb::Status& reason) {
  const std::string text = reason.ToString();
  if (text.find("lock") != std::string::npos) return {directory + ": in use by another process"};
  if (text.find("column families") != std::string::npos || text.find("Column famil") != std::string::npos) {
    return {directory + ": a RocksDB database, but not one of tamis"};
  }
  return store_error(directory, reason);
}

// A directory with anything else in it is somebody's.
status check_directory(const std::string& directory) {
  std::error_code failed;
  const files::file_status found = files::status(directory, failed);
  if (files::exists(found) && !files::is_directory(found)) return error{directory + ": is not a directory"};
  if (files::exists(found)) {
    for (const auto& entry : files::directory_iterator(directory, failed)) {
      if (entry.path().filename() != "db" && entry.path().filename() != "filter") {
        return error{directory + ": not a store of tamis: it holds '" + entry.path().filename().string() + "'"};
      }
    }
    if (failed) return error{directory + ": cannot list: " + failed.message()};
  }
  for (const char* part : {"db", "filter"}) {
    files::create_directories(files::path(directory) / part, failed);
    if (failed) return error{directory + ": cannot create: " + failed.message()};
  }
  return {};
}

rocksdb::ColumnFamilyOptions data_options(const rocksdb_options& options) {
  rocksdb::BlockBasedTableOptions table;
  table.block_size = options.block_bytes;
  table.block_cache = rocksdb::NewLRUCache(options.cache_bytes);
  if (options.bloom_bits_per_key > 0) table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(options.bloom_bits_per_key));
  rocksdb::ColumnFamilyOptions made;
  made.write_buffer_size = options.buffer_bytes;
  made.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return made;
}

rocksdb::DBOptions database_options(const rocksdb_options& options) {
  rocksdb::DBOptions made;
  made.create_if_missing = true;
  made.create_missing_column_families = true;
  made.use_direct_reads = options.direct_reads;
  // Rarely written column families would keep every log file alive.
  made.max_total_wal_size = 4 * options.buffer_bytes;
  // After an error the store is closed and opened again. RocksDB's own attempts to go on with a log file whose writing failed
  // end in an assertion of the library (7.8.3).
  made.max_bgerror_resume_count = 0;
  made.info_log_level = rocksdb::InfoLogLevel::ERROR_LEVEL;
  made.keep_log_file_num = 2;
  if (options.counting) made.statistics = rocksdb::CreateDBStatistics();
  return made;
}

}  // namespace

struct rocksdb_store::parts {
  std::string directory;
  std::shared_ptr<rocksdb::Statistics> statistics;
  std::unique_ptr<rocksdb::DB> db;
  std::vector<rocksdb::ColumnFamilyHandle*> families;  // default, data, oplog, meta

  rocksdb::ColumnFamilyHandle* data() const { return families[1]; }
  rocksdb::ColumnFamilyHandle* oplog() const { return families[2]; }
  rocksdb::ColumnFamilyHandle* meta() const { return families[3]; }

  status answer(const rocksdb::Status& reason) const {
    if (reason.ok()) return {};
    return store_error(directory, reason);
  }
  error damaged(const char* what) const { return {directory + ": " + what + " in the database has a wrong form"}; }

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
};

rocksdb_store::rocksdb_store(std::unique_ptr<parts> made) : parts_(std::move(made)) {}

rocksdb_store::~rocksdb_store() {
  for (rocksdb::ColumnFamilyHandle* family : parts_->families) parts_->db->DestroyColumnFamilyHandle(family);
}

result<std::unique_ptr<rocksdb_store>> rocksdb_store::open(const std::string& directory, const rocksdb_options& options) {
  TAMIS_CHECK(check_directory(directory));
  auto made = std::make_unique<parts>();
  made->directory = directory;
  const rocksdb::DBOptions database = database_options(options);
  made->statistics = database.statistics;
  const std::vector<rocksdb::ColumnFamilyDescriptor> families = {
      {rocksdb::kDefaultColumnFamilyName, {}}, {"data", data_options(options)}, {"oplog", {}}, {"meta", {}}};
  rocksdb::DB* db = nullptr;
  const rocksdb::Status opened = rocksdb::DB::Open(database, directory + "/db", families, &made->families, &db);
  if (!opened.ok()) return open_error(directory, opened);
  made->db.reset(db);
  return std::unique_ptr<rocksdb_store>(new rocksdb_store(std::move(made)));
}

std::string rocksdb_store::name() const { return parts_->directory; }
std::string rocksdb_store::snapshot_directory() const { return parts_->directory + "/filter"; }

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
  rocksdb::WriteBatch batch;
  for (const auto& entry : changes.entries) {
    const std::string key = keys::of_entry(entry.at);
    const auto put = entry.value ? batch.Put(parts_->data(), key, slice(*entry.value)) : batch.Delete(parts_->data(), key);
    TAMIS_CHECK(parts_->answer(put));
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

status rocksdb_store::sync() { return parts_->answer(parts_->db->SyncWAL()); }

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
