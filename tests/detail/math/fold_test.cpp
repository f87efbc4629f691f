#include "tamis/detail/math/fold.hpp"

#include <gtest/gtest.h>

#include "tamis/detail/base/random.hpp"
#include "tamis/detail/hash/place.hpp"

namespace tamis::detail {
namespace {

static_assert(least_fold(2) == 0 && least_fold(4) == 2 && least_fold(9) == 3 && least_fold(35) == 5);
static_assert(least_fold(1) == 0 && least_fold(0) == 0 && least_fold(67) == 0 && least_fold(67 * 71) == 0);

// What folding rests on: dividing the number of places divides every place.
TEST(fold, place_in_a_divided_table_is_the_divided_place) {
  random_source draw(7);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t by = 2 + draw.below(63);
    const std::uint64_t smaller = 1 + draw.below(std::uint64_t{1} << draw.below(50));
    const std::uint64_t word = draw();
    ASSERT_EQ(reduce(word, smaller * by) / by, reduce(word, smaller));
  }
}

}  // namespace
}  // namespace tamis::detail
