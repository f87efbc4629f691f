// The FireHose active-set stream: keys come, trend and go.
//
// A fixed number of keys is active. Each is to be sent a number of times that is drawn when it enters (active_key_total: many
// keys with few, few with up to 65537) and is replaced by a new key after that. The active keys wait in a ring of queues:
//
//        queue 0     queue 1     queue 2   ...   queue 16383
//        k7 k3       k9          -               k2 k5 k1
//        ^ current: send its keys one by one; each goes back into a queue ahead of it, then the ring turns by one
//
// How far ahead decides how often a key is seen. Its pace follows a bell over its life, the quartic (4 u (1 - u))^2 of the
// share u already sent, and the bell is as high as the key's total is large: a key to be sent n times is slow when new, 1 +
// trend * n times as fast halfway, and slow again before it goes.
//
// Sizes and totals are FireHose's; of the curve we only know "bell-shaped". This curve and trend = 1/8 are calibrated: 10
// million ids show 54.9 repeats per key (published: 54 to 57). A bell of one height for all keys shows 45 to 50 (heights 1 to
// 64).

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "lab/workload/kinds.hpp"
#include "lab/workload/samplers.hpp"
#include "lab/workload/scattered_keys.hpp"
#include "tamis/detail/base/random.hpp"

namespace tamis::lab {

using namespace detail;

namespace {

class active_set final : public workload {
 public:
  active_set(std::uint32_t active, std::uint32_t queues, double exponent, double trend, std::uint64_t seed)
      : keys_(seed),
        random_(mix64(seed)),
        exponent_(exponent),
        trend_(static_cast<std::uint64_t>(trend * one)),
        slots_(active),
        first_(queues, none) {
    for (std::uint32_t slot = 0; slot < active; ++slot) {
      renew(slots_[slot]);
      push(slot, random_.below(queues));
    }
  }

  std::size_t next(std::span<std::uint64_t> ids) override {
    for (std::uint64_t& id : ids) id = send();
    return ids.size();
  }

  std::uint64_t outsider(std::uint64_t i) const override { return keys_.unsent(i); }

 private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint64_t one = 65536;  // fixed point: whole numbers keep the stream the same everywhere

  struct active_key {
    std::uint64_t id = 0;
    std::uint32_t sent = 0;
    std::uint32_t total = 0;
    std::uint32_t behind = none;  // the next slot of the same queue
  };

  void renew(active_key& key) {
    key.id = keys_.sent(serial_++);
    key.sent = 0;
    key.total = active_key_total(static_cast<std::uint32_t>(random_.below(65536)) + 1, exponent_);
  }

  void push(std::uint32_t slot, std::uint64_t queue) {
    slots_[slot].behind = first_[queue];
    first_[queue] = slot;
  }

  std::uint64_t send() {
    while (first_[current_] == none) current_ = current_ + 1 == first_.size() ? 0 : current_ + 1;
    const std::uint32_t slot = first_[current_];
    active_key& key = slots_[slot];
    first_[current_] = key.behind;
    const std::uint64_t id = key.id;
    if (++key.sent == key.total) renew(key);
    push(slot, (current_ + queues_ahead(key)) % first_.size());
    return id;
  }

  // Between 1 and queues - 1: a random number around a mean that the key's pace shortens.
  std::uint64_t queues_ahead(const active_key& key) {
    const std::uint64_t slowest_mean = one * 2 / 3 * (first_.size() - 1);
    const std::uint64_t mean = slowest_mean * one / pace(key);
    return std::max<std::uint64_t>(1, (mean / 2 + random_.below(mean)) / one);
  }

  // From 1 at the ends of a key's life to 1 + trend * total in the middle, in units of `one`.
  std::uint64_t pace(const active_key& key) const {
    const std::uint64_t sent = key.sent;
    const std::uint64_t total = key.total;
    const std::uint64_t hill = 4 * one * sent * (total - sent) / (total * total);
    return one + trend_ * total * (hill * hill / one) / one;
  }

  scattered_keys keys_;
  random_source random_;
  double exponent_;
  std::uint64_t trend_;
  std::vector<active_key> slots_;
  std::vector<std::uint32_t> first_;  // of each queue
  std::size_t current_ = 0;
  std::uint64_t serial_ = 0;
};

constexpr option_info options_of_active_set[] = {
    {"active", option_kind::whole, 131072, 1, 16777216, false, "keys that are active at a time"},
    {"queues", option_kind::whole, 16384, 2, 1048576, false, "queues of the ring"},
    {"exponent", option_kind::real, -0.5, -4, 4, false, "p of the per-key totals; lower: fewer repeats"},
    {"trend", option_kind::real, 0.125, 0, 1, false,
     "a key sent n times in all is 1 + trend n times as fast in the middle of its life"},
};

}  // namespace

const workload_kind firehose_activeset_kind = {
    {"firehose-activeset", "FireHose active set: keys enter slowly, trend, and leave for good", options_of_active_set},
    [](const option_values& options, std::uint64_t seed) {
      return made<active_set>(static_cast<std::uint32_t>(options.whole("active")),
                              static_cast<std::uint32_t>(options.whole("queues")), options.real("exponent"),
                              options.real("trend"), seed);
    }};

}  // namespace tamis::lab
