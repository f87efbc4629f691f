#include "tamis/detail/io/archive.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tests/support/bytes.hpp"

namespace tamis {

using namespace detail;

namespace {

using test::byte_vector;
using test::refused;

enum class colour : std::uint16_t { red = 1, green = 700 };

struct point {
  std::int32_t x = 0;
  double y = 0;
  friend bool operator==(const point&, const point&) = default;
  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.x, self.y);
  }
  status validate() const { return x < 0 ? status(failure{"x is negative"}) : status(); }
};

struct everything {
  std::uint64_t number = 0;
  bool truth = false;
  colour paint = colour::red;
  std::string text;
  std::vector<point> points;
  std::vector<std::vector<std::uint8_t>> nested;
  zeroed_array<std::uint32_t> table;
  friend bool operator==(const everything&, const everything&) = default;
  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.number, self.truth, self.paint, self.text, self.points, self.nested, self.table);
  }
};

template <class T>
byte_vector saved(const T& value) {
  memory_sink sink;
  writer out(sink);
  out(value);
  out.finish().value();
  return std::move(sink).take();
}

template <class T>
result<T> loaded(const byte_vector& bytes) {
  memory_source source(bytes);
  reader in(source);
  T value{};
  in(value);
  if (!in.ok()) return failure{in.state().message()};
  return value;
}

everything example(std::uint64_t table_size) {
  everything e;
  e.number = std::numeric_limits<std::uint64_t>::max() - 1;
  e.truth = true;
  e.paint = colour::green;
  e.text = std::string("zero \0 inside", 13);
  e.points = {{1, 0.5}, {2, -1e300}};
  e.nested = {{}, {1, 2, 3}, {255}};
  e.table = zeroed_array<std::uint32_t>::make(table_size).value();
  for (std::uint64_t i = 0; i < table_size; ++i) e.table[i] = static_cast<std::uint32_t>(i * 2654435761u);
  return e;
}

TEST(archive, everything_comes_back) {
  // Below, at and above the writer's buffer of 64 KiB.
  for (const std::uint64_t size : {0u, 1u, 1000u, 16384u, 16385u, 100000u}) {
    const everything e = example(size);
    EXPECT_EQ(loaded<everything>(saved(e)).value(), e) << size;
  }
}

TEST(archive, numbers_are_little_endian_and_lengths_are_64_bits) {
  EXPECT_EQ(saved(std::uint32_t{0x01020304}), test::bytes_of("\x04\x03\x02\x01"));
  EXPECT_EQ(saved(std::string("ab")), test::bytes_of(std::string_view("\2\0\0\0\0\0\0\0ab", 10)));
  EXPECT_EQ(saved(true), test::bytes_of("\1"));
}

TEST(archive, every_truncation_is_refused) {
  const byte_vector bytes = saved(example(10));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_TRUE(refused(loaded<everything>(byte_vector(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)))))
        << size;
  }
}

TEST(archive, truth_is_zero_or_one) { EXPECT_TRUE(refused(loaded<bool>(test::bytes_of("\2")), "truth")); }

TEST(archive, validate_is_asked_for_every_part) {
  EXPECT_TRUE(refused(loaded<point>(saved(point{-1, 0})), "x is negative"));
  EXPECT_TRUE(refused(loaded<std::vector<point>>(saved(std::vector<point>{{1, 1}, {-1, 0}, {2, 2}})), "x is negative"));
}

// A length that lies is refused before memory is taken: these would need up to 2^66 bytes.
TEST(archive, lying_lengths_are_refused_before_memory_is_taken) {
  for (const std::uint64_t length : {std::uint64_t{9}, std::uint64_t{1} << 32, std::uint64_t{1} << 62, ~std::uint64_t{0}}) {
    byte_vector bytes = saved(std::string(8, 'x'));
    test::put_number(bytes, 0, length);
    EXPECT_TRUE(refused(loaded<std::string>(bytes), std::to_string(length)));
    EXPECT_TRUE(refused(loaded<std::vector<std::uint8_t>>(bytes), std::to_string(length)));
    EXPECT_TRUE(refused(loaded<zeroed_array<std::uint64_t>>(bytes), std::to_string(length)));
  }
  byte_vector two = saved(std::string(8, 'x'));
  test::put_number(two, 0, std::uint64_t{2});  // two words, but only one is there
  EXPECT_TRUE(refused(loaded<zeroed_array<std::uint64_t>>(two), "2 elements"));
}

TEST(reader, first_error_stays) {
  const byte_vector bytes = saved(std::uint64_t{5});
  memory_source source(bytes);
  reader in(source);
  in.fail("first");
  in.fail("second");
  std::uint64_t untouched = 77;
  in(untouched);
  EXPECT_EQ(untouched, 77u);
  EXPECT_TRUE(refused(in.state(), "first"));
}

class failing_sink final : public byte_sink {
 public:
  explicit failing_sink(std::size_t room) : room_(room) {}
  status write(std::span<const std::byte> bytes) override {
    ++calls_;
    if (bytes.size() > room_) return failure{"the disk is full"};
    room_ -= bytes.size();
    return {};
  }
  int calls() const { return calls_; }

 private:
  std::size_t room_;
  int calls_ = 0;
};

TEST(writer, error_of_the_sink_is_reported_and_ends_writing) {
  failing_sink sink(10);
  writer out(sink);
  out(example(100000));
  const int calls = sink.calls();
  out(example(100000));
  EXPECT_EQ(sink.calls(), calls);
  EXPECT_TRUE(refused(out.finish(), "the disk is full"));
}

// Small ones stand where they come; large ones in whole cache lines, with zeros around them.
TEST(archive, large_tables_stand_in_whole_lines) {
  for (const std::uint64_t size : {1u, 4095u, 4096u, 4097u, 5000u}) {
    auto table = zeroed_array<std::uint8_t>::make(size).value();
    std::fill(table.begin(), table.end(), std::uint8_t{0xa5});
    memory_sink sink;
    writer out(sink);
    out(std::uint8_t{1}, table, std::uint8_t{2});
    out.finish().value();
    const byte_vector bytes = std::move(sink).take();
    const bool aligned = size >= aligned_table_bytes;
    const std::size_t begin = aligned ? 64 : 9;
    const std::size_t end = aligned ? (begin + size + 63) / 64 * 64 : begin + size;
    ASSERT_EQ(bytes.size(), end + 1);
    EXPECT_EQ(bytes[begin], std::byte{0xa5});
    EXPECT_EQ(bytes[begin + size - 1], std::byte{0xa5});
    EXPECT_EQ(bytes[end], std::byte{2});
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const bool gap = (i >= 9 && i < begin) || (i >= begin + size && i < end);
      if (!gap) continue;
      EXPECT_EQ(bytes[i], std::byte{0});
      byte_vector changed = bytes;
      changed[i] = std::byte{1};
      memory_source source(changed);
      reader in(source);
      std::uint8_t number = 0;
      in(number, table);
      ASSERT_TRUE(refused(in.state(), "zeros beside a table")) << i;
    }
  }
}

}  // namespace
}  // namespace tamis
