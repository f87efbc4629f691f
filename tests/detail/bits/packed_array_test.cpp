#include "tamis/detail/bits/packed_array.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tamis/detail/base/random.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;

using dynamic_array = packed_array<dynamic_width>;
using words_type = zeroed_array<std::uint64_t>;

constexpr std::uint64_t seed = 20240613;
constexpr std::uint64_t sizes[] = {0, 1, 2, 7, 63, 64, 65, 129, 501};
constexpr std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();

// A packed array of any static or dynamic width, so that the tests are compiled once and not 64 times.
struct array_under_test {
  virtual ~array_under_test() = default;
  virtual std::uint64_t get(std::uint64_t i) const = 0;
  virtual void set(std::uint64_t i, std::uint64_t value) = 0;
  virtual void move_up(std::uint64_t first, std::uint64_t last) = 0;
  virtual void move_down(std::uint64_t first, std::uint64_t last) = 0;
  virtual std::uint64_t size() const = 0;
  virtual std::uint64_t bits() const = 0;
  virtual unsigned width() const = 0;
  virtual std::uint64_t max_value() const = 0;
  virtual status validate() const = 0;
  virtual unsigned saved_width() const = 0;
  virtual std::vector<std::uint64_t> saved_words() const = 0;
  virtual std::unique_ptr<array_under_test> copy() const = 0;
  virtual bool equals(const array_under_test& other) const = 0;
};

template <unsigned Width>
struct wrapped final : array_under_test {
  packed_array<Width> array;

  explicit wrapped(packed_array<Width> a) : array(std::move(a)) {}
  std::uint64_t get(std::uint64_t i) const override { return array.get(i); }
  void set(std::uint64_t i, std::uint64_t value) override { array.set(i, value); }
  void move_up(std::uint64_t first, std::uint64_t last) override { array.move_up(first, last); }
  void move_down(std::uint64_t first, std::uint64_t last) override { array.move_down(first, last); }
  std::uint64_t size() const override { return array.size(); }
  std::uint64_t bits() const override { return array.bits(); }
  unsigned width() const override { return array.width(); }
  std::uint64_t max_value() const override { return array.max_value(); }
  status validate() const override { return array.validate(); }
  unsigned saved_width() const override {
    unsigned saved = 0;
    const auto archive = [&](const auto&, const auto& w, const auto&) { saved = w; };
    packed_array<Width>::visit(array, archive);
    return saved;
  }
  std::vector<std::uint64_t> saved_words() const override {
    std::vector<std::uint64_t> saved;
    const auto archive = [&](const auto&, const auto&, const words_type& words) { saved.assign(words.begin(), words.end()); };
    packed_array<Width>::visit(array, archive);
    return saved;
  }
  std::unique_ptr<array_under_test> copy() const override { return std::make_unique<wrapped>(array); }
  bool equals(const array_under_test& other) const override { return array == dynamic_cast<const wrapped&>(other).array; }
};

template <unsigned Width>
std::unique_ptr<array_under_test> make_static(std::uint64_t size) {
  return std::make_unique<wrapped<Width>>(packed_array<Width>::make(size).value());
}

std::unique_ptr<array_under_test> make_static(std::uint64_t size, unsigned width) {
  return [&]<unsigned... Index>(std::integer_sequence<unsigned, Index...>) {
    constexpr std::unique_ptr<array_under_test> (*makers[])(std::uint64_t) = {&make_static<Index + 1>...};
    return makers[width - 1](size);
  }
  (std::make_integer_sequence<unsigned, 64>());
}

std::unique_ptr<array_under_test> make_dynamic(std::uint64_t size, unsigned width) {
  return std::make_unique<wrapped<dynamic_width>>(dynamic_array::make(size, width).value());
}

template <class Test>
void for_every_width(Test test) {
  for (unsigned width = 1; width <= 64 && !testing::Test::HasFatalFailure(); ++width) {
    SCOPED_TRACE("width " + std::to_string(width));
    test(width);
  }
}

std::uint64_t random_value(unsigned width, random_source& random) {
  switch (random.below(4)) {
    case 0: return 0;
    case 1: return low_mask(width);
    default: return random() & low_mask(width);
  }
}

// A static and a dynamic array beside the vector that both must agree with.
struct three_arrays {
  unsigned width;
  std::unique_ptr<array_under_test> fixed;
  std::unique_ptr<array_under_test> dynamic;
  std::vector<std::uint64_t> model;

