// Synthetic packet flows: a stand-in for traces that may not be passed on, not a copy of one.
//
// Flows start one after another at an even rate. A flow has a Pareto number of packets and sends them in bursts: inside a burst
// its packets follow each other closely, mixed with those of other flows; bursts are spread over the life of the flow, which is
// proportional to their number and ends with the trace. The key of a packet is its flow's 5-tuple. The stream ends when every
// flow has sent all its packets; only flows in progress are held in memory.

#include <algorithm>
#include <array>
#include <queue>
#include <string>

#include "lab/workload/kinds.hpp"
#include "lab/workload/packet_tuple.hpp"
#include "lab/workload/samplers.hpp"
#include "tamis/detail/base/random.hpp"

namespace tamis::lab {

using namespace detail;

namespace {

// Time is counted in ticks.
constexpr std::uint64_t ticks_per_flow = 1024;  // a new flow starts
constexpr std::uint64_t ticks_in_burst = 1024;  // mean, between two packets of a burst
constexpr std::uint64_t flows_per_burst = 100;  // mean number of flows that start between two bursts of one flow

class packets final : public workload {
 public:
  packets(std::uint64_t flows, pareto_sampler sizes, std::uint64_t burst, std::uint64_t seed)
      : flows_(flows), sizes_(sizes), burst_(burst), seed_(seed), tuples_(mix64(seed)), random_(mix64(seed + 1)) {}

  std::size_t next(std::span<std::uint64_t> ids) override {
    std::size_t sent = 0;
    while (sent < ids.size() && (started_ < flows_ || !live_.empty())) ids[sent++] = send();
    return sent;
  }

  void append_text(std::uint64_t id, std::string& out) const override { tuples_.append_text(id, out); }
  std::string bytes(std::uint64_t id) const override { return tuples_.bytes(id); }
  std::uint64_t outsider(std::uint64_t i) const override { return flows_ + i; }
  std::optional<std::uint64_t> distinct_keys() const override { return flows_; }

  std::optional<std::uint64_t> length() const override {
    std::uint64_t sum = 0;
    for (std::uint64_t id = 0; id < flows_; ++id) sum += size(id);
    return sum;
  }

 private:
  struct flow {
    std::uint64_t due;  // tick of the next packet
    std::uint64_t id;
    std::uint64_t end;      // of its life
    std::uint64_t packets;  // still to be sent
  };

  struct later {
    bool operator()(const flow& a, const flow& b) const { return a.due != b.due ? a.due > b.due : a.id > b.id; }
  };

  // A function of the flow alone, so that the length of the stream is known before it is sent.
  std::uint64_t size(std::uint64_t id) const {
    random_source random(mix64(seed_ + id));
    return sizes_(random);
  }

  std::uint64_t bursts(std::uint64_t count) const { return (count + burst_ - 1) / burst_; }

  std::uint64_t send() {
    if (live_.empty() || (started_ < flows_ && started_ * ticks_per_flow <= live_.top().due)) start_flow();
    flow now = live_.top();
    live_.pop();
    if (--now.packets > 0) {
      now.due += random_.below(burst_) > 0 ? random_.below(2 * ticks_in_burst) : pause(now);
      live_.push(now);
    }
    return now.id;
  }

  void start_flow() {
    const std::uint64_t start = started_ * ticks_per_flow;
    const std::uint64_t count = size(started_);
    const std::uint64_t life = bursts(count) * flows_per_burst * ticks_per_flow;
    live_.push({start, started_, std::min(start + life, flows_ * ticks_per_flow), count});
    ++started_;
  }

  // Ticks to the next burst: spreads the bursts that are left over what is left of the flow's life.
  std::uint64_t pause(const flow& f) {
    if (f.end <= f.due) return random_.below(2 * ticks_in_burst);
    return random_.below(2 * (f.end - f.due) / bursts(f.packets) + 1);
  }

  std::uint64_t flows_;
  pareto_sampler sizes_;
  std::uint64_t burst_;
  std::uint64_t seed_;
  packet_tuples tuples_;
  random_source random_;
  std::uint64_t started_ = 0;
  std::priority_queue<flow, std::vector<flow>, later> live_;
};

constexpr option_info options_of_packets[] = {
    {"flows", option_kind::whole, 500000, 1, 1e9, false, "number of flows"},
    {"alpha", option_kind::real, 1.1, 1, 1.2, false, "Pareto exponent of the flow sizes"},
    {"smallest", option_kind::whole, 1, 1, 1e9, false, "packets of the smallest flow"},
    {"cut", option_kind::whole, 10000, 1, 1e9, false, "packets of the largest flow"},
    {"burst", option_kind::whole, 4, 1, 1e6, false, "mean packets in a burst"},
};

}  // namespace

const workload_kind packets_kind = {
    {"packets", "synthetic packet flows (not a real trace): Pareto sizes, bursts, 5-tuples", options_of_packets},
    [](const option_values& options, std::uint64_t seed) -> made_workload {
      const std::uint64_t smallest = options.whole("smallest");
      const std::uint64_t cut = options.whole("cut");
      if (smallest > cut) {
        return failure{"packets: option 'smallest': " + std::to_string(smallest) + " is above the cut of " +
                       std::to_string(cut)};
      }
      return made<packets>(options.whole("flows"), pareto_sampler(smallest, cut, options.real("alpha")), options.whole("burst"),
                           seed);
    }};

}  // namespace tamis::lab
