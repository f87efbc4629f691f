// A mapped filter of a kind whose operations bear any table: fields and table are a forger's, and nobody has compared the table
// with its checksums. The file is refused, or every operation stays inside it and ends, and what is inserted is there.

#include "tamis/mapped.hpp"

#include <algorithm>
#include <fstream>

#include "tests/fuzz/targets.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/checked_filter.hpp"
#include "tests/support/temporary_directory.hpp"

namespace tamis::fuzz {
namespace {

using test::must_hold;

// Those that docs/format.md lists.
constexpr const char* kinds[] = {"bloom", "bloom1", "counting-bloom", "cuckoo", "ascf", "vacuum"};
constexpr std::uint64_t capacity = 150'000;  // tables of several blocks, which are used where they are
constexpr std::size_t field_bytes = 96;      // at the beginning of the payload, at most
constexpr std::size_t changes = 4;           // bytes of fields that the input changes: a place and a value for each
constexpr std::uint64_t most_bits = std::uint64_t{1} << 24;

const std::vector<std::byte>& file_of(std::size_t kind) {
  static const std::vector<std::vector<std::byte>> files = [] {
    std::vector<std::vector<std::byte>> made;
    for (const char* id : kinds) {
      made.push_back(any_filter::create(id, {.capacity = capacity, .fpr = 0.01}, test::test_hash()).value().save_bytes());
    }
    return made;
  }();
  return files[kind];
}

std::vector<std::byte> forged(input bytes) {
  std::vector<std::byte> file = file_of(std::to_integer<std::size_t>(bytes[0]) % std::size(kinds));
  const test::frame_layout at(file);
  for (std::size_t i = 0; i < changes; ++i) {
    const std::size_t place = at.payload + std::to_integer<std::size_t>(bytes[1 + 2 * i]) % field_bytes;
    file[place] ^= bytes[2 + 2 * i];
  }
  const input table = bytes.subspan(1 + 2 * changes);
  // The last block has the end of the file, where only zeros stand beside the table.
  const std::size_t end = at.payload + (at.blocks - 1) * at.block_bytes;
  for (std::size_t i = at.payload + at.block_bytes / 2, from = 0; i < end; ++i, ++from) file[i] = table[from % table.size()];
  return test::resealed(std::move(file));
}

void use(any_filter& f) {
  const std::vector<digest> asked = test::strangers(200);
  for (const digest d : asked) static_cast<void>(f.may_contain(d));
  const auto answers = std::make_unique<bool[]>(asked.size());
  f.may_contain_many(asked, std::span(answers.get(), asked.size()));
  const double rate = f.expected_fpr();
  must_hold(rate >= 0.0 && rate <= 1.0);
  for (const digest d : test::keys(50)) {
    if (f.insert(d) == insert_result::inserted) must_hold(f.may_contain(d));
  }
  if (f.can().count) static_cast<void>(f.count(asked[0]));
  if (f.can().erase) static_cast<void>(f.erase_many(test::strangers(50)));
  if (f.can().merge) static_cast<void>(f.merge(any_filter(f)));
  must_hold(!f.save_bytes().empty());
}

}  // namespace

void mapped(input bytes) {
  if (bytes.size() <= 1 + 2 * changes) return;
  static const test::temporary_directory directory;
  const std::string path = directory / "file";
  {
    const std::vector<std::byte> file = forged(bytes);
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  }
  auto opened = open_mapped(path);
  if (!opened) {
    must_hold(!opened.message().empty());
    return;
  }
  if (opened->filter().bits().fast > most_bits) return;
  use(opened->filter());
  static_cast<void>(opened->verify());  // sums are right, and the table may not be what its fields say
}

}  // namespace tamis::fuzz
