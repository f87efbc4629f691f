// A filter in front of RocksDB. Most questions for absent keys never reach the disk; the filter is told when it was wrong, and
// survives restarts and crashes.

#include <filesystem>
#include <iostream>
#include <string>
#include <tamis/guard/guarded_store.hpp>
#include <tamis/guard/rocksdb_store.hpp>

int main(int argc, char** argv) {
  const std::string folder =
      argc > 1 ? std::string(argv[1]) : (std::filesystem::temp_directory_path() / "tamis-example-store").string();
  std::filesystem::remove_all(folder);  // an example begins anew
  const tamis::guard_options options{.filter = "evergreen", .params = {.capacity = 10'000, .fpr = 0.01}};
  {
    std::shared_ptr<tamis::store> disk = tamis::rocksdb_store::open(folder).value();
    auto users = tamis::guarded_store::open(disk, options).value();
    for (int i = 0; i < 1'000; ++i) users.put("user " + std::to_string(i), "profile " + std::to_string(i)).value();
    users.close().value();
  }
  std::shared_ptr<tamis::store> disk = tamis::rocksdb_store::open(folder).value();
  auto users = tamis::guarded_store::open(disk, options).value();
  if (users.get("user 42").value() != "profile 42") return 1;
  unsigned kept_away = 0;
  for (int i = 0; i < 1'000; ++i) kept_away += !users.may_contain("stranger " + std::to_string(i));
  std::cout << "after a restart: user 42 has " << *users.get("user 42").value() << "; " << kept_away
            << " of 1000 strangers never reach the disk\n";
  users.close().value();
  std::filesystem::remove_all(folder);
  return kept_away > 900 ? 0 : 1;
}
