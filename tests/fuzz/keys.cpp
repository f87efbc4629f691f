// A file of keys: lines, compressed by gzip or zstd, or a capture. Reading ends, and everything after an error is not asked
// for.

#include <algorithm>
#include <cstring>

#include "readers/key_input.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/support/checked_filter.hpp"

namespace tamis::fuzz {
namespace {

class bytes_input final : public readers::input {
 public:
  bytes_input(fuzz::input bytes, std::size_t most) : left_(bytes), most_(most) {}

  result<std::size_t> read(std::span<char> room) override {
    const std::size_t count = std::min({room.size(), left_.size(), most_});
    std::memcpy(room.data(), left_.data(), count);
    left_ = left_.subspan(count);
    return count;
  }

 private:
  fuzz::input left_;
  std::size_t most_;  // bytes at a time: readers must not care
};

constexpr std::size_t most_read = std::size_t{1} << 20;  // a few bytes may unpack to gigabytes

std::string read_all(input file, std::size_t at_a_time, readers::key_format format) {
  readers::key_input keys(std::make_unique<bytes_input>(file, at_a_time), '\n', format);
  std::string all;
  char room[512];
  while (all.size() < most_read) {
    const auto got = keys.read(room);
    if (!got) {
      test::must_hold(!got.message().empty());
      return all + "\n" + got.message();
    }
    if (*got == 0) return all;
    test::must_hold(*got <= sizeof room);
    all.append(room, *got);
  }
  return all;
}

}  // namespace

void keys(input file) {
  const std::string whole = read_all(file, file.size() + 1, readers::key_format::detected);
  if (whole.size() < most_read) test::must_hold(read_all(file, 1, readers::key_format::detected) == whole);
  const std::string plain = read_all(file, 7, readers::key_format::plain);
  test::must_hold(plain.size() >= std::min(file.size(), most_read));
}

}  // namespace tamis::fuzz
