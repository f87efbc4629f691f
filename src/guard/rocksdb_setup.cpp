#include "rocksdb_setup.hpp"

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/listener.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <filesystem>
#include <memory>
#include <regex>
#include <set>

#include "tamis/detail/io/file.hpp"

namespace tamis::rocksdb_setup {
namespace {

namespace files = std::filesystem;

// After an error nothing more is written until the store is opened again: what the failed write left in the log is unknown.
// RocksDB thinks otherwise about a full disk. As soon as there is room it takes the error back by itself, whatever
// max_bgerror_resume_count says, and goes on with the very log file whose writing failed; its next write then ends in an
// assertion (7.8.3, WritableFileWriter), which Debian's build has switched on. A fatal error is never taken back.
class final_errors final : public rocksdb::EventListener {
 public:
  void OnBackgroundError(rocksdb::BackgroundErrorReason /*reason*/, rocksdb::Status* what) override {
    if (!what->ok()) *what = rocksdb::Status(*what, rocksdb::Status::Severity::kFatalError);
  }
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason /*reason*/, rocksdb::Status /*what*/, bool* recover) override {
    *recover = false;
  }
};

// What RocksDB writes before a database is there, which begins with the file CURRENT.
bool comes_before_database(const std::string& name) {
  const auto begins = [&](const char* with) { return name.starts_with(with); };
  return name == "LOCK" || name == "IDENTITY" || begins("LOG") || begins("MANIFEST-") || begins("OPTIONS-") ||
         name.ends_with(".dbtmp");
}

// Where there is no database, the folders hold nothing, or what an opening left that was interrupted. Anything else is
// somebody's, or what is left of a store that has lost its database: RocksDB would begin a new one there, and delete.
status refuse_remains(const std::string& directory) {
  std::error_code failed;
  if (files::exists(files::path(directory) / "db" / "CURRENT", failed)) return {};
  for (const std::string part : {"db", "filter", "load"}) {
    const files::path folder = files::path(directory) / part;
    if (!files::exists(folder, failed)) continue;
    for (const auto& entry : files::directory_iterator(folder, failed)) {
      const std::string name = entry.path().filename().string();
      if (part == "db" && comes_before_database(name)) continue;
      return failure{directory + ": not a store of tamis, or a damaged one: its folder '" + part + "' holds '" + name +
                     "', but there is no database"};
    }
    if (failed) return failure{folder.string() + ": cannot list: " + failed.message(), error_code::io};
  }
  return {};
}

class silence final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char* /*format*/, va_list /*arguments*/) override {}
};

// Ours are never in the family that every database has. Looked at without writing anything.
result<bool> has_foreign_keys(const std::string& directory) {
  rocksdb::Options options;
  options.info_log = std::make_shared<silence>();
  rocksdb::DB* db = nullptr;
  if (const auto opened = rocksdb::DB::OpenForReadOnly(options, directory + "/db", &db); !opened.ok())
    return store_error(directory, opened);
  const std::unique_ptr<rocksdb::DB> closes(db);
  const std::unique_ptr<rocksdb::Iterator> at(db->NewIterator({}));
  at->SeekToFirst();
  if (!at->status().ok()) return store_error(directory, at->status());
  return at->Valid();
}

}  // namespace

failure store_error(const std::string& directory, const rocksdb::Status& reason) {
  const error_code code = reason.IsCorruption() ? error_code::damaged
                          : reason.IsNotFound() ? error_code::not_found
                                                : error_code::io;
  return {directory + ": " + reason.ToString(), code};
}

failure open_error(const std::string& directory, const rocksdb::Status& reason) {
  const std::string text = reason.ToString();
  const auto says = [&](const char* words) { return text.find(words) != std::string::npos; };
  if (says("While lock file")) return {directory + ": in use by another process", error_code::in_use};
  if (says("lock hold by current process")) return {directory + ": in use, by this very process", error_code::in_use};
  return store_error(directory, reason);
}

namespace {

status check_name(const std::string& directory) {
  if (directory.empty()) return failure{"a store needs a directory, but its name is empty"};
  if (directory.find('\0') != std::string::npos) return failure{"a directory's name cannot have a zero byte in it"};
  std::error_code failed;
  const files::file_status found = files::status(directory, failed);
  if (files::exists(found) && !files::is_directory(found)) return failure{directory + ": is not a directory"};
  if (!files::exists(found)) return {};
  for (const auto& entry : files::directory_iterator(directory, failed)) {
    const std::string name = entry.path().filename().string();
    if (name != "db" && name != "filter" && name != "load") {
      return failure{std::string(directory).append(": not a store of tamis: it holds '").append(name).append("'")};
    }
  }
  if (failed) return failure{directory + ": cannot list: " + failed.message(), error_code::io};
  return refuse_remains(directory);
}

}  // namespace

status prepare_directory(const std::string& directory) {
  TAMIS_CHECK(check_name(directory));
  std::error_code failed;
  for (const char* part : {"db", "filter"}) {
    files::create_directories(files::path(directory) / part, failed);
    if (failed) return failure{directory + ": cannot create: " + failed.message(), error_code::io};
  }
  return {};
}

