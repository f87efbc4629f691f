#include "store_history.hpp"

#include <algorithm>

namespace tamis::cli {
namespace {

std::vector<digest> keys_ever_in(const change_log& log) {
  std::vector<digest> all = log.members;
  for (std::uint64_t i = 0; i < log.size(); ++i) {
    if (log.ops[i] == log_op::insert) all.push_back(log.keys[i]);
  }
  return all;
}

}  // namespace

store_history::store_history(const change_log& log) : ever_(keys_ever_in(log)), start_(ever_.size() + 1) {
  const auto for_each_change = [&](auto use) {
    for (const digest d : log.members) use(ever_.index(d), 0);
    for (std::uint64_t i = 0; i < log.size(); ++i) {
      if (!log.is_query(i)) use(ever_.index(log.keys[i]), i + 1);
    }
  };
  for_each_change([&](std::uint64_t key, std::uint64_t) { ++start_[key + 1]; });
  for (std::size_t i = 1; i < start_.size(); ++i) start_[i] += start_[i - 1];
  change_.resize(start_.back());
  std::vector<std::uint64_t> next(start_.begin(), start_.end() - 1);
  for_each_change([&](std::uint64_t key, std::uint64_t moment) { change_[next[key]++] = moment; });
  grown_.assign(log.members.size(), 0);
  for (std::uint64_t i = 0; i < log.size(); ++i) {
    if (!log.is_query(i)) (log.ops[i] == log_op::insert ? grown_ : shrunk_).push_back(i + 1);
  }
}

std::uint64_t store_history::changes_before(digest d, std::uint64_t moment) const {
  if (!ever_.contains(d)) return 0;
  const std::uint64_t key = ever_.index(d);
  const auto first = change_.begin() + static_cast<std::ptrdiff_t>(start_[key]);
  const auto last = change_.begin() + static_cast<std::ptrdiff_t>(start_[key + 1]);
  return static_cast<std::uint64_t>(std::upper_bound(first, last, moment) - first);
}

bool store_history::contains(digest d, std::uint64_t moment) const { return changes_before(d, moment) % 2 == 1; }

std::uint64_t store_history::keys_at(std::uint64_t moment) const {
  const auto until = [moment](const std::vector<std::uint64_t>& all) {
    return static_cast<std::uint64_t>(std::upper_bound(all.begin(), all.end(), moment) - all.begin());
  };
  return until(grown_) - until(shrunk_);
}

}  // namespace tamis::cli
