#include "tamis/detail/io/frame.hpp"

#include <gtest/gtest.h>

#include "tests/support/bytes.hpp"

namespace tamis {

using namespace detail;

namespace {

using test::byte_vector;
using test::frame_layout;
using test::refused;

const frame_header header{"things", 7, hasher::fast(42).identity()};

byte_vector framed(const std::string& content, const frame_header& head = header) {
  memory_sink sink;
  write_frame(sink, head, [&](writer& out) { out(content); }).value();
  return std::move(sink).take();
}

result<std::string> unframed(const byte_vector& bytes) {
  memory_source source(bytes);
  std::string content;
  TAMIS_CHECK(read_frame(source, [&](const frame_header&, reader& in) -> status {
    in(content);
    return in.state();
  }));
  return content;
}

TEST(frame, comes_back_with_its_header) {
  for (const std::size_t size : {0u, 1u, 100000u}) {
    const byte_vector bytes = framed(std::string(size, 'x'));
    EXPECT_EQ(unframed(bytes).value(), std::string(size, 'x'));
    memory_source source(bytes);
    EXPECT_TRUE(read_frame(source, [](const frame_header& found, reader& in) -> status {
                  EXPECT_EQ(found.kind, header.kind);
                  EXPECT_EQ(found.kind_version, header.kind_version);
                  EXPECT_EQ(found.hash, header.hash);
                  std::string content;
                  in(content);
                  return in.state();
                }).ok());
  }
}

TEST(frame, layout_is_the_documented_one) {
  const byte_vector bytes = framed("abc");
  const frame_layout at(bytes);
  EXPECT_EQ(byte_vector(bytes.begin(), bytes.begin() + 8), test::bytes_of("TAMIS\r\n\x1a"));
  EXPECT_EQ(test::number_at<std::uint32_t>(bytes, frame_layout::version), format_version);
  EXPECT_EQ(test::number_at<std::uint32_t>(bytes, frame_layout::kind_version), 7u);
  EXPECT_EQ(test::number_at<std::uint64_t>(bytes, frame_layout::payload_length), 8u + 3);
  EXPECT_EQ(test::number_at<std::uint64_t>(bytes, frame_layout::seed), 42u);
  EXPECT_EQ(test::number_at<std::uint64_t>(bytes, frame_layout::check), header.hash.check);
  EXPECT_EQ(test::number_at<std::uint8_t>(bytes, frame_layout::family), 0u);
  EXPECT_EQ(test::number_at<std::uint8_t>(bytes, frame_layout::block_bits), 16u);
  EXPECT_EQ(test::kind_in(bytes), test::bytes_of(header.kind));
  EXPECT_EQ(at.payload % 64, 0u);
  EXPECT_EQ(at.payload_end, bytes.size());
  EXPECT_EQ(test::resealed(bytes), bytes);
}

TEST(frame, of_a_small_thing_takes_at_most_128_bytes) {
  for (const std::size_t kind : {1u, 13u, 29u, 44u}) {
    const byte_vector bytes = framed("abc", {std::string(kind, 'k'), 1, header.hash});
    EXPECT_LE(bytes.size() - 11, 128u) << kind;
  }
}

// Whatever the size, also at the edges of blocks, in one piece or in many.
TEST(frame, every_block_has_its_checksum) {
  for (const std::size_t size : {0u, 65527u, 65528u, 65529u, 131064u, 131065u, 300000u}) {
    std::string content(size, '\0');
    for (std::size_t i = 0; i < size; ++i) content[i] = static_cast<char>(i * 167 >> 8);
    const byte_vector bytes = framed(content);
    EXPECT_EQ(test::resealed(bytes), bytes);
    EXPECT_EQ(unframed(bytes).value(), content);
    memory_sink pieces;
    write_frame(pieces, header, [&](writer& out) {
      const std::vector<char> letters(content.begin(), content.end());
      out(letters);
    }).value();
    EXPECT_EQ(pieces.bytes(), bytes);
  }
}

TEST(frame, damaged_block_is_named) {
  const byte_vector bytes = framed(std::string(300000, 'x'));
  const frame_layout at(bytes);
  ASSERT_EQ(at.blocks, 5u);
  for (std::size_t block = 0; block < at.blocks; ++block) {
    const std::size_t last = std::min(at.payload + (block + 1) * at.block_bytes, bytes.size()) - 1;
    for (const std::size_t byte : {at.payload + block * at.block_bytes, last}) {
      EXPECT_TRUE(refused(unframed(test::with_flipped_bit(bytes, byte * 8 + 3)),
                          block == 0 && byte < at.payload + 8 ? "block 0 of 5" : "block " + std::to_string(block) + " of 5"));
    }
  }
}

// Blocks and tables of two files of the same kind and length.
TEST(frame, swapped_blocks_are_refused) {
  const byte_vector ours = framed(std::string(200000, 'x'));
  const byte_vector theirs = framed(std::string(200000, 'y'));
  const frame_layout at(ours);
  const auto with = [&](std::size_t begin, std::size_t end, std::size_t to) {
    byte_vector mixed = ours;
    std::copy(theirs.begin() + static_cast<std::ptrdiff_t>(begin), theirs.begin() + static_cast<std::ptrdiff_t>(end),
              mixed.begin() + static_cast<std::ptrdiff_t>(to));
    return mixed;
  };
  for (std::size_t from = 0; from + 1 < at.blocks; ++from) {
    for (std::size_t to = 0; to + 1 < at.blocks; ++to) {
      const std::size_t begin = at.payload + from * at.block_bytes;
      EXPECT_TRUE(refused(unframed(with(begin, begin + at.block_bytes, at.payload + to * at.block_bytes)), "block"));
    }
  }
  EXPECT_TRUE(refused(unframed(with(at.table, at.header_sum, at.table)), "header"));
  EXPECT_TRUE(refused(unframed(with(at.header_sum, at.header_sum + 8, at.header_sum)), "header"));
  EXPECT_TRUE(refused(unframed(with(at.table, at.header_sum + 8, at.table)), "block 0"));
  byte_vector moved = ours;  // of one file
  moved[at.payload + 7] = std::byte{1};
  std::swap_ranges(moved.begin() + static_cast<std::ptrdiff_t>(at.payload),
                   moved.begin() + static_cast<std::ptrdiff_t>(at.payload + at.block_bytes),
                   moved.begin() + static_cast<std::ptrdiff_t>(at.payload + at.block_bytes));
  EXPECT_TRUE(refused(unframed(moved), "block 0"));
}

TEST(frame, every_truncation_is_refused) {
  const byte_vector bytes = framed("some content");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_TRUE(refused(unframed(byte_vector(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size))))) << size;
  }
}

