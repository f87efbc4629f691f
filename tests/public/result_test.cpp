#include "tamis/result.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace tamis {
namespace {

result<std::unique_ptr<int>> half(int value) {
  if (value % 2 != 0) return failure{std::to_string(value) + " is odd"};
  return std::make_unique<int>(value / 2);
}

result<int> quarter(int value) {
  TAMIS_TRY(const std::unique_ptr<int> first, half(value));
  TAMIS_TRY(const std::unique_ptr<int> second, half(*first));
  return *second;
}

status check_quarter(int value) {
  TAMIS_TRY([[maybe_unused]] const int found, quarter(value));
  return {};
}

status check_both(int a, int b) {
  TAMIS_CHECK(check_quarter(a));
  TAMIS_CHECK(check_quarter(b));
  return {};
}

TEST(result, has_a_value_or_a_message) {
  EXPECT_EQ(quarter(12).value(), 3);
  EXPECT_TRUE(quarter(12).ok());
  EXPECT_FALSE(quarter(6).ok());
  EXPECT_EQ(quarter(6).message(), "3 is odd");
  EXPECT_EQ(quarter(5).message(), "5 is odd");
}

TEST(result, value_throws_the_message) {
  try {
    static_cast<void>(quarter(5).value());
    FAIL() << "no exception";
  } catch (const std::runtime_error& thrown) {
    EXPECT_STREQ(thrown.what(), "5 is odd");
  }
}

TEST(result, moves_what_cannot_be_copied) {
  std::unique_ptr<int> taken = half(4).value();
  EXPECT_EQ(*taken, 2);
}

TEST(status, first_error_wins) {
  EXPECT_TRUE(check_both(4, 8).ok());
  EXPECT_EQ(check_both(5, 7).message(), "5 is odd");
  EXPECT_EQ(check_both(4, 7).message(), "7 is odd");
  EXPECT_THROW(check_both(4, 7).value(), std::runtime_error);
  EXPECT_NO_THROW(check_both(4, 4).value());
}

}  // namespace
}  // namespace tamis
