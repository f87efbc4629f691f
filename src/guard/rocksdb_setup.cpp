#include "rocksdb_setup.hpp"

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/listener.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>

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

status prepare_directory(const std::string& directory) {
  if (directory.empty()) return failure{"a store needs a directory, but its name is empty"};
  if (directory.find('\0') != std::string::npos) return failure{"a directory's name cannot have a zero byte in it"};
  std::error_code failed;
  const files::file_status found = files::status(directory, failed);
  if (files::exists(found) && !files::is_directory(found)) return failure{directory + ": is not a directory"};
  if (files::exists(found)) {
    for (const auto& entry : files::directory_iterator(directory, failed)) {
      const std::string name = entry.path().filename().string();
      if (name != "db" && name != "filter" && name != "load") {
        return failure{std::string(directory).append(": not a store of tamis: it holds '").append(name).append("'")};
      }
    }
    if (failed) return failure{directory + ": cannot list: " + failed.message(), error_code::io};
  }
  for (const char* part : {"db", "filter"}) {
    files::create_directories(files::path(directory) / part, failed);
    if (failed) return failure{directory + ": cannot create: " + failed.message(), error_code::io};
  }
  return {};
}

// Families are made one by one, `meta` as the last: a crash may have come between.
result<std::vector<std::string>> family_names(const std::string& directory, bool ordered) {
  const std::set<std::string> ours = {rocksdb::kDefaultColumnFamilyName, "data", "oplog", "order", "meta"};
  std::vector<std::string> list;
  const bool there = rocksdb::DB::ListColumnFamilies({}, directory + "/db", &list).ok();
  const std::set<std::string> found(list.begin(), list.end());
  if (!std::includes(ours.begin(), ours.end(), found.begin(), found.end())) {
    return failure{directory + ": a RocksDB database, but not one of tamis"};
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
