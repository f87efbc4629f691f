// A store that lives until the process ends, and the guard before it, are older than the list of claimed directories, and would
// end after it if that ended at all. They give their claim back to it. A process of its own, since one in which another store
// was opened before has the list before them.

#include <rocksdb/db.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "tamis/guard/guarded_store.hpp"
#include "tamis/guard/rocksdb_store.hpp"
#include "tests/support/temporary_directory.hpp"

namespace {

// RocksDB's own globals end before any database that is older than the first opening: RocksDB aborts then. So they come first.
bool opened_another(const std::string& directory) {
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::DB* other = nullptr;
  const bool opened = rocksdb::DB::Open(options, directory, &other).ok();
  delete other;
  return opened;
}

// Ends as any program does: by returning from main().
int put(const std::string& directory) {
  if (!opened_another(directory + "-other")) return 1;
  static std::shared_ptr<tamis::rocksdb_store> behind;
  static std::optional<tamis::guarded_store> guarded;
  behind = tamis::rocksdb_store::open(directory).value();
  guarded.emplace(tamis::guarded_store::open(behind, {}).value());
  return guarded->put("a", "1") ? 0 : 1;
}

}  // namespace

int main() {
  auto place = std::make_unique<tamis::test::temporary_directory>();
  const std::string directory = *place / "store";
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    [[maybe_unused]] static const auto* const kept_for_the_parent = place.release();
    return put(directory);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) return std::puts("there is no child"), 1;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::printf("the child ended with status %d\n", status), 1;
  auto again = tamis::guarded_store::open(tamis::rocksdb_store::open(directory).value(), {}).value();
  if (again.get("a").value() != "1") return std::puts("the key is lost"), 1;
  return 0;
}
