#pragma once

// Filters of the evergreen experiments: any filters of the registry, each beside the truth; and how they are drawn.

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lab/experiment.hpp"
#include "lab/experiments/asked_filter.hpp"
#include "tamis/detail/base/random.hpp"

namespace tamis::lab {

inline constexpr const char* evergreen_paper = "Evergreen filter (our own)";

// A quotient filter that does not adapt, on the table that evergreen stands on: evergreen-fixed that is told nothing.
inline constexpr const char* decoupled_id = "evergreen-fixed";

// Why evergreen misses what it was to do against acf-cuckooing, where it does.
inline constexpr const char* why_steps =
    "When fixes have filled it, a hard budget makes room in steps of two slots a block, for which at 10.6 bits (38 slots) half "
    "of the quotients give up a bit at once: its rate goes from 0.41 to 0.62 % at six different negatives per key. The fixes "
    "up "
    "to ten need half of that room.";
inline constexpr const char* why_90 =
    "By default acf-cuckooing is filled to 90 %: f bits of fingerprint in f / 0.9 bits per key, f whole. Just below a step of "
    "f, "
    "as at 10, 11 … bits, it makes twice evergreen's mistakes, just above one, as at 10.5, 11.5 …, one and a half times as "
    "many.";
inline constexpr const char* why_95 =
    "Filled to 95 %, acf-cuckooing has a rate of 3.8 / 2^f in f / 0.95 bits, f whole: from 0.9 (just above a step of f) to 1.7 "
    "times (just below) the rate of evergreen's table. Its mirror takes 136 bits per slot of slow memory.";

struct contestant {
  std::string name;  // in the table
  std::string id;
  option_list options = {};
  bool has_remote = true;  // may it ask the store, when it adapts and when it grows?
};

// The remote holds what the filter holds.
class contest_filter : public asked_filter {
 public:
  contest_filter(contestant who, any_filter f) : asked_filter(std::move(f), who.has_remote), who_(std::move(who)) {}

  const std::string& name() const { return who_.name; }
  bool has_remote() const { return who_.has_remote; }
  double bits_per_key() const { return static_cast<double>(filter().bits().fast) / static_cast<double>(filter().keys()); }

  bool insert(digest d, const memory_remote& stored) {
    const insert_result how = who_.has_remote ? filter().insert(d, remote_ref(stored)) : filter().insert(d);
    return how == insert_result::inserted;
  }
  void erase(digest d, const memory_remote& stored) {
    who_.has_remote ? filter().erase(d, remote_ref(stored)) : filter().erase(d);
  }
  // The share of wrong answers since the last call.
  double take_rate() {
    const double seen = rate();
    forget_counts();
    return seen;
  }

 private:
  contestant who_;
};

// Bits of fast memory per key that everybody may have; fingerprints are as long as that allows.
inline constexpr double contest_bits = 13.5;

inline result<std::vector<contest_filter>> contest(const std::vector<contestant>& all, std::uint64_t capacity,
                                                   double bits_per_key = contest_bits) {
  std::vector<contest_filter> made;
  for (const contestant& who : all) {
    filter_params params{.capacity = capacity, .options = who.options};
    params.bits_per_key = bits_per_key;
    TAMIS_TRY(any_filter f, any_filter::create(who.id, params));
    made.emplace_back(who, std::move(f));
  }
  return made;
}
// With fingerprints of a given length, for filters that begin small.
inline result<contest_filter> beginner(const contestant& who, std::uint64_t capacity) {
  TAMIS_TRY(any_filter f, any_filter::create(who.id, {.capacity = capacity, .fpr = 0.004, .options = who.options}));
  return contest_filter(who, std::move(f));
}

inline digest any_digest(detail::random_source& random) { return {random(), random()}; }

// How a contestant is called in charts.
struct contest_line {
  const char* name;
  const char* label;
  const char* colour;
  mark as = mark::line;
};
inline constexpr contest_line contest_lines[] = {{"evergreen", "evergreen", "evergreen"},
                                                 {"evergreen_store", "evergreen with a store", "evergreen"},
                                                 {"evergreen_untold", "evergreen, not told of mistakes", "evergreen/2"},
                                                 {"evergreen_growing", "evergreen, no store, growing F", "evergreen/2"},
                                                 {"evergreen_fixed", "evergreen, no store, fixed F", "evergreen/3"},
                                                 {"infini_growing", "infini, growing", "infini"},
                                                 {"infini_chained", "infini, chained", "infini/2"},
                                                 {"taf", "taf", "taf"},
                                                 {"exaf", "exaf", "exaf"},
                                                 {"abf", "abf", "abf"},
                                                 {"acf_cuckooing", "Cuckooing ACF", "acf-cuckooing"},
                                                 {"acf_cyclic", "Cyclic ACF", "acf-cyclic"},
                                                 {"acf_swapping", "Swapping ACF", "acf-swapping"},
                                                 {"rsqf", "rsqf", "rsqf"}};

// A panel with a line for each filter of the rows.
inline panel contest_panel(std::string title, const row_list& rows, std::string_view x, std::string_view column) {
  panel p{std::move(title), {}};
  for (const contest_line& l : contest_lines) {
    const row_list of = where(rows, "filter", l.name);
    if (!of.empty()) p.lines.push_back({l.label, l.colour, l.as, points_of(of, x, column)});
  }
  return p;
}

inline double mean_of(const row_list& rows, std::string_view column) {
  double sum = 0;
  for (const table::row& r : rows) sum += r.value(column);
  return sum / static_cast<double>(rows.size());
}
// The standard error of that mean.
inline double mean_error(const row_list& rows, std::string_view column) {
  double squares = 0;
  for (const table::row& r : rows) squares += r.error(column) * r.error(column);
  return std::sqrt(squares) / static_cast<double>(rows.size());
}

}  // namespace tamis::lab