status check_directory(const std::string& directory) {
  TAMIS_CHECK(check_name(directory));
  std::error_code failed;
  if (files::is_directory(files::path(directory) / "db", failed)) return {};
  return failure{directory + ": there is no store to read", error_code::not_found};
}

// Families are made one by one, `meta` as the last: a crash may have come between.
result<std::vector<std::string>> family_names(const std::string& directory, bool ordered) {
  const std::set<std::string> ours = {rocksdb::kDefaultColumnFamilyName, "data", "oplog", "order", "meta"};
  std::vector<std::string> list;
  const bool there = rocksdb::DB::ListColumnFamilies({}, directory + "/db", &list).ok();
  const std::set<std::string> found(list.begin(), list.end());
  const failure foreign{directory + ": a RocksDB database, but not one of tamis"};
  if (!std::includes(ours.begin(), ours.end(), found.begin(), found.end())) return foreign;
  if (there && !found.contains("meta")) {
    TAMIS_TRY(const bool has_keys, has_foreign_keys(directory));
    if (has_keys) return foreign;
  }
  if (there && found.contains("meta") && ordered && !found.contains("order")) {
    return failure{directory + ": was made without the order of keys, which cannot be added", error_code::unsupported};
  }
  std::vector<std::string> names = {rocksdb::kDefaultColumnFamilyName, "data", "oplog"};
  if (ordered || found.contains("order")) names.emplace_back("order");
  names.emplace_back("meta");
  return names;
}

bool put_loaded_file_back(const std::string& directory, const rocksdb::Status& missed) {
  const std::string text = missed.ToString();
  std::smatch found;
  if (text.find("No such file") == std::string::npos) return false;
  if (!std::regex_search(text, found, std::regex("/([0-9]+)\\.(ldb|sst)"))) return false;
  const files::path wanted = files::path(directory) / "db" / (found[1].str() + ".sst");
  // Families are opened in the order in which they were made, so what is missed first belongs to `data`.
  for (const char* name : {loaded_data, loaded_order}) {
    std::error_code failed;
    const files::path kept = files::path(directory) / "load" / name;
    if (!files::exists(kept, failed) || files::exists(wanted, failed)) continue;
    files::rename(kept, wanted, failed);
    return !failed;
  }
  return false;
}

void drop_loaded_files(const std::string& directory) {
  const files::path folder = files::path(directory) / "load";
  std::error_code ignored;
  for (const char* name : {loaded_data, loaded_order}) files::remove(folder / name, ignored);
  files::remove(folder, ignored);
}

namespace {

status sync_directory(const files::path& path) {
  std::unique_ptr<rocksdb::Directory> opened;
  rocksdb::Status synced = rocksdb::Env::Default()->NewDirectory(path.string(), &opened);
  if (synced.ok()) synced = opened->Fsync();
  if (!synced.ok()) return store_error(path.string(), synced);
  return {};
}

status copy_file(const std::string& from, const std::string& to) {
  TAMIS_TRY(detail::file_source source, detail::file_source::open(from));
  TAMIS_TRY(detail::file_replacement copy, detail::file_replacement::create(to));
  std::vector<std::byte> buffer(std::size_t{1} << 20);
  while (source.remaining() != 0) {
    const auto part = std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), source.remaining()));
    TAMIS_CHECK(source.read(part));
    TAMIS_CHECK(copy.write(part));
  }
  return copy.commit();
}

}  // namespace

result<std::string> begin_copy(const std::string& directory) {
  TAMIS_CHECK(check_name(directory));
  std::error_code failed;
  if (files::exists(files::symlink_status(directory, failed))) {
    return failure{directory + ": exists already, and a copy replaces nothing", error_code::invalid_argument};
  }
  static std::atomic<unsigned> counter = 0;
  const files::path target =
      files::path(directory).has_filename() ? files::path(directory) : files::path(directory).parent_path();
  std::string unfinished = target.string() + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(++counter);
  if (files::create_directory(unfinished, failed)) return unfinished;
  return failure{directory + ": cannot create a folder beside it: " + failed.message(), error_code::io};
}

status finish_copy(const std::string& unfinished, const std::string& directory, std::span<const std::string> snapshots) {
  std::error_code failed;
  const files::path filter = files::path(unfinished) / "filter";
  if (!files::create_directory(filter, failed)) return failure{filter.string() + ": cannot create", error_code::io};
  for (const std::string& snapshot : snapshots) {
    TAMIS_CHECK(copy_file(snapshot, (filter / files::path(snapshot).filename()).string()));
  }
  TAMIS_CHECK(sync_directory(unfinished));
  const files::path target =
      files::path(directory).has_filename() ? files::path(directory) : files::path(directory).parent_path();
  files::rename(unfinished, target, failed);
  if (failed) return failure{directory + ": cannot give the copy its name: " + failed.message(), error_code::io};
  return sync_directory(target.has_parent_path() ? target.parent_path() : files::path("."));
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
  made.max_bgerror_resume_count = 0;
  made.listeners.push_back(std::make_shared<final_errors>());
  made.info_log_level = rocksdb::InfoLogLevel::ERROR_LEVEL;
  made.keep_log_file_num = 2;
  if (options.counting) made.statistics = rocksdb::CreateDBStatistics();
  return made;
}

}  // namespace tamis::rocksdb_setup