  three_arrays(std::uint64_t size, unsigned w)
      : width(w), fixed(make_static(size, w)), dynamic(make_dynamic(size, w)), model(size) {}

  three_arrays(std::uint64_t size, unsigned w, random_source& random) : three_arrays(size, w) {
    for (std::uint64_t i = 0; i < size; ++i) set(i, random_value(w, random));
  }

  void set(std::uint64_t i, std::uint64_t value) {
    fixed->set(i, value);
    dynamic->set(i, value);
    model[i] = value;
  }

  void expect_equal_values() const {
    ASSERT_EQ(fixed->size(), model.size());
    ASSERT_EQ(dynamic->size(), model.size());
    for (std::uint64_t i = 0; i < model.size(); ++i) {
      ASSERT_EQ(fixed->get(i), model[i]) << "value " << i << " of " << model.size();
      ASSERT_EQ(dynamic->get(i), model[i]) << "value " << i << " of " << model.size();
    }
  }

  // Values agree, nothing is written after the end, and both kinds save the same fields, each value where the header says.
  void expect_equal() const {
    expect_equal_values();
    ASSERT_TRUE(fixed->validate().ok()) << fixed->validate().message();
    ASSERT_TRUE(dynamic->validate().ok()) << dynamic->validate().message();
    ASSERT_EQ(fixed->saved_width(), width);
    ASSERT_EQ(dynamic->saved_width(), width);
    const std::vector<std::uint64_t> words = fixed->saved_words();
    ASSERT_EQ(words, dynamic->saved_words());
    std::vector<std::uint64_t> expected(words.size());
    for (std::uint64_t b = 0; b < model.size() * width; ++b) {
      expected[b / 64] |= (model[b / width] >> (b % width) & 1) << (b % 64);
    }
    ASSERT_EQ(words, expected);
  }
};

TEST(packed_array, starts_with_zeros_and_takes_one_spare_word) {
  for_every_width([](unsigned width) {
    for (const std::uint64_t size : sizes) {
      const three_arrays arrays(size, width);
      arrays.expect_equal();
      EXPECT_EQ(arrays.fixed->width(), width);
      EXPECT_EQ(arrays.dynamic->width(), width);
      EXPECT_EQ(arrays.fixed->max_value(), low_mask(width));
      EXPECT_EQ(arrays.dynamic->max_value(), low_mask(width));
      const std::uint64_t expected_words = size == 0 ? 0 : (size * width + 63) / 64 + 1;
      EXPECT_EQ(arrays.fixed->bits(), expected_words * 64);
      EXPECT_EQ(arrays.dynamic->bits(), expected_words * 64);
    }
  });
  EXPECT_EQ(packed_array<7>(), packed_array<7>::make(0).value());
  EXPECT_TRUE(packed_array<7>().validate().ok());
  EXPECT_TRUE(dynamic_array().validate().ok());
  EXPECT_EQ(dynamic_array().size(), 0u);
}

TEST(packed_array, set_changes_one_value) {
  SCOPED_TRACE(seed);
  random_source random(seed);
  for_every_width([&](unsigned width) {
    for (const std::uint64_t size : sizes) {
      three_arrays arrays(size, width, random);
      for (int round = 0; round < 200 && size > 0; ++round) {
        arrays.set(random.below(size), random_value(width, random));
      }
      arrays.expect_equal();
    }
  });
}

// All neighbours one, then all neighbours zero: a bit that leaks out of a value shows at once.
TEST(packed_array, set_leaves_its_neighbours_alone) {
  for_every_width([](unsigned width) {
    three_arrays arrays(65, width);
    for (const std::uint64_t background : {low_mask(width), std::uint64_t{0}}) {
      for (std::uint64_t i = 0; i < 65; ++i) arrays.set(i, background);
      for (std::uint64_t i = 0; i < 65; ++i) {
        arrays.set(i, low_mask(width) ^ background);
        arrays.expect_equal_values();
        if (testing::Test::HasFatalFailure()) return;
        arrays.set(i, background);
      }
      arrays.expect_equal();
    }
  });
}