TEST(frame, every_flipped_bit_is_refused) {
  const byte_vector bytes = framed("some content");
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit)
    EXPECT_TRUE(refused(unframed(test::with_flipped_bit(bytes, bit)))) << bit;
}

TEST(frame, reasons_name_what_is_wrong) {
  const byte_vector bytes = framed("some content");
  const frame_layout at(bytes);
  EXPECT_TRUE(refused(unframed(test::bytes_of("GIF89a, certainly")), "not a tamis file"));
  EXPECT_TRUE(refused(unframed({}), "not a tamis file"));
  EXPECT_TRUE(refused(unframed(test::with_flipped_bit(bytes, at.payload * 8 + 100)), "content"));
  EXPECT_TRUE(refused(unframed(test::with_flipped_bit(bytes, frame_layout::seed * 8)), "header"));
  EXPECT_TRUE(refused(unframed(test::with_flipped_bit(bytes, at.table * 8)), "header"));
  EXPECT_TRUE(refused(unframed(test::with_flipped_bit(bytes, at.header_sum * 8 + 64)), "header"));
  byte_vector longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_TRUE(refused(unframed(longer), "after its end"));
  byte_vector cut = bytes;
  cut.pop_back();
  EXPECT_TRUE(refused(unframed(cut), "too early"));
  for (const std::uint32_t version : {0u, 1u, 3u, 0xffffffffu}) {
    byte_vector other = bytes;
    test::put_number(other, frame_layout::version, version);
    EXPECT_TRUE(refused(unframed(other), "format version is " + std::to_string(version)));
  }
}

TEST(frame, forged_headers_are_refused) {
  const byte_vector bytes = framed("some content");
  const auto with = [&](std::size_t at, auto number) {
    byte_vector other = bytes;
    test::put_number(other, at, number);
    return other;
  };
  EXPECT_TRUE(refused(unframed(test::resealed(with(frame_layout::family, std::uint8_t{3}))), "hash family"));
  EXPECT_TRUE(refused(unframed(test::resealed(with(frame_layout::family, hash_family::custom))), "name of its hash"));
  EXPECT_TRUE(refused(unframed(with(frame_layout::kind_length, std::uint8_t{0})), "kind"));
  EXPECT_TRUE(refused(unframed(with(frame_layout::kind_length, std::uint8_t{65})), "kind"));
  for (const std::uint8_t bits : {0, 11, 31, 64, 255})
    EXPECT_TRUE(refused(unframed(with(frame_layout::block_bits, bits)), "blocks of 2^")) << bits;
  // Lengths whose sums would overflow, or need a table larger than the file, are refused before memory is taken.
  for (const std::uint64_t length : {std::uint64_t{19}, std::uint64_t{21}, std::uint64_t{1} << 40, ~std::uint64_t{0},
                                     ~std::uint64_t{0} - 127, std::uint64_t{0}})
    EXPECT_TRUE(refused(unframed(with(frame_layout::payload_length, length)))) << length;
  EXPECT_TRUE(refused(unframed(test::resealed(with(49, 'x'))), "header"));  // behind the kind
  memory_sink sink;
  for (const std::size_t size : {0u, 65u}) {
    EXPECT_TRUE(refused(write_frame(sink, {std::string(size, 'k'), 1, header.hash}, [](writer&) {}), "1 to 64"));
  }
}

// Other block sizes than the one that is written may come some day.
TEST(frame, other_block_sizes_are_read) {
  const std::string content(300000, 'x');
  const byte_vector payload = test::payload_of(framed(content));
  for (const std::uint8_t bits : {12, 17, 20, 30}) {
    byte_vector other = framed("x");
    test::put_number(other, frame_layout::block_bits, bits);
    other = test::reframed(other, payload);
    EXPECT_EQ(unframed(other).value(), content);
    EXPECT_TRUE(refused(unframed(test::with_flipped_bit(other, other.size() * 8 - 1)), "block"));
  }
}

TEST(frame, content_that_is_not_read_to_its_end_is_refused) {
  const byte_vector bytes = framed("some content");
  memory_source source(bytes);
  EXPECT_TRUE(refused(read_frame(source, [](const frame_header&, reader&) { return status(); }), "shorter"));
}

TEST(frame, error_of_the_content_is_passed_on) {
  const byte_vector bytes = framed("some content");
  memory_source source(bytes);
  EXPECT_TRUE(refused(read_frame(source, [](const frame_header&, reader&) -> status { return failure{"no such thing"}; }),
                      "no such thing"));
}

}  // namespace
}  // namespace tamis
