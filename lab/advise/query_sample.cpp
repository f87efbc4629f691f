#include "lab/advise/query_sample.hpp"

#include <algorithm>
#include <numeric>

namespace tamis::lab {

query_sample::query_sample(std::uint64_t members) : members_(members) {
  while (members >> members_shift_ > most_members) ++members_shift_;
}

void query_sample::add_absent_query(digest d) {
  ++queries_;
  ++negatives_;
  while (sample_.size() >= longest) {
    if (members_ >> (shift_ + 1) < least_members) return;  // then the sample is the beginning of the log
    ++shift_;
    std::erase_if(sample_, [this](digest kept) { return !contains(kept); });
  }
  covered_ = negatives_;
  if (contains(d)) sample_.push_back(d);
}

std::vector<std::uint64_t> query_sample::counts() const {
  std::vector<digest> sorted = sample_;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::uint64_t> counts;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (i == 0 || sorted[i] != sorted[i - 1]) counts.push_back(0);
    ++counts.back();
  }
  return counts;
}

double query_sample::distinct_negatives() const {
  if (covered_ == 0) return 0;
  const double in_sample = static_cast<double>(counts().size()) * static_cast<double>(std::uint64_t{1} << shift_);
  // What lies behind the sample's end is taken to go on as before.
  return std::min(in_sample * static_cast<double>(negatives_) / static_cast<double>(covered_), static_cast<double>(negatives_));
}

double query_sample::top_share() const {
  std::vector<std::uint64_t> all = counts();
  if (all.empty()) return 0;
  std::sort(all.begin(), all.end(), std::greater<>());
  const auto top = all.begin() + static_cast<std::ptrdiff_t>((all.size() + 99) / 100);
  return static_cast<double>(std::accumulate(all.begin(), top, std::uint64_t{0})) / static_cast<double>(sample_.size());
}

}  // namespace tamis::lab