TEST(packed_array, move_up_moves_a_range_by_one) {
  SCOPED_TRACE(seed + 1);
  random_source random(seed + 1);
  for_every_width([&](unsigned width) {
    for (const std::uint64_t size : sizes) {
      if (size == 0) continue;
      three_arrays arrays(size, width, random);
      for (int round = 0; round < 25; ++round) {
        std::uint64_t first = round == 0 ? 0 : random.below(size);
        std::uint64_t last = round % 4 == 0 ? size - 1 : random.below(size);
        if (first > last) std::swap(first, last);
        arrays.fixed->move_up(first, last);
        arrays.dynamic->move_up(first, last);
        std::vector<std::uint64_t> moved = arrays.model;
        for (std::uint64_t i = first; i < last; ++i) moved[i + 1] = arrays.model[i];
        arrays.model = moved;
        arrays.expect_equal();
        if (testing::Test::HasFatalFailure()) return;
        arrays.set(first, random_value(width, random));
      }
    }
  });
}

TEST(packed_array, move_down_moves_a_range_by_one) {
  SCOPED_TRACE(seed + 2);
  random_source random(seed + 2);
  for_every_width([&](unsigned width) {
    for (const std::uint64_t size : sizes) {
      if (size == 0) continue;
      three_arrays arrays(size, width, random);
      for (int round = 0; round < 25; ++round) {
        std::uint64_t first = round == 0 ? 1 : 1 + random.below(size);
        std::uint64_t last = round % 4 == 0 ? size : 1 + random.below(size);
        if (first > last) std::swap(first, last);
        arrays.fixed->move_down(first, last);
        arrays.dynamic->move_down(first, last);
        std::vector<std::uint64_t> moved = arrays.model;
        for (std::uint64_t i = first; i < last; ++i) moved[i - 1] = arrays.model[i];
        arrays.model = moved;
        arrays.expect_equal();
        if (testing::Test::HasFatalFailure()) return;
        arrays.set(last - 1, random_value(width, random));
      }
    }
  });
}

TEST(packed_array, equality_and_copies) {
  SCOPED_TRACE(seed + 3);
  random_source random(seed + 3);
  for_every_width([&](unsigned width) {
    const three_arrays arrays(65, width, random);
    for (array_under_test* array : {arrays.fixed.get(), arrays.dynamic.get()}) {
      const std::unique_ptr<array_under_test> copy = array->copy();
      EXPECT_TRUE(copy->equals(*array));
      copy->set(64, copy->get(64) ^ 1);
      EXPECT_FALSE(copy->equals(*array));
      EXPECT_EQ(array->get(64), arrays.model[64]);
    }
  });
  EXPECT_NE(dynamic_array::make(6, 4).value(), dynamic_array::make(4, 6).value());  // the same words
  EXPECT_NE(dynamic_array::make(6, 4).value(), dynamic_array::make(7, 4).value());
}

TEST(packed_array, holds_more_than_32_bits_can_count) {
  const std::uint64_t far = std::uint64_t{1} << 32;
  packed_array<1> many = packed_array<1>::make(far + 100).value();
  many.set(far + 70, 1);
  EXPECT_EQ(many.get(far + 70), 1u);
  EXPECT_EQ(many.get(70), 0u);
  many.move_up(far - 5, far + 99);
  EXPECT_EQ(many.get(far + 71), 1u);
  EXPECT_EQ(many.get(far + 70), 0u);
  many = packed_array<1>();

  const std::uint64_t wide_size = far / 61 + 100;  // few values, but more than 2^32 bits
  dynamic_array wide = dynamic_array::make(wide_size, 61).value();
  wide.set(wide_size - 1, low_mask(61));
  wide.set(wide_size - 3, 12345);
  EXPECT_EQ(wide.get(wide_size - 1), low_mask(61));
  EXPECT_EQ(wide.get(wide_size - 2), 0u);
  wide.move_down(wide_size - 3, wide_size);
  EXPECT_EQ(wide.get(wide_size - 4), 12345u);
  EXPECT_EQ(wide.get(wide_size - 2), low_mask(61));
}

TEST(packed_array, make_refuses_bad_widths_by_name) {
  for (const unsigned width : {0u, 65u, 128u, ~0u}) {
    const result<dynamic_array> made = dynamic_array::make(10, width);
    ASSERT_FALSE(made.ok()) << width;
    EXPECT_NE(made.message().find(std::to_string(width)), std::string::npos) << made.message();
    EXPECT_NE(made.message().find("1 to 64"), std::string::npos) << made.message();
  }
}

