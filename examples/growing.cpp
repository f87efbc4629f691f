// Nobody knows how many keys will come. `evergreen` is made for a thousand and takes a million; old keys are found all along,
// and the rate stays where it was asked for.

#include <iostream>
#include <tamis/filters/evergreen.hpp>
#include <tamis/key_filter.hpp>

int main() {
  using numbers = tamis::key_filter<std::uint64_t, tamis::evergreen>;
  auto filter = numbers::create({.capacity = 1'000, .fpr = 0.01}).value();
  std::uint64_t key = 0;
  for (const std::uint64_t size : {1'000u, 30'000u, 1'000'000u}) {
    while (key < size) {
      if (filter.insert(key++) != tamis::insert_result::inserted) return 1;
    }
    std::uint64_t wrong = 0;
    for (std::uint64_t stranger = 1; stranger <= 100'000; ++stranger) wrong += filter.may_contain(~stranger);
    std::cout << filter.size() << " keys, " << filter.bits().fast / filter.size() << " bits each, "
              << static_cast<double>(wrong) / 1000 << " % wrong\n";
  }
  for (std::uint64_t old = 0; old < key; ++old) {
    if (!filter.may_contain(old)) return 1;
  }
}
