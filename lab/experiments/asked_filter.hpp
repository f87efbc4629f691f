#pragma once

// A filter of the registry that is asked for keys it does not hold, told where it was wrong, and counted. What the experiments
// with queries share.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tamis/any_filter.hpp"
#include "tamis/memory_remote.hpp"

namespace tamis::lab {

class asked_filter {
 public:
  // One that does not learn is told nothing.
  explicit asked_filter(any_filter f, bool learns = true) : filter_(std::move(f)), learns_(learns && filter_.can().adapt) {}

  any_filter& filter() { return filter_; }
  const any_filter& filter() const { return filter_; }

  // Was the answer wrong? `stored` holds what the filter holds; filters that keep the keys themselves do not look at it.
  bool ask(digest d, const memory_remote& stored) {
    const bool wrong = filter_.may_contain(d);
    if (wrong && learns_) filter_.adapt(d, remote_ref(stored));
    wrong_ += wrong;
    ++asked_;
    return wrong;
  }

  // Since the counts were last forgotten.
  std::uint64_t wrong() const { return wrong_; }
  double rate() const { return asked_ == 0 ? 0.0 : static_cast<double>(wrong_) / static_cast<double>(asked_); }
  void forget_counts() { wrong_ = asked_ = 0; }

 private:
  any_filter filter_;
  bool learns_;
  std::uint64_t wrong_ = 0;
  std::uint64_t asked_ = 0;
};

// With the fingerprint that the options say, whatever its rate is.
inline any_filter filter_of_width(const std::string& id, std::uint64_t keys, option_list options) {
  constexpr double any_rate = 0.99;
  return any_filter::create(id, {.capacity = keys, .fpr = any_rate, .options = std::move(options)}).value();
}

// Stores the members of a sample and asks its queries in order.  Requires: a filter that needs no remote.
template <class Sample>
asked_filter after(any_filter f, const Sample& sample, bool learns = true) {
  const memory_remote nothing;
  for (const digest d : sample.members) {
    if (f.insert(d) != insert_result::inserted) throw result_error({f.kind() + " refused a member", error_code::full});
  }
  asked_filter asked(std::move(f), learns);
  for (const digest d : sample.queries) asked.ask(d, nothing);
  return asked;
}

}  // namespace tamis::lab
