// The demo of the site's first page, compiled to WebAssembly: a set grows behind a Bloom filter that was made for its beginning
// and behind evergreen, while questions come for keys that are not in it, some of them far more often than others. evergreen is
// told of its mistakes. What was asked and stored goes to `tamis advise` when somebody wants to know (advice.hpp).

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tamis/detail/base/random.hpp"
#include "tamis/filters/bloom.hpp"
#include "tamis/filters/evergreen.hpp"
#include "tamis/memory_remote.hpp"
#include "tools/site/demo/advice.hpp"

namespace {

constexpr std::size_t strangers = 100'000;  // different keys that are asked for
constexpr std::size_t members_checked = 200;

class demo {
 public:
  demo(std::uint64_t first_keys, double rate, double skew, std::uint64_t seed)
      : first_keys_(first_keys),
        rate_(rate),
        random_(seed),
        bloom_(tamis::bloom::create({.capacity = first_keys, .fpr = rate}).value()),
        evergreen_(tamis::evergreen::create({.capacity = first_keys, .fpr = rate}).value()) {
    double sum = 0;
    for (std::size_t rank = 1; rank <= strangers; ++rank) {
      sum += std::pow(static_cast<double>(rank), -skew);
      up_to_.push_back(sum);
      strangers_.push_back({random_(), random_()});
    }
  }

  bool insert(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const tamis::digest d{random_(), random_()};
      if (evergreen_.insert(d, stored_) != tamis::insert_result::inserted) return false;
      bloom_.insert(d);
      stored_.insert(d);
      members_.push_back(d);
    }
    return true;
  }

  void ask(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const tamis::digest d = stranger();
      asked_.push_back(d);
      wrong_bloom_ += bloom_.may_contain(d);
      if (!evergreen_.may_contain(d)) continue;
      ++wrong_evergreen_;
      evergreen_.adapt(d, stored_);
    }
    for (std::size_t i = 0; i < members_checked && !members_.empty(); ++i) {
      const tamis::digest d = members_[random_.below(members_.size())];
      lost_ += !bloom_.may_contain(d) || !evergreen_.may_contain(d);
    }
  }

  // keys, wrong answers and bits per key of bloom and evergreen since the last call, members that were lost
  void report(double* out) {
    const auto keys = static_cast<double>(members_.size());
    out[0] = keys;
    out[1] = static_cast<double>(std::exchange(wrong_bloom_, 0));
    out[2] = static_cast<double>(std::exchange(wrong_evergreen_, 0));
    out[3] = static_cast<double>(bloom_.bits().fast) / keys;
    out[4] = static_cast<double>(evergreen_.bits().fast) / keys;
    out[5] = static_cast<double>(lost_);
  }

  std::string advice() const { return demo_advice({first_keys_, members_.size(), rate_, members_, asked_}); }

 private:
  tamis::digest stranger() {
    const double at = static_cast<double>(random_() >> 11) * 0x1p-53 * up_to_.back();
    const auto found = std::upper_bound(up_to_.begin(), up_to_.end(), at) - up_to_.begin();
    return strangers_[std::min<std::size_t>(static_cast<std::size_t>(found), strangers - 1)];
  }

  std::uint64_t first_keys_;
  double rate_;
  tamis::detail::random_source random_;
  tamis::bloom bloom_;
  tamis::evergreen evergreen_;
  tamis::memory_remote stored_;
  std::vector<tamis::digest> members_;
  std::vector<tamis::digest> strangers_;
  std::vector<tamis::digest> asked_;  // of those, in order
  std::vector<double> up_to_;         // sums of the frequencies
  std::uint64_t wrong_bloom_ = 0;
  std::uint64_t wrong_evergreen_ = 0;
  std::uint64_t lost_ = 0;
};

std::optional<demo> running;
double results[6];
std::string advised;

}  // namespace

extern "C" {

__attribute__((used, visibility("default"))) void demo_start(double first_keys, double rate, double skew, double seed) {
  running.emplace(static_cast<std::uint64_t>(first_keys), rate, skew, static_cast<std::uint64_t>(seed));
}

// results, or null if a filter refused a key.
__attribute__((used, visibility("default"))) const double* demo_step(double inserts, double questions) {
  if (!running || !running->insert(static_cast<std::uint64_t>(inserts))) return nullptr;
  running->ask(static_cast<std::uint64_t>(questions));
  running->report(results);
  return results;
}
// What `tamis advise` says about the keys and questions so far (advice.hpp).
__attribute__((used, visibility("default"))) const char* demo_advise() {
  advised = running ? running->advice() : "";
  return advised.c_str();
}
}
