#include "lab/key_file.hpp"

#include <fstream>
#include <memory>
#include <span>
#include <vector>

#include "readers/key_input.hpp"

namespace tamis::lab {
namespace {

class file_bytes final : public readers::input {
 public:
  explicit file_bytes(const std::string& path) : file_(path, std::ios::binary) {}

  result<std::size_t> read(std::span<char> room) override {
    if (!file_.is_open() || file_.bad()) return failure{"cannot be read"};
    file_.read(room.data(), static_cast<std::streamsize>(room.size()));
    return static_cast<std::size_t>(file_.gcount());
  }

 private:
  std::ifstream file_;
};

}  // namespace

status for_each_line(const std::string& path, const std::function<void(std::string_view)>& use) {
  readers::key_input keys(std::make_unique<file_bytes>(path), '\n');
  std::vector<char> room(std::size_t{1} << 20);
  std::string begun;  // a line whose end has not been read yet
  while (true) {
    const result<std::size_t> got = keys.read(room);
    if (!got) return failure{path + ": " + got.message()};
    if (*got == 0) break;
    std::string_view left(room.data(), *got);
    for (std::size_t end; (end = left.find('\n')) != std::string_view::npos; left.remove_prefix(end + 1)) {
      begun += left.substr(0, end);
      use(begun);
      begun.clear();
    }
    begun += left;
  }
  if (!begun.empty()) use(begun);
  return {};
}

}  // namespace tamis::lab
