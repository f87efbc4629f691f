#include "disk.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "tamis/detail/base/random.hpp"

namespace tamis::crash {

using namespace detail;

namespace {

namespace files = std::filesystem;

constexpr const char* parts[] = {"db", "filter"};

std::string read_all(const files::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_all(const files::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary).write(text.data(), static_cast<std::streamsize>(text.size()));
}

std::uint64_t file_number(const files::path& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? info.st_ino : 0;
}

using listing = std::map<std::string, std::uint64_t>;  // name → file number

listing names_now(const files::path& directory) {
  listing found;
  std::error_code ignored;
  for (const auto& entry : files::directory_iterator(directory, ignored)) {
    if (entry.is_regular_file()) found[entry.path().filename().string()] = file_number(entry.path());
  }
  return found;
}

files::path names_file(const std::string& shadow, const std::string& part) {
  return files::path(shadow) / "names" / ("%" + part + "%");
}

listing names_synced(const std::string& shadow, const std::string& part) {
  listing found;
  std::ifstream file(names_file(shadow, part));
  std::uint64_t number = 0;
  for (std::string name; file >> number >> name;) found[name] = number;
  return found;
}

// What is left of a file: the synced bytes, and in a ragged cut some of what follows them.
std::string remains(const std::string& shadow, std::uint64_t number, power how, random_source& random) {
  const files::path synced_path = files::path(shadow) / "content" / std::to_string(number);
  std::string synced = files::exists(synced_path) ? read_all(synced_path) : "";
  if (how == power::strict) return synced;
  const std::string now = read_all(files::path(shadow) / "keep" / std::to_string(number));
  if (now.size() <= synced.size() || now.compare(0, synced.size(), synced) != 0) return synced;
  return now.substr(0, synced.size() + random.below(now.size() - synced.size() + 1));
}

}  // namespace

scratch::scratch() {
  const files::path base = ::access("/dev/shm", W_OK) == 0 ? files::path("/dev/shm") : files::temp_directory_path();
  std::string name = (base / "tamis-crash-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot create " + name);
  path_ = name;
}

scratch::~scratch() {
  std::error_code ignored;
  files::remove_all(path_, ignored);
}

void copy_directory(const std::string& from, const std::string& to) {
  files::remove_all(to);
  files::copy(from, to, files::copy_options::recursive);
}

void begin_shadow(const std::string& root, const std::string& shadow) {
  files::remove_all(shadow);
  for (const char* folder : {"names", "content", "keep"}) files::create_directories(files::path(shadow) / folder);
  for (const std::string part : parts) {
    std::ofstream list(names_file(shadow, part));
    for (const auto& [name, number] : names_now(files::path(root) / part)) {
      const files::path file = files::path(root) / part / name;
      list << number << ' ' << name << '\n';
      files::copy_file(file, files::path(shadow) / "content" / std::to_string(number));
      files::create_hard_link(file, files::path(shadow) / "keep" / std::to_string(number));
    }
  }
}

void cut_power(const std::string& root, const std::string& shadow, power how, std::uint64_t seed) {
  random_source random(seed);
  const std::string left = root + ".left";
  files::remove_all(left);
  for (const std::string part : parts) {
    files::create_directories(files::path(left) / part);
    listing names = names_synced(shadow, part);
    if (how == power::ragged && random.chance(0.5)) {
      names = names_now(files::path(root) / part);
      for (const auto& [name, number] : names) {
        const files::path keep = files::path(shadow) / "keep" / std::to_string(number);
        if (!files::exists(keep)) files::create_hard_link(files::path(root) / part / name, keep);
      }
    }
    for (const auto& [name, number] : names) write_all(files::path(left) / part / name, remains(shadow, number, how, random));
  }
  files::remove_all(root);
  files::rename(left, root);
}

files::path snapshot_file(const std::string& root, std::size_t n) {
  std::vector<std::pair<unsigned long, files::path>> found;
  for (const auto& entry : files::directory_iterator(root + "/filter")) {
    if (entry.path().extension() == ".snapshot") found.emplace_back(std::stoul(entry.path().stem()), entry.path());
  }
  std::sort(found.rbegin(), found.rend());
  if (found.size() <= n) throw std::runtime_error(root + ": fewer snapshots than expected");
  return found[n].second;
}

void flip_bytes(const files::path& file, std::uint64_t seed) {
  std::string text = read_all(file);
  random_source random(seed);
  for (int i = 0; i < 3; ++i) text[random.below(text.size())] ^= static_cast<char>(1 + random.below(255));
  write_all(file, text);
}

void truncate_file(const files::path& file, std::uint64_t seed) {
  files::resize_file(file, random_source(seed).below(files::file_size(file)));
}

}  // namespace tamis::crash
