#include "src/detail/base/slab.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tamis/detail/base/random.hpp"

namespace tamis::detail {
namespace {

constexpr std::uint64_t page = slab_region::page_bytes;
constexpr std::uint64_t region_bytes = slab_region::region_bytes;

// A slab with its regions, as the pool has them.
class mapped_slab {
 public:
  explicit mapped_slab(std::uint64_t part_bytes) : bytes_(part_bytes), slab_(part_bytes) {}
  ~mapped_slab() {
    for (const std::uintptr_t region : regions_) munmap(reinterpret_cast<void*>(region), region_bytes);
  }

  std::uint8_t* take() {
    void* part = slab_.take();
    if (part == nullptr) {
      void* const mapped = mmap(nullptr, 2 * region_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      const auto start = reinterpret_cast<std::uintptr_t>(mapped);
      const std::uintptr_t region = (start + region_bytes - 1) / region_bytes * region_bytes;
      if (region != start) munmap(mapped, region - start);
      if (start != region) munmap(reinterpret_cast<void*>(region + region_bytes), start + region_bytes - region);
      if (start == region) munmap(reinterpret_cast<void*>(region + region_bytes), region_bytes);
      regions_.push_back(region);
      slab_.add(region, false);
      part = slab_.take();
    }
    return static_cast<std::uint8_t*>(part);
  }
  void put_back(std::uint8_t* part) {
    if (const std::uintptr_t empty = slab_.put_back(part); empty != 0) {
      munmap(reinterpret_cast<void*>(empty), region_bytes);
      std::erase(regions_, empty);
    }
  }

  // Pages that take memory, as the system knows them.
  std::uint64_t resident() const {
    std::uint64_t pages = 0;
    std::vector<unsigned char> in(region_bytes / page);
    for (const std::uintptr_t region : regions_) {
      EXPECT_EQ(mincore(reinterpret_cast<void*>(region), region_bytes, in.data()), 0);
      pages += static_cast<std::uint64_t>(std::count_if(in.begin(), in.end(), [](unsigned char c) { return (c & 1) != 0; }));
    }
    return pages * page;
  }
  std::uint64_t said() const { return slab_.bytes_of_pages(); }
  std::size_t regions() const { return regions_.size(); }

 private:
  std::uint64_t bytes_;
  slab slab_;
  std::vector<std::uintptr_t> regions_;
};

class slabs : public testing::TestWithParam<std::uint64_t> {};

// Parts come zeroed and keep what is written, whatever comes and goes beside them, and nobody stands in a page that was given
// back.
TEST_P(slabs, parts_come_and_go) {
  constexpr std::uint64_t seed = 5;
  SCOPED_TRACE(seed);
  random_source random(seed);
  const std::uint64_t bytes = GetParam();
  struct part {
    std::uint8_t* at;
    std::uint8_t mark;
  };
  std::vector<part> parts;
  mapped_slab pool(bytes);
  const std::uint64_t many = 5 * region_bytes / 2 / bytes;
  const auto is_all = [&](const part& p) {
    return std::all_of(p.at, p.at + bytes, [&](std::uint8_t b) { return b == p.mark; });
  };
  for (int round = 0; round < 4; ++round) {
    const std::uint64_t wanted = round % 2 == 0 ? many : many / 8;
    while (parts.size() != wanted) {
      const bool more = parts.size() < wanted ? random.below(4) != 0 : random.below(4) == 0;
      if (more || parts.empty()) {
        part made{pool.take(), 0};
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(made.at) % 64, 0u);
        ASSERT_TRUE(is_all(made));
        made.mark = static_cast<std::uint8_t>(1 + random.below(255));
        std::fill(made.at, made.at + bytes, made.mark);
        parts.push_back(made);
      } else {
        std::swap(parts[random.below(parts.size())], parts.back());
        ASSERT_TRUE(is_all(parts.back()));
        pool.put_back(parts.back().at);
        parts.pop_back();
      }
    }
    for (const part& p : parts) ASSERT_TRUE(is_all(p));
    EXPECT_EQ(pool.said(), pool.resident());
  }
  for (const part& p : parts) pool.put_back(p.at);
  EXPECT_EQ(pool.regions(), 0u);
}

// Of parts that are left at random places no more is in vain than one page each, and not much beside.
TEST_P(slabs, pages_of_parts_that_are_gone_are_given_back) {
  random_source random(6);
  const std::uint64_t bytes = GetParam();
  mapped_slab pool(bytes);
  std::vector<std::uint8_t*> parts;
  while (parts.size() < 3 * region_bytes / bytes) parts.push_back(pool.take());
  EXPECT_LE(pool.said(), parts.size() * bytes + 4 * page);
  while (parts.size() > 8) {
    const std::size_t left = parts.size() / 2;
    while (parts.size() > left) {
      std::swap(parts[random.below(parts.size())], parts.back());
      pool.put_back(parts.back());
      parts.pop_back();
    }
    const std::uint64_t waiting = (2 + left / 64) * bytes;
    EXPECT_LE(pool.said(), parts.size() * (bytes + page) + waiting + page) << left;
  }
  for (std::uint8_t* const part : parts) pool.put_back(part);
}

// The first free part is taken: what has been emptied at the end goes.
TEST_P(slabs, holes_are_filled_first) {
  const std::uint64_t bytes = GetParam();
  mapped_slab pool(bytes);
  std::vector<std::uint8_t*> parts;
  while (parts.size() < 4 * region_bytes / bytes) parts.push_back(pool.take());
  std::vector<std::uint8_t*> holes;
  for (std::size_t i = 3; i < parts.size(); i += 7) holes.push_back(parts[i]);
  for (std::uint8_t* const hole : holes) pool.put_back(hole);
  std::vector<std::uint8_t*> taken;
  for (std::size_t i = 0; i < holes.size(); ++i) taken.push_back(pool.take());
  std::sort(holes.begin(), holes.end());
  std::sort(taken.begin(), taken.end());
  EXPECT_EQ(taken, holes);
  for (std::uint8_t* const part : parts) pool.put_back(part);
}

INSTANTIATE_TEST_SUITE_P(sizes, slabs, testing::Values(1024, 1088, 4096, 11'136, 15'168, 18'880, 65'536, 131'072));

}  // namespace
}  // namespace tamis::detail
