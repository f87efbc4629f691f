#include "tamis/detail/base/short_list.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tamis/detail/base/random.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;

using list = short_list<std::uint64_t, 4>;

std::vector<std::uint64_t> content(const list& l) { return {l.begin(), l.end()}; }

TEST(short_list, agrees_with_a_vector) {
  random_source random(1);
  list l;
  std::vector<std::uint64_t> model;
  for (int step = 0; step < 20000; ++step) {
    const std::uint64_t value = random.below(1000);
    switch (random.below(6)) {
      case 0:
      case 1:
        l.push_back(value);
        model.push_back(value);
        break;
      case 2:
        l.append(value % 4, value);
        model.insert(model.end(), value % 4, value);
        break;
      case 3: {
        if (model.empty()) break;
        const std::size_t at = random.below(model.size());
        l.erase(l.begin() + at);
        model.erase(model.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      }
      case 4: {
        const std::size_t size = random.below(model.size() + 1);
        l.shorten(size);
        model.resize(size);
        break;
      }
      default:
        if (random.chance(0.05)) l.clear(), model.clear();
    }
    ASSERT_EQ(content(l), model);
    ASSERT_EQ(l.empty(), model.empty());
    if (!model.empty()) {
      ASSERT_EQ(l.back(), model.back());
    }
  }
}

TEST(short_list, copies_are_lists_of_their_own) {
  for (const std::size_t size : {0, 3, 4, 5, 40}) {
    list from;
    for (std::size_t i = 0; i < size; ++i) from.push_back(i);
    list copy = from;
    list assigned;
    assigned.append(9, 77);
    assigned = from;
    EXPECT_EQ(content(copy), content(from));
    EXPECT_EQ(content(assigned), content(from));
    copy.push_back(1);
    assigned.push_back(2);
    EXPECT_EQ(from.size(), size);
    EXPECT_EQ(copy.size(), size + 1);
  }
}

}  // namespace
