// A patch that a forger wrote: any content, with right checksums, for a file of ours. It is refused with a reason, or it makes
// a file whose checksums are right.

#include "tamis/difference.hpp"

#include <algorithm>

#include "tamis/any_filter.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/checked_filter.hpp"

namespace tamis::fuzz {
namespace {

using test::must_hold;

constexpr std::size_t most_bytes = std::size_t{1} << 15;

// One file with a slot table, one without, and a patch of each.
struct known_file {
  std::vector<std::byte> old;
  std::vector<std::byte> patch;

  explicit known_file(const char* kind) {
    any_filter f = any_filter::create(kind, {.capacity = 300, .fpr = 0.02}, test::test_hash()).value();
    static_cast<void>(f.insert_many(test::keys(200)));
    old = f.save_bytes();
    static_cast<void>(f.insert_many(test::keys(20, 200)));
    patch = diff_bytes(old, f.save_bytes()).value();
  }
};

const std::vector<known_file>& known_files() {
  static const std::vector<known_file> files = {known_file("rsqf"), known_file("bloom1")};
  return files;
}

// Where the checksum and the length of the file it is for stand: at the begin of the content.
constexpr std::size_t target_bytes = 16;

}  // namespace

std::vector<std::byte> repaired_patch(input file) {
  if (file.size() > most_bytes) return {};
  // What comes as a whole patch keeps its content; anything else is one.
  std::vector<std::byte> content(file.begin(), file.end());
  if (file.size() > test::frame_layout::kind && std::equal(file.begin(), file.begin() + 5, test::bytes_of("TAMIS").begin())) {
    const std::size_t begin = test::frame_layout(known_files()[0].patch).payload;
    content.assign(file.begin() + static_cast<std::ptrdiff_t>(std::min(begin, file.size())), file.end());
  }
  if (content.size() < target_bytes) return {};
  return test::reframed(known_files()[0].patch, content);
}

void difference(input file) {
  for (const known_file& known : known_files()) {
    static_cast<void>(patch_bytes(known.old, file));  // as it is: mostly refused
    static_cast<void>(diff_bytes(file, known.old));
    std::vector<std::byte> mended = repaired_patch(file);
    if (mended.empty()) return;
    // For this very file.
    const test::frame_layout own(known.patch);
    const test::frame_layout at(mended);
    std::copy_n(known.patch.begin() + static_cast<std::ptrdiff_t>(own.payload), target_bytes,
                mended.begin() + static_cast<std::ptrdiff_t>(at.payload));
    mended = test::resealed(std::move(mended));
    const auto made = patch_bytes(known.old, mended);
    if (!made) {
      must_hold(!made.message().empty());
      continue;
    }
    const auto sums = checksums_of_bytes(*made);                  // which reads and compares all of it
    must_hold(sums.ok() || sums.code() == error_code::mismatch);  // a patch that makes a patch
  }
}

}  // namespace tamis::fuzz
