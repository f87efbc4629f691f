#include "tamis/result.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <set>

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

TEST(result, has_a_code_beside_the_message) {
  const result<int> refused = failure{"no such thing", error_code::not_found};
  EXPECT_EQ(refused.code(), error_code::not_found);
  EXPECT_EQ(quarter(6).code(), error_code::invalid_argument);  // unless somebody knows better
  const status kept = [&]() -> status {
    TAMIS_TRY([[maybe_unused]] const int value, result<int>(refused));
    return {};
  }();
  EXPECT_EQ(kept.code(), error_code::not_found);
  EXPECT_EQ(detail::prefixed("file: ", kept).message, "file: no such thing");
  EXPECT_EQ(detail::prefixed("file: ", kept).code, error_code::not_found);
  try {
    kept.value();
    FAIL();
  } catch (const result_error& thrown) {
    EXPECT_EQ(thrown.code(), error_code::not_found);
  }
}

TEST(result, every_code_has_a_name_of_its_own) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(error_code::in_use); ++i) names.insert(to_string(static_cast<error_code>(i)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(error_code::in_use) + 1);
  EXPECT_FALSE(names.contains("unknown"));
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
