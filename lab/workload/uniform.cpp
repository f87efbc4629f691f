// Uniform keys: all different, or drawn again and again from a fixed set.

#include "lab/workload/kinds.hpp"
#include "lab/workload/scattered_keys.hpp"
#include "tamis/detail/base/random.hpp"

namespace tamis::lab {

using namespace detail;

namespace {

class uniform final : public workload {
 public:
  explicit uniform(std::uint64_t seed) : keys_(seed) {}

  std::size_t next(std::span<std::uint64_t> ids) override {
    for (std::uint64_t& id : ids) id = keys_.sent(serial_++);
    return ids.size();
  }

  std::uint64_t outsider(std::uint64_t i) const override { return keys_.unsent(i); }

 private:
  scattered_keys keys_;
  std::uint64_t serial_ = 0;
};

class uniform_repeats final : public workload {
 public:
  uniform_repeats(std::uint64_t keys, std::uint64_t seed) : keys_(seed), count_(keys), random_(mix64(seed)) {}

  std::size_t next(std::span<std::uint64_t> ids) override {
    for (std::uint64_t& id : ids) id = keys_.sent(random_.below(count_));
    return ids.size();
  }

  std::uint64_t outsider(std::uint64_t i) const override { return keys_.unsent(i); }
  std::optional<std::uint64_t> distinct_keys() const override { return count_; }

 private:
  scattered_keys keys_;
  std::uint64_t count_;
  random_source random_;
};

constexpr option_info repeats_options[] = {
    {"keys", option_kind::whole, 1e6, 1, 1e15, false, "number of keys"},
};

}  // namespace

const workload_kind uniform_kind = {{"uniform", "random 64-bit keys, all different", {}},
                                    [](const option_values&, std::uint64_t seed) { return made<uniform>(seed); }};

const workload_kind uniform_repeats_kind = {
    {"uniform-repeats", "independent draws from random 64-bit keys, all equally likely", repeats_options},
    [](const option_values& options, std::uint64_t seed) { return made<uniform_repeats>(options.whole("keys"), seed); }};

}  // namespace tamis::lab
