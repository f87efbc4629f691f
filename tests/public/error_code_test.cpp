// Every kind of refusal has its code, wherever it comes from.

#include <gtest/gtest.h>

#include "tamis/any_filter.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/keys.hpp"
#include "tests/support/temporary_directory.hpp"

namespace tamis::test {
namespace {

any_filter small(const char* id = "bloom", hasher hash = test_hash()) {
  return any_filter::create(id, {.capacity = 100, .fpr = 0.01}, hash).value();
}

TEST(error_code, of_parameters) {
  const auto code = [](const char* id, const filter_params& params) { return any_filter::create(id, params).code(); };
  EXPECT_EQ(code("bloom", {.capacity = 0, .fpr = 0.01}), error_code::out_of_range);
  EXPECT_EQ(code("bloom", {.capacity = 9, .fpr = 2.0}), error_code::out_of_range);
  EXPECT_EQ(code("bloom", {.capacity = 9, .bits_per_key = 5000.0}), error_code::out_of_range);
  EXPECT_EQ(code("bloom", {.capacity = 9, .fpr = 0.01, .options = {{"k", "99"}}}), error_code::out_of_range);
  EXPECT_EQ(code("rsqf", {.capacity = 1000, .bits_per_key = 1.0}), error_code::out_of_range);
  EXPECT_EQ(code("bloom", {.capacity = 9}), error_code::invalid_argument);
  EXPECT_EQ(code("bloom", {.capacity = 9, .fpr = 0.01, .options = {{"kay", "9"}}}), error_code::invalid_argument);
  EXPECT_EQ(code("bloom", {.capacity = largest_capacity, .bits_per_key = 4096.0}), error_code::no_memory);
  EXPECT_EQ(code("blossom", {.capacity = 9, .fpr = 0.01}), error_code::not_found);
}

TEST(error_code, of_files) {
  const temporary_directory place;
  const std::string path = place / "f";
  EXPECT_EQ(load_file(path).code(), error_code::not_found);
  EXPECT_EQ(load_file(place.path().string()).code(), error_code::io);
  EXPECT_EQ(small().save_file(place / "no/such/place").code(), error_code::not_found);
  ASSERT_TRUE(small().save_file(path));
  EXPECT_TRUE(load_file(path));
}

TEST(error_code, of_stored_bytes) {
  const byte_vector whole = small().save_bytes();
  byte_vector cut = whole;
  cut.pop_back();
  EXPECT_EQ(load_bytes(cut).code(), error_code::damaged);
  byte_vector longer = whole;
  longer.push_back({});
  EXPECT_EQ(load_bytes(longer).code(), error_code::damaged);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    byte_vector flipped = whole;
    flipped[i] ^= std::byte{1};
    const bool is_format_version = i >= 8 && i < 12;
    EXPECT_EQ(load_bytes(flipped).code(), is_format_version ? error_code::newer_version : error_code::damaged) << i;
  }
  EXPECT_EQ(load_bytes({}).code(), error_code::damaged);
}

TEST(error_code, of_hashes) {
  const byte_vector bytes = small().save_bytes();
  EXPECT_EQ(load_bytes(bytes, {.hash = hasher::fast(1)}).code(), error_code::wrong_hash);
  EXPECT_EQ(load_bytes(bytes, {.hash = hasher::keyed({1, 2})}).code(), error_code::wrong_hash);
  const byte_vector secret = small("bloom", hasher::keyed({1, 2})).save_bytes();
  EXPECT_EQ(load_bytes(secret).code(), error_code::wrong_hash);
  EXPECT_EQ(load_bytes(secret, {.hash = hasher::keyed({2, 1})}).code(), error_code::wrong_hash);
  EXPECT_TRUE(load_bytes(secret, {.hash = hasher::keyed({1, 2})}));
}

TEST(error_code, of_two_filters) {
  any_filter f = small();
  EXPECT_EQ(f.merge(small("bloom1")).code(), error_code::mismatch);
  EXPECT_EQ(f.merge(small("bloom", hasher::fast(3))).code(), error_code::wrong_hash);
  any_filter dleft = small("dleft");
  EXPECT_EQ(dleft.merge(small("dleft")).code(), error_code::unsupported);
}

}  // namespace
}  // namespace tamis::test
