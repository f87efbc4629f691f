#pragma once

// What is settled before a RocksDB store is there: its directory, its options, and the words for what went wrong.

#include <rocksdb/options.h>
#include <rocksdb/status.h>

#include <span>
#include <string>
#include <vector>

#include "tamis/guard/rocksdb_store.hpp"

namespace tamis::rocksdb_setup {

failure store_error(const std::string& directory, const rocksdb::Status& reason);
// RocksDB says why it could not open; the everyday reasons deserve plain words.
failure open_error(const std::string& directory, const rocksdb::Status& reason);

// Makes the directory if it is not there; refuses an empty name, which would be the root of the file system, and what may be
// somebody's: a directory with anything else in it, or with files in its folders but no database that they could belong to.
status prepare_directory(const std::string& directory);
// The same for one that is only read: it has to be there.
status check_directory(const std::string& directory);

// Which column families to open: those that are there, or those of a new store. Refuses a database that is not ours: one that
// has other families, or keys where ours has none.
result<std::vector<std::string>> family_names(const std::string& directory, bool ordered);

// Files of a bulk load, in the folder `load`.
inline constexpr const char* loaded_data = "data";
inline constexpr const char* loaded_order = "order";
void drop_loaded_files(const std::string& directory);  // and the folder, if nothing else is in it
// RocksDB 7.8 deletes a file that it was to take over if it then could not write its manifest to the end, although the manifest
// may name the file, and such a database does not open. The file is still in `load`. True if one was put where it is missed.
bool put_loaded_file_back(const std::string& directory, const rocksdb::Status& missed);

// A copy of a store: a folder beside the place where it will be, which must be free, and then, with these snapshots in it and
// all of it durable, its name.
result<std::string> begin_copy(const std::string& directory);
status finish_copy(const std::string& unfinished, const std::string& directory, std::span<const std::string> snapshots);

rocksdb::DBOptions database_options(const rocksdb_options& options);
rocksdb::ColumnFamilyOptions data_options(const rocksdb_options& options);

}  // namespace tamis::rocksdb_setup
