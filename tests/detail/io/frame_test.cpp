#include "tamis/detail/io/frame.hpp"

#include <gtest/gtest.h>

#include "tests/support/bytes.hpp"

namespace tamis {

using namespace detail;

namespace {

using test::byte_vector;
using test::frame_layout;
using test::refused;

const frame_header header{"thing", 7, hasher::fast(42).identity()};

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
  EXPECT_EQ(test::number_at<std::uint64_t>(bytes, frame_layout::kind_length), header.kind.size());
  EXPECT_EQ(test::number_at<std::uint32_t>(bytes, at.kind_version), 7u);
  EXPECT_EQ(test::number_at<std::uint8_t>(bytes, at.family), 0u);
  EXPECT_EQ(test::number_at<std::uint64_t>(bytes, at.seed), 42u);
  EXPECT_EQ(test::number_at<std::uint64_t>(bytes, at.payload_length), at.payload_sum - at.payload);
  EXPECT_EQ(test::resealed(bytes), bytes);
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
  EXPECT_TRUE(refused(unframed(test::with_flipped_bit(bytes, at.seed * 8)), "header"));
  byte_vector longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_TRUE(refused(unframed(longer), "after its end"));
  byte_vector cut = bytes;
  cut.pop_back();
  EXPECT_TRUE(refused(unframed(cut), "too early"));
  for (const std::uint32_t version : {0u, 2u, 0xffffffffu}) {
    byte_vector other = bytes;
    test::put_number(other, frame_layout::version, version);
    EXPECT_TRUE(refused(unframed(test::resealed(other)), "format version is " + std::to_string(version)));
  }
}

TEST(frame, forged_headers_are_refused) {
  const byte_vector bytes = framed("some content");
  const frame_layout at(bytes);
  byte_vector family = bytes;
  family[at.family] = std::byte{2};
  EXPECT_TRUE(refused(unframed(test::resealed(family)), "hash family"));
  byte_vector kind = bytes;
  test::put_number(kind, frame_layout::kind_length, std::uint64_t{1} << 40);
  EXPECT_TRUE(refused(unframed(kind)));
  for (const std::int64_t change : {-1, 1, 1000}) {
    byte_vector length = bytes;
    test::put_number(length, at.payload_length, at.payload_sum - at.payload + static_cast<std::uint64_t>(change));
    EXPECT_TRUE(refused(unframed(test::resealed(length)))) << change;
  }
  EXPECT_TRUE(refused(unframed(framed("x", {"", 1, header.hash})), "kind"));
  EXPECT_TRUE(refused(unframed(framed("x", {std::string(65, 'k'), 1, header.hash})), "kind"));
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
