#include "tamis/params.hpp"

#include <gtest/gtest.h>

#include "tests/support/bytes.hpp"

namespace tamis {
namespace {

using test::refused;

constexpr option_info options[] = {{"size", "1 to 9", "5", "a number"}, {"mode", "a or b", "a", "a word"}};
constexpr filter_info info{.id = "thing", .summary = "", .paper = "", .options = options};

filter_params with(option_list given) { return {.capacity = 10, .fpr = 0.1, .options = std::move(given)}; }

TEST(params, good_ones_pass) {
  EXPECT_TRUE(check_params(info, with({})).ok());
  EXPECT_TRUE(check_params(info, with({{"mode", "b"}, {"size", "3"}})).ok());
  EXPECT_TRUE(check_params(info, {.capacity = largest_capacity, .bits_per_key = 4096.0}).ok());
}

TEST(params, message_names_the_option_the_value_and_what_there_is) {
  EXPECT_TRUE(refused(check_params(info, with({{"colour", "red"}})), "option 'colour': unknown, filter thing has: size, mode"));
  EXPECT_TRUE(refused(check_params(info, with({{"size", "1"}, {"size", "2"}})), "option 'size': given twice"));
  constexpr filter_info uniform{.id = "uniform", .summary = "", .paper = ""};
  EXPECT_TRUE(refused(check_params(uniform, with({{"size", "1"}})), "has no options"));
}

TEST(params, numbers_are_whole_and_in_range) {
  EXPECT_EQ(number_option(with({}), "size", 5, 1, 9).value(), 5u);
  EXPECT_EQ(number_option(with({{"size", "1"}}), "size", 5, 1, 9).value(), 1u);
  EXPECT_EQ(number_option(with({{"size", "9"}}), "size", 5, 1, 9).value(), 9u);
  for (const char* bad : {"0", "10", "", "x", "3x", " 3", "+3", "-3", "3.0", "18446744073709551619"}) {
    EXPECT_TRUE(refused(number_option(with({{"size", bad}}), "size", 5, 1, 9), std::string("size=") + bad)) << bad;
    EXPECT_TRUE(refused(number_option(with({{"size", bad}}), "size", 5, 1, 9), "from 1 to 9"));
  }
}

TEST(params, choices_are_those_listed) {
  constexpr std::string_view allowed[] = {"a", "b"};
  EXPECT_EQ(choice_option(with({}), "mode", "a", allowed).value(), "a");
  EXPECT_EQ(choice_option(with({{"mode", "b"}}), "mode", "a", allowed).value(), "b");
  for (const char* bad : {"", "c", "A", "a, b"}) {
    EXPECT_TRUE(refused(choice_option(with({{"mode", bad}}), "mode", "a", allowed), "one of a, b")) << bad;
  }
}

}  // namespace
}  // namespace tamis
