#include "tamis/cpu.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/support/bytes.hpp"
#include "tests/support/environment.hpp"

namespace tamis {
namespace {

TEST(cpu_level, names_are_read_back) {
  for (const cpu_level level : {cpu_level::portable, cpu_level::avx2, cpu_level::avx512})
    EXPECT_EQ(parse_cpu_level(to_string(level)), level);
  for (const char* name : {"", "AVX2", "avx", "avx2 ", "sse"}) EXPECT_EQ(parse_cpu_level(name), std::nullopt) << name;
}

TEST(cpu_level, portable_is_always_there_and_first) {
  ASSERT_FALSE(available_cpu_levels().empty());
  EXPECT_EQ(available_cpu_levels().front(), cpu_level::portable);
}

TEST(cpu_level, best_is_chosen_unless_the_environment_says_otherwise) {
  const test::environment_variable nothing("TAMIS_CPU", nullptr);
  EXPECT_EQ(chosen_cpu_level().value(), available_cpu_levels().back());
  const test::environment_variable empty("TAMIS_CPU", "");
  EXPECT_EQ(chosen_cpu_level().value(), available_cpu_levels().back());
}

TEST(cpu_level, environment_forces_every_available_level) {
  for (const cpu_level level : available_cpu_levels()) {
    const test::environment_variable forced("TAMIS_CPU", std::string(to_string(level)).c_str());
    EXPECT_EQ(chosen_cpu_level().value(), level);
  }
}

TEST(cpu_level, unknown_name_is_an_error_that_lists_the_levels) {
  for (const char* name : {"avx1024", "PORTABLE", " portable"}) {
    const test::environment_variable forced("TAMIS_CPU", name);
    EXPECT_TRUE(test::refused(chosen_cpu_level(), std::string("'") + name + "'"));
    EXPECT_TRUE(test::refused(chosen_cpu_level(), "portable"));
    EXPECT_EQ(chosen_cpu_level().code(), error_code::unsupported);
    EXPECT_EQ(used_cpu_level(), available_cpu_levels().back());
  }
}

}  // namespace
}  // namespace tamis
