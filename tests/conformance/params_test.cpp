// What a filter cannot be made from is refused by name; nothing crashes, whatever the numbers are.

#include <cmath>
#include <limits>

#include "tests/conformance/cases.hpp"

namespace tamis::test {

using namespace detail;

namespace {

TAMIS_CONFORMANCE(params, all_cases());
TAMIS_CONFORMANCE(bounded, all_variants());

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

TEST_P(params, bad_capacity_is_named) {
  for (const std::uint64_t capacity : {std::uint64_t{0}, std::uint64_t{1} << 60, ~std::uint64_t{0}}) {
    EXPECT_TRUE(refused(create({.capacity = capacity, .fpr = 0.01}), "capacity " + std::to_string(capacity)));
    EXPECT_TRUE(refused(create({.capacity = capacity, .bits_per_key = 10}), "capacity " + std::to_string(capacity)));
  }
}

TEST_P(params, bad_rate_is_named) {
  for (const double fpr : {0.0, 1.0, 1.5, -1.0, -0.0, not_a_number, infinite, -infinite}) {
    EXPECT_TRUE(refused(create({.capacity = 100, .fpr = fpr}), "fpr")) << fpr;
  }
}

TEST_P(params, bad_bits_per_key_are_named) {
  for (const double bits : {0.0, -1.0, not_a_number, infinite, -infinite, 1e6}) {
    EXPECT_TRUE(refused(create({.capacity = 100, .bits_per_key = bits}), "bits per key")) << bits;
  }
}

TEST_P(params, exactly_one_of_rate_and_bits) {
  EXPECT_TRUE(refused(create({.capacity = 100}), "fpr"));
  EXPECT_TRUE(refused(create({.capacity = 100}), "bits per key"));
  EXPECT_TRUE(refused(create({.capacity = 100, .fpr = 0.01, .bits_per_key = 10}), "both"));
}

TEST_P(params, unknown_option_is_named) {
  EXPECT_TRUE(refused(create({.capacity = 100, .fpr = 0.01, .options = {{"nonsense", "1"}}}), "nonsense"));
  EXPECT_TRUE(refused(create({.capacity = 100, .fpr = 0.01, .options = {{"", ""}}}), "option"));
}

TEST_P(params, bad_option_values_are_named) {
  for (const option_info& option : GetParam().entry->info->options) {
    const std::string name(option.name);
    for (const std::string value : {"", "garbage", "-1", "1.5", " 1", "99999999999999999999999"}) {
      EXPECT_TRUE(refused(create({.capacity = 100, .fpr = 0.01, .options = {{name, value}}}), name)) << value;
    }
    EXPECT_TRUE(refused(create({.capacity = 100, .fpr = 0.01, .options = {{name, "1"}, {name, "1"}}}), name));
  }
}

// Numbers at the ends of what is allowed: a filter that works, or a reason.
TEST_P(params, extremes_work_or_have_a_reason) {
  constexpr double least = std::numeric_limits<double>::denorm_min();
  constexpr std::uint64_t small_enough_to_save = std::uint64_t{1} << 24;
  std::vector<filter_params> extremes;
  for (const std::uint64_t capacity : {std::uint64_t{1}, std::uint64_t{100}, largest_capacity}) {
    for (const double fpr : {least, 1e-300, 1e-18, 0.5, 0.999, std::nextafter(1.0, 0.0)}) {
      extremes.push_back({.capacity = capacity, .fpr = fpr});
    }
    for (const double bits : {least, 1e-6, 1.0, 64.0, 4096.0}) extremes.push_back({.capacity = capacity, .bits_per_key = bits});
  }
  for (const filter_params& p : extremes) {
    SCOPED_TRACE(::testing::Message() << "capacity " << p.capacity << ", fpr " << p.fpr.value_or(0) << ", bits per key "
                                      << p.bits_per_key.value_or(0));
    auto f = create(p);
    if (!f) {
      EXPECT_TRUE(refused(f));
      continue;
    }
    const std::vector<digest> in = insert_all(*f, keys(3));
    EXPECT_TRUE(may_contain_all(*f, in));
    if (f->bits().fast < small_enough_to_save) {
      EXPECT_TRUE(may_contain_all(load(f->save_bytes()).value(), in));
    }
  }
}

// Counts what is asked for, and refuses what would bring it above the limit.
class limited_memory final : public memory_resource {
 public:
  explicit limited_memory(std::uint64_t most) : most_(most) {}
  std::uint64_t most_asked() const { return most_asked_; }

  void* allocate_zeroed(std::uint64_t bytes, std::uint64_t alignment) noexcept override {
    most_asked_ = std::max(most_asked_, used_ + bytes);
    if (used_ + bytes > most_) return nullptr;
    void* const memory = heap_memory().allocate_zeroed(bytes, alignment);
    if (memory != nullptr) used_ += bytes;
    return memory;
  }
  void release(void* memory, std::uint64_t bytes, std::uint64_t alignment) noexcept override {
    used_ -= bytes;
    heap_memory().release(memory, bytes, alignment);
  }

 private:
  std::uint64_t most_;
  std::uint64_t used_ = 0;
  std::uint64_t most_asked_ = 0;
};

// A tiny rate must not ask for more fast memory than the most bits per key would; where it would, it is the rate that is named.
// The smallest tables come on top, and in slow memory up to 16 shadows.
TEST_P(bounded, rate_takes_no_more_than_the_most_bits_per_key) {
  constexpr std::uint64_t capacity = 1000;
  constexpr std::uint64_t most_bytes = capacity * 4096 / 8;
  constexpr std::uint64_t smallest_tables = 64 << 10;
  constexpr std::uint64_t shadows = 16 * most_bytes;
  for (const double fpr : {1e-2, 1e-6, 1e-12, 1e-18, 1e-20, 1e-30, 1e-100, 1e-300, std::numeric_limits<double>::denorm_min()}) {
    SCOPED_TRACE(::testing::Message() << "fpr " << fpr);
    limited_memory memory(most_bytes + smallest_tables + shadows);
    const auto f = create({.capacity = capacity, .fpr = fpr, .memory = &memory});
    EXPECT_LE(memory.most_asked(), most_bytes + smallest_tables + shadows);
    if (f) {
      EXPECT_LE(f->bits().fast / 8, most_bytes + smallest_tables);
    } else {
      EXPECT_TRUE(refused(f, "fpr ")) << "but does not say which: " << f.message();
      EXPECT_EQ(f.message().find("0.000000"), std::string::npos) << f.message();
    }
  }
}

TEST_P(params, larger_capacity_never_takes_less_memory) {
  std::uint64_t before = 0;
  for (std::uint64_t capacity = 64; capacity <= 1 << 16; capacity = capacity * 3 / 2) {
    const std::uint64_t bits = make(capacity).bits().fast;
    EXPECT_GE(bits, before) << capacity;
    before = bits;
  }
}

}  // namespace
}  // namespace tamis::test