TEST(packed_array, make_refuses_sizes_that_overflow) {
  EXPECT_FALSE(dynamic_array::make(huge, 64).ok());
  EXPECT_FALSE(dynamic_array::make(huge / 64 + 1, 64).ok());  // 2^64 bits: 0 if not checked
  EXPECT_FALSE(dynamic_array::make(huge / 3 + 1, 3).ok());
  EXPECT_FALSE(packed_array<64>::make(huge / 64 + 1).ok());
  EXPECT_FALSE(packed_array<1>::make(huge).ok());  // fits in 64 bits, but in no memory
}

// An archive that changes the fields as a damaged file would.
template <class Array, class Damage>
status validate_after(Array array, Damage damage) {
  Array::visit(array, damage);
  return array.validate();
}

template <class Array>
void expect_damage_is_refused(const Array& array) {
  ASSERT_EQ(array.size(), 10u);  // 10 values of 13 bits: two words, 2 bits of the third, the spare one
  ASSERT_EQ(array.width(), 13u);
  EXPECT_TRUE(validate_after(array, [](auto&, auto&, auto&) {}).ok());
  EXPECT_TRUE(validate_after(array, [](auto&, auto&, words_type& words) { words[0] = words[1] = huge, words[2] = 3; }).ok());
  for (const unsigned width : {0u, 7u, 12u, 20u, 65u, 64u + 13u, ~0u}) {
    EXPECT_FALSE(validate_after(array, [=](auto&, unsigned& w, auto&) { w = width; }).ok()) << width;
  }
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{9}, std::uint64_t{15}, huge, huge / 13 + 2}) {
    EXPECT_FALSE(validate_after(array, [=](std::uint64_t& s, auto&, auto&) { s = size; }).ok()) << size;
  }
  for (const std::uint64_t count : {0u, 1u, 2u, 3u, 5u}) {
    EXPECT_FALSE(validate_after(array, [=](auto&, auto&, words_type& words) { words = words_type::make(count).value(); }).ok());
  }
  for (std::uint64_t b = 130; b < 256; ++b) {
    EXPECT_FALSE(
        validate_after(array, [=](auto&, auto&, words_type& words) { words[b / 64] = std::uint64_t{1} << (b % 64); }).ok())
        << b;
  }
}

TEST(packed_array, validate_refuses_damaged_fields) {
  expect_damage_is_refused(packed_array<13>::make(10).value());
  expect_damage_is_refused(dynamic_array::make(10, 13).value());
}

TEST(packed_array, validate_checks_the_product_of_size_and_width) {
  // 2^58 values of 64 bits are 2^64 bits, which would wrap to an empty array.
  const auto wrap = [](std::uint64_t& size, unsigned& width, auto&) { size = std::uint64_t{1} << 58, width = 64; };
  EXPECT_FALSE(validate_after(dynamic_array(), wrap).ok());
  EXPECT_FALSE(validate_after(packed_array<64>(), wrap).ok());
}

TEST(packed_array, validate_refuses_another_width_even_if_the_words_would_do) {
  const auto narrow = [](std::uint64_t& size, unsigned& width, auto&) { size = 13, width = 10; };
  EXPECT_TRUE(validate_after(dynamic_array::make(10, 13).value(), narrow).ok());
  EXPECT_FALSE(validate_after(packed_array<13>::make(10).value(), narrow).ok());
}

TEST(packed_array, visit_lists_every_field) {
  SCOPED_TRACE(seed + 4);
  random_source random(seed + 4);
  packed_array<21> saved = packed_array<21>::make(65).value();
  for (std::uint64_t i = 0; i < saved.size(); ++i) saved.set(i, random_value(21, random));
  packed_array<21> fixed;
  dynamic_array dynamic;
  const auto save = [&](const auto&... from) {
    const auto load = [&](auto&... to) { ((to = from), ...); };
    packed_array<21>::visit(fixed, load);
    dynamic_array::visit(dynamic, load);
  };
  packed_array<21>::visit(std::as_const(saved), save);
  EXPECT_EQ(fixed, saved);
  ASSERT_TRUE(dynamic.validate().ok());  // a saved static array loads as a dynamic one
  for (std::uint64_t i = 0; i < saved.size(); ++i) EXPECT_EQ(dynamic.get(i), saved.get(i)) << i;
}

}  // namespace
