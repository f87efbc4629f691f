#pragma once

// Whether two paths lead to the same file, by whatever name, and also before it exists.

#include <sys/types.h>

#include <optional>
#include <string>

namespace tamis::cli {

struct file_identity {
  dev_t device = 0;
  ino_t inode = 0;   // of the file, or of its folder if it does not exist
  std::string name;  // in that folder, if it does not exist
  mode_t mode = 0;   // 0: it does not exist

  bool exists() const { return mode != 0; }
  bool is_regular() const;
  bool is_directory() const;
  // One reader or writer at a time makes sense: not so for devices, which may be a terminal or /dev/null, and sockets.
  bool is_exclusive() const;
};
bool same_file(const file_identity& a, const file_identity& b);

// Follows symbolic links, also one that leads to nothing yet.
file_identity identify(const std::string& path);
file_identity identify(int descriptor);

// Which open descriptor a path names: /dev/stdout, /dev/fd/63, or a symbolic link to such a name.
std::optional<int> named_descriptor(const std::string& path);

// Whether the path leads into the folder or below, as far as both exist.
bool lies_in(const std::string& path, const std::string& folder);

}  // namespace tamis::cli
