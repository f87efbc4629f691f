// Streams that draw a rank 1, 2, 3, ... independently each time, rank 1 most often: Zipf and the FireHose power law.

#include "lab/workload/kinds.hpp"
#include "lab/workload/samplers.hpp"
#include "tamis/detail/base/random.hpp"

namespace tamis::lab {

using namespace detail;

namespace {

// Key `before_first + rank` for the drawn rank; the outsiders follow the last key.
template <class Sampler>
class ranked final : public workload {
 public:
  ranked(std::uint64_t before_first, std::uint64_t keys, Sampler sampler, std::uint64_t seed)
      : before_first_(before_first), keys_(keys), sampler_(sampler), random_(seed) {}

  std::size_t next(std::span<std::uint64_t> ids) override {
    for (std::uint64_t& id : ids) id = before_first_ + sampler_(random_);
    return ids.size();
  }

  std::uint64_t outsider(std::uint64_t i) const override { return before_first_ + keys_ + 1 + i; }
  std::optional<std::uint64_t> distinct_keys() const override { return keys_; }

 private:
  std::uint64_t before_first_;
  std::uint64_t keys_;
  Sampler sampler_;
  random_source random_;
};

constexpr double most_keys = 1e15;  // whole numbers and a half are still exact in doubles

constexpr option_info zipf_options[] = {
    {"keys", option_kind::whole, 1e6, 1, most_keys, false, "number of keys"},
    {"s", option_kind::real, 1, 0, 64, true, "exponent: key k is drawn k^s times less often than key 1"},
};

constexpr option_info powerlaw_options[] = {
    {"keys", option_kind::whole, 1e5, 1, most_keys, false, "number of keys"},
    {"offset", option_kind::whole, 1e9, 0, most_keys, false, "the most frequent key; the others follow it"},
    {"rho", option_kind::real, 0.5, 0.05, 64, false, "Yule-Simon parameter: the first key is rho / (rho + 1) of the stream"},
};

}  // namespace

const workload_kind zipf_kind = {{"zipf", "Zipf: independent draws, the key of rank k in proportion to k^-s", zipf_options},
                                 [](const option_values& options, std::uint64_t seed) {
                                   const std::uint64_t keys = options.whole("keys");
                                   return made<ranked<zipf_sampler>>(0u, keys, zipf_sampler(keys, options.real("s")), seed);
                                 }};

const workload_kind firehose_powerlaw_kind = {
    {"firehose-powerlaw", "FireHose power law: independent Yule-Simon draws, one key is a third of the stream",
     powerlaw_options},
    [](const option_values& options, std::uint64_t seed) {
      const std::uint64_t keys = options.whole("keys");
      return made<ranked<yule_simon_sampler>>(options.whole("offset") - 1, keys, yule_simon_sampler(keys, options.real("rho")),
                                              seed);
    }};

}  // namespace tamis::lab
