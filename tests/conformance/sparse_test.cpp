// A filter of more than 2^32 bits: made, filled a little, saved, loaded, and it still knows its keys. Run at one level, for
// time.

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <optional>

#include "tests/conformance/cases.hpp"
#include "tests/support/temporary_directory.hpp"

namespace tamis::test {

using namespace detail;

namespace {

constexpr std::uint64_t border_bits = std::uint64_t{1} << 32;

// How large the filter is, in border_bits. One that fills its first half (a first block, a leftmost sub-table, a column) before
// the second stores nothing behind the border until that half alone is larger: then the next size is tried.
constexpr double sizes[] = {1.0625, 2.2, 4.5};

// A file in which zeros take no room and no time, and that knows how many other bytes lie behind its first 2^32 bits.
class sparse_file final : public byte_sink {
 public:
  explicit sparse_file(const std::string& path) : descriptor_(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600)) {}
  sparse_file(const sparse_file&) = delete;
  sparse_file& operator=(const sparse_file&) = delete;
  ~sparse_file() override { ::close(descriptor_); }

  status write(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const std::span<const std::byte> chunk = bytes.first(std::min(bytes.size(), chunk_bytes));
      if (!put(chunk)) return failure{"the temporary file cannot be written"};
      bytes = bytes.subspan(chunk.size());
    }
    return {};
  }
  std::uint64_t nonzero_behind_border() const { return nonzero_behind_border_; }

 private:
  static constexpr std::size_t chunk_bytes = 4096;

  bool put(std::span<const std::byte> chunk) {
    static constexpr std::array<std::byte, chunk_bytes> zeros{};
    const auto at = static_cast<off_t>(offset_);
    offset_ += chunk.size();
    if (std::memcmp(chunk.data(), zeros.data(), chunk.size()) == 0) {  // nearly always, and fast
      return ::ftruncate(descriptor_, static_cast<off_t>(offset_)) == 0;
    }
    const auto nonzero = std::count_if(chunk.begin(), chunk.end(), [](std::byte b) { return b != std::byte{}; });
    if (offset_ - chunk.size() >= border_bits / 8) nonzero_behind_border_ += static_cast<std::uint64_t>(nonzero);
    return ::pwrite(descriptor_, chunk.data(), chunk.size(), at) == static_cast<ssize_t>(chunk.size());
  }

  int descriptor_;
  std::uint64_t offset_ = 0;
  std::uint64_t nonzero_behind_border_ = 0;
};

class sparse : public conformance {
 protected:
  // Fills a filter of `wanted_bits` or more a little, saves it, loads it, and asks for everything again. `behind` says how many
  // bytes of it lie behind the border.
  void store_and_load(std::uint64_t wanted_bits, std::uint64_t& behind);
};
TAMIS_CONFORMANCE_CASES(sparse, cases_of_best_level());

void sparse::store_and_load(std::uint64_t wanted_bits, std::uint64_t& behind) {
  // Many bits per key keep slow memory (mirrors) small; not every filter can have them.
  std::optional<any_filter> f;
  for (const double bits : {64.0, 32.0, 16.0, 8.0}) {
    for (const double more : {1.0, 1.5, 2.0}) {
      if (f && f->bits().fast >= wanted_bits) break;
      const auto capacity = static_cast<std::uint64_t>(static_cast<double>(wanted_bits + 4096) * more / bits);
      if (auto made = create({.capacity = capacity, .bits_per_key = bits})) f = *std::move(made);
    }
  }
  ASSERT_TRUE(f && f->bits().fast >= wanted_bits);
  if (f->bits().slow > border_bits) GTEST_SKIP() << "its slow memory is too large for a test";

  // Some extreme digests stand at the very end.
  std::vector<digest> in = keys(5000);
  in.insert(in.end(), extreme_digests.begin(), extreme_digests.end());
  ASSERT_EQ(f->insert_many(in), in.size());
  EXPECT_TRUE(may_contain_all(*f, in));

  const std::vector<digest> asked = strangers(100000);
  const std::uint64_t positives = count_positives(*f, asked);
  EXPECT_LE(positives, 100u) << "a filter this empty has next to no false positives";

  const temporary_directory directory;
  const std::string path = directory / "sparse.tamis";
  {
    sparse_file file(path);
    ASSERT_TRUE(f->save(file).ok());
    behind = file.nonzero_behind_border();
  }
  const memory_bits bits = f->bits();
  f.reset();

  const auto loaded = load_file(path, {std::nullopt, &known()});
  ASSERT_TRUE(loaded.ok()) << loaded.message();
  EXPECT_EQ(loaded->bits().fast, bits.fast);
  EXPECT_EQ(loaded->keys(), in.size());
  EXPECT_TRUE(may_contain_all(*loaded, in));
  EXPECT_EQ(count_positives(*loaded, asked), positives);
}

TEST_P(sparse, beyond_2_to_the_32_bits) {
  for (const double size : sizes) {
    std::uint64_t behind = 0;
    store_and_load(static_cast<std::uint64_t>(size * static_cast<double>(border_bits)), behind);
    if (HasFailure() || IsSkipped() || behind >= 100) return;
  }
  FAIL() << "nothing was stored behind the border";
}

}  // namespace
}  // namespace tamis::test
