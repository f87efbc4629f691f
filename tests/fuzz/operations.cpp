// Operations on one filter of the registry beside a multiset. The first bytes choose the filter, its size and who learns of a
// change first; then two bytes are one operation.

#include "tamis/registry.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/support/checked_filter.hpp"

namespace tamis::fuzz {
namespace {

constexpr std::size_t most_steps = 200;
constexpr double rates[] = {0.5, 0.2, 0.05, 0.01};
constexpr std::uint8_t universe = 48;  // few keys, so that copies and collisions are common

unsigned number(std::byte b) { return std::to_integer<unsigned>(b); }

result<any_filter> chosen(input by) {
  const auto filters = registry::builtin().entries();
  filter_params params;
  params.capacity = 1 + number(by[1]) % 96;
  params.fpr = rates[number(by[2]) % std::size(rates)];
  std::string id(filters[number(by[0]) % filters.size()].info->id);
  if (number(by[2]) >= 192) id += "+mistakes";
  return any_filter::create(id, params, test::test_hash());
}

}  // namespace

void operations(input steps) {
  constexpr std::size_t head = 4;
  if (steps.size() < head) return;
  const auto empty = chosen(steps.first(head));
  if (!empty) return;  // not every filter has every rate
  const bool adapts = empty->can().adapt;
  const auto use = adapts ? static_cast<test::remote_use>(number(steps[3]) % 3) : test::remote_use::none;
  test::checked_filter f(*empty, nullptr, use);
  steps = steps.subspan(head);
  for (std::size_t i = 0; i + 1 < steps.size() && i < 2 * most_steps; i += 2) {
    f.apply({static_cast<test::step>(number(steps[i]) % test::step_kinds),
             static_cast<std::uint8_t>(number(steps[i + 1]) % universe)});
    f.check();
  }
}

}  // namespace tamis::fuzz
