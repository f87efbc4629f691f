// The arithmetic coder and the numbers in it: what goes in comes out, likely bits are cheap, and a short code is noticed.

#include <gtest/gtest.h>

#include <cmath>

#include "src/difference/bit_coder.hpp"
#include "tamis/detail/base/random.hpp"

namespace tamis::difference {
namespace {

TEST(bit_coder, bits_come_back_and_cost_their_entropy) {
  for (const double share : {0.5, 0.1, 0.01, 0.0001, 0.0}) {
    detail::random_source draw(7);
    std::vector<bool> bits;
    for (int i = 0; i < 100'000; ++i) bits.push_back(static_cast<double>(draw.below(1u << 20)) < share * (1u << 20));
    bit_encoder to;
    bit_model model;
    for (const bool bit : bits) to.put(bit, model);
    const auto bytes = std::move(to).finish();
    const double entropy = share == 0 ? 0 : -share * std::log2(share) - (1 - share) * std::log2(1 - share);
    EXPECT_LT(static_cast<double>(bytes.size()) * 8, 100'000 * (1.08 * entropy + 0.002) + 64) << share;
    bit_decoder from(bytes);
    bit_model again;
    for (const bool bit : bits) ASSERT_EQ(from.get(again), bit);
    EXPECT_FALSE(from.overrun());
    EXPECT_TRUE(from.at_end());
  }
}

TEST(bit_coder, numbers_come_back) {
  std::vector<std::uint64_t> numbers = {0, 1, 2, 3, 4, 7, 8, 255, 256, ~std::uint64_t{0}, std::uint64_t{1} << 63};
  detail::random_source draw(8);
  for (int i = 0; i < 10'000; ++i) numbers.push_back(draw() >> draw.below(64));
  bit_encoder to;
  number_model model;
  for (const std::uint64_t number : numbers) model.put(to, number);
  const auto bytes = std::move(to).finish();
  bit_decoder from(bytes);
  number_model again;
  for (const std::uint64_t number : numbers) ASSERT_EQ(again.get(from), number);
  EXPECT_TRUE(from.at_end());
}

TEST(bit_coder, a_code_that_was_cut_off_ends) {
  bit_encoder to;
  number_model model;
  for (std::uint64_t i = 0; i < 1000; ++i) model.put(to, i * i);
  auto bytes = std::move(to).finish();
  bytes.resize(bytes.size() / 2);
  bit_decoder from(bytes);
  number_model again;
  for (std::uint64_t i = 0; i < 1000; ++i) again.get(from);
  EXPECT_TRUE(from.overrun());
  EXPECT_FALSE(from.at_end());
}

}  // namespace
}  // namespace tamis::difference
