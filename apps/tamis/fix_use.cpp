#include "fix_use.hpp"

#include <vector>

#include "tamis/detail/io/frame.hpp"
#include "tamis/filters/evergreen.hpp"
#include "tamis/filters/evergreen_fixed.hpp"
#include "tamis/key_filter.hpp"

namespace tamis::cli {

using namespace detail;

namespace {

void add(fix_use& all, const paired_table& table) {
  const spaced_table& slots = table.table();
  if (slots.used() == 0) return;
  all.fixes += table.lengthened();
  all.bits += slots.bits() / slots.slots() * (slots.used() - table.entries());
}
fix_use use_in(const evergreen& f) {
  fix_use all;
  for (const segment& s : f.tree().segments()) add(all, s.table());
  return all;
}
fix_use use_in(const evergreen_fixed& f) {
  fix_use all;
  add(all, f.table().wide());
  if (f.table().first_wide() != 0) add(all, f.table().narrow());
  all.over_budget = static_cast<double>(f.bits().fast) / static_cast<double>(f.budget_bits()) - 1;
  return all;
}

// The filter as its own type, by way of its bytes: `info` shows what others have no word for.
template <class Filter>
std::optional<fix_use> use_of(const std::vector<std::byte>& bytes) {
  std::optional<fix_use> use;
  memory_source source(bytes);
  const status read = read_frame(source, [&](const frame_header& header, reader& in) -> status {
    TAMIS_TRY(const Filter f, load_static<Filter>(header, in));
    use = use_in(f);
    return {};
  });
  return read.ok() ? use : std::nullopt;
}

}  // namespace

std::optional<fix_use> fixes_of(const any_filter& filter) {
  if (filter.info().id == evergreen::info.id) return use_of<evergreen>(filter.save_bytes());
  if (filter.info().id == evergreen_fixed::info.id) return use_of<evergreen_fixed>(filter.save_bytes());
  return std::nullopt;
}

json fixes_json(const fix_use& use) {
  return {{"fixes", use.fixes}, {"bits", use.bits}, {"over_budget", use.over_budget ? json(*use.over_budget) : json()}};
}

}  // namespace tamis::cli
