#pragma once

// What happens to directories: copies, power cuts, damage.

#include <cstdint>
#include <filesystem>
#include <string>

namespace tamis::crash {

// An empty directory in memory if the system has one (thousands of runs), otherwise on disk; goes away with the object.
class scratch {
 public:
  scratch();
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  ~scratch();
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

void copy_directory(const std::string& from, const std::string& to);

// Everything that is there now counts as synced.
void begin_shadow(const std::string& root, const std::string& shadow);

// strict: only what was synced is left. ragged: of every file also a part, cut anywhere, of what was written but not synced,
// and the names of a directory either as they were synced or as they are.
enum class power { stays, strict, ragged };
void cut_power(const std::string& root, const std::string& shadow, power how, std::uint64_t seed);

// The n-th newest snapshot of the store in `root`, 0 being the newest.
std::filesystem::path snapshot_file(const std::string& root, std::size_t n);
void flip_bytes(const std::filesystem::path& file, std::uint64_t seed);
void truncate_file(const std::filesystem::path& file, std::uint64_t seed);

}  // namespace tamis::crash
