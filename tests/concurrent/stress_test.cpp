// Sixteen threads on one filter (stress.hpp), briefly. `./check threads` runs them for as long as one likes.

#include "stress.hpp"

#include <gtest/gtest.h>

namespace tamis::test {
namespace {

constexpr unsigned threads = 16;
constexpr std::uint64_t operations = 1500;

class stress : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(all, stress, ::testing::ValuesIn(all_kinds()), test_name);

TEST_P(stress, no_key_is_lost) { EXPECT_EQ(stress_beside_saves(GetParam(), threads, operations).wrong, 0u); }
TEST_P(stress, no_key_is_lost_among_mistakes_and_growth) {
  EXPECT_EQ(stress_among_mistakes(GetParam(), threads, operations).wrong, 0u);
}

// Writers all the time: whoever reads gets in, and who writes gets its turn.
TEST(stress_of_one_stripe, everybody_gets_in) {
  concurrent_filter shared = make_concurrent("bloom", 1'000'000, 1);
  ASSERT_EQ(shared.insert("in"), insert_result::inserted);
  std::atomic<bool> ended = false;
  std::vector<std::thread> writers;
  for (unsigned w = 0; w < 4; ++w) {
    writers.emplace_back([&, w] {
      for (std::uint64_t i = 0; !ended; ++i) static_cast<void>(shared.insert(std::uint64_t{w} << 32 | i));
    });
  }
  std::uint64_t lost = 0;
  for (int i = 0; i < 2000; ++i) lost += !shared.may_contain("in");
  ended = true;
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(lost, 0u);
  ended = false;
  std::vector<std::thread> readers;
  for (unsigned r = 0; r < 4; ++r) {
    readers.emplace_back([&] {
      while (!ended) static_cast<void>(shared.may_contain("in"));
    });
  }
  for (std::uint64_t i = 0; i < 2000; ++i) ASSERT_EQ(shared.insert(i), insert_result::inserted);
  ended = true;
  for (std::thread& reader : readers) reader.join();
}

}  // namespace
}  // namespace tamis::test
