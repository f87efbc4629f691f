#pragma once

// Workloads: seeded, endless or bounded streams of keys for experiments, benchmarks and `tamis generate`.
//
// A workload produces 64-bit key ids in batches; only the keys that are written out become text, so a stream of any length
// needs constant memory. The same name, options and seed give the same stream on every machine: randomness comes from
// random_source, and logarithms and powers from lab/workload/portable_math.hpp, not from the system's libm.
//
//   auto stream = make_workload("zipf", {{{"keys", "1000"}, {"s", "1.1"}}}, seed);   // or an error that names what is wrong
//   while (std::size_t n = (*stream)->next(ids)) ...
//
// Members (the stored set S) and queries are kept apart in one of two ways. split_members() stores the first n distinct keys of
// the stream and queries the others, as the ACF experiments do; workload::outsider() gives keys that the stream never sends, so
// S can be varied while the queries stay as they are, as in the FireHose experiments of the TAF paper.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tamis/result.hpp"

namespace tamis::lab {

enum class option_kind { whole, real };

struct option_info {
  std::string_view name;
  option_kind kind;
  double fallback;  // the default
  double lowest;
  double highest;
  bool above_lowest;  // true: the lowest value itself is not allowed
  std::string_view meaning;

  std::string default_text() const;  // "1000000", "1.1"
  std::string range_text() const;    // "a whole number from 1 to 1000", "a number above 0 and at most 64"
};

struct workload_info {
  std::string_view name;
  std::string_view summary;
  std::span<const option_info> options;
};

class workload {
 public:
  virtual ~workload() = default;

  // Fills `ids` from the front and says how many it wrote: fewer than asked only at the end of a bounded stream. How a stream
  // is cut into batches does not change it.
  virtual std::size_t next(std::span<std::uint64_t> ids) = 0;

  // The key behind an id as one line of text, without the line end: decimal, or `1.2.3.4:5 > 6.7.8.9:10 tcp` for packets.
  virtual void append_text(std::uint64_t id, std::string& out) const;
  std::string text(std::uint64_t id) const;

  // The key as bytes: 8, little-endian, or the 13 bytes of a packet's 5-tuple in network order.
  virtual std::string bytes(std::uint64_t id) const;

  // Ids that this stream never sends, one for every i; different i, different id.
  virtual std::uint64_t outsider(std::uint64_t i) const = 0;

  // How many different keys the stream can send, and how many ids it has in all; nothing if there is no end.
  virtual std::optional<std::uint64_t> distinct_keys() const { return std::nullopt; }
  virtual std::optional<std::uint64_t> length() const { return std::nullopt; }
};

using workload_options = std::span<const std::pair<std::string, std::string>>;

// Every workload, in alphabetical order.
std::span<const workload_info> workloads();

result<std::unique_ptr<workload>> make_workload(std::string_view name, workload_options options, std::uint64_t seed);

// The stored set of an experiment: the first distinct keys of a stream, whose other keys are the queries.
class member_split {
 public:
  explicit member_split(std::vector<std::uint64_t> members);

  std::span<const std::uint64_t> members() const { return members_; }  // in order of first appearance
  bool is_member(std::uint64_t id) const { return lookup_.contains(id); }

  // As stream.next(), without the members.
  std::size_t next_queries(workload& stream, std::span<std::uint64_t> ids) const;

 private:
  std::vector<std::uint64_t> members_;
  std::unordered_set<std::uint64_t> lookup_;
};

// Reads up to and including the id that completes n distinct ones. An error if the stream cannot have a further key left for
// the queries, if it ends early, or if `most_draws` ids do not show n distinct keys (a skewed stream may hide its rare keys for
// ever).
result<member_split> split_members(workload& stream, std::uint64_t n, std::uint64_t most_draws = 1'000'000'000);

}  // namespace tamis::lab
