#pragma once

// Counts inside a run, as in the counting quotient filter (Pandey, Bender, Johnson and Patro, SIGMOD 2017, section 4.2). The
// remainders of a run ascend; what breaks the order is a digit of a counter. For a remainder x of r bits:
//
//   count       x > 0                                              x = 0
//   1           x                                                  0
//   2           x x                                                0 0
//   3           x 0 x                                              0 0 0
//   more        x [0] d … d x, d: count - 3 in base 2^r - 2         0 d … d 0 0, d: count - 4 in base 2^r - 1
//
// Digits are written so that neither 0 nor x occurs among them, and the 0 in brackets stands there unless the first of them is
// already smaller than x. Two zeros side by side therefore only occur in the counter of 0.

#include <array>
#include <cassert>
#include <cstdint>
#include <vector>

namespace tamis::detail {

struct counted_remainder {
  std::uint64_t remainder = 0;
  std::uint64_t count = 0;

  friend bool operator==(const counted_remainder&, const counted_remainder&) = default;
};

class run_counters {
 public:
  static constexpr unsigned least_width = 2;  // with fewer bits there are no two digits

  explicit run_counters(unsigned width) : largest_((std::uint64_t{1} << width) - 1) {}

  // Appends the slots of a remainder and its count.  Requires: count >= 1.
  void append(counted_remainder c, std::vector<std::uint64_t>& slots) const {
    const std::uint64_t x = c.remainder;
    slots.push_back(x);
    if (c.count == 1) return;
    if (x == 0) {
      if (c.count > 3) append_digits(x, c.count - 4, slots);
      slots.insert(slots.end(), c.count == 2 ? 1 : 2, 0);
      return;
    }
    if (c.count == 3) slots.push_back(0);
    if (c.count > 3) append_digits(x, c.count - 3, slots);
    slots.push_back(x);
  }

  struct parsed {
    counted_remainder counted;
    std::uint64_t slots = 0;
  };
  // The first remainder of slots [from, size), where at(i) is slot i. What is not a counter is read as single remainders, so
  // that every run can be read; a count beyond 64 bits is cut off.  Requires: from < size.
  template <class At>
  parsed parse(At at, std::uint64_t from, std::uint64_t size) const {
    const std::uint64_t x = at(from);
    const parsed once{{x, 1}, 1};
    if (from + 1 == size) return once;
    const std::uint64_t next = at(from + 1);
    if (next == x) {
      if (x == 0 && from + 2 < size && at(from + 2) == 0) return {{0, 3}, 3};
      return {{x, 2}, 2};
    }
    if (next > x && x != 0) return once;
    return x == 0 ? parse_zero(at, from, size, once) : parse_counter(at, x, from, size, once);
  }

 private:
  std::uint64_t base(std::uint64_t x) const { return x == 0 ? largest_ : largest_ - 1; }
  // The values but 0 and x, in order.
  static std::uint64_t digit(std::uint64_t x, std::uint64_t value) { return value + 1 + (x != 0 && value + 1 >= x); }
  static std::uint64_t value(std::uint64_t x, std::uint64_t digit) { return digit - 1 - (x != 0 && digit > x); }

  void append_digits(std::uint64_t x, std::uint64_t number, std::vector<std::uint64_t>& slots) const {
    std::array<std::uint64_t, 64> digits;  // the first one last
    auto first = digits.end();
    do {
      *--first = digit(x, number % base(x));
      number /= base(x);
    } while (number != 0);
    if (x != 0 && *first > x) slots.push_back(0);
    slots.insert(slots.end(), first, digits.end());
  }

  template <class At>
  parsed parse_counter(At at, std::uint64_t x, std::uint64_t from, std::uint64_t size, parsed once) const {
    std::uint64_t i = from + 1;
    if (at(i) == 0) ++i;
    std::uint64_t number = 0;
    for (; i < size && at(i) != x; ++i) {
      if (at(i) == 0) return once;
      number = number * base(x) + value(x, at(i));
    }
    if (i == size) return once;
    return {{x, number + 3}, i + 1 - from};
  }
  // A counter of 0 ends in two zeros; if the next zero is alone, or there is none, what follows are other remainders.
  template <class At>
  parsed parse_zero(At at, std::uint64_t from, std::uint64_t size, parsed once) const {
    std::uint64_t number = 0;
    std::uint64_t i = from + 1;
    for (; i < size && at(i) != 0; ++i) number = number * base(0) + value(0, at(i));
    if (i + 1 >= size || at(i + 1) != 0) return once;
    return {{0, number + 4}, i + 2 - from};
  }

  std::uint64_t largest_;
};

}  // namespace tamis::detail
