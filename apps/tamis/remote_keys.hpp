#pragma once

// Keys on their way to a filter over many nodes: in rounds that are large enough to keep all nodes at work, and counted by what
// the nodes have acknowledged.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "failure.hpp"
#include "interrupt.hpp"
#include "key_reader.hpp"
#include "remote_filter.hpp"

namespace tamis::cli {

// Keys of a file, many batches at a time.
class key_rounds {
 public:
  explicit key_rounds(const key_flags& given)
      : reader_(given.path, given.style), from_stdin_(given.path.empty() || given.path == "-") {}

  // The next round; false at the end.
  bool next();
  std::span<const std::string_view> items() const { return items_; }
  bool waiting() const { return reader_.waiting(); }
  std::uint64_t bytes_done() const { return reader_.bytes_done(); }
  std::optional<std::uint64_t> bytes_total() const { return reader_.bytes_total(); }

 private:
  // Nothing more has arrived: a round of few keys is better than to wait.
  bool must_wait() const;

  key_reader reader_;
  bool from_stdin_;
  std::string bytes_;
  std::vector<std::size_t> ends_;
  std::vector<std::string_view> items_;
};

// How far a command has come. If it fails or is stopped, that is said before the reason.
class acknowledged_keys {
 public:
  acknowledged_keys(std::string name, std::string what) : name_(std::move(name)), what_(std::move(what)) {}

  void round_of(std::size_t items) {
    before_ = all_;
    read_ += items;
  }
  void count(std::size_t items) { all_ += items; }
  std::uint64_t all() const { return all_; }

  template <class Work>
  void run(Work work) const {
    try {
      work();
    } catch (const command_failure&) {
      tell();
      throw;
    } catch (const interrupted&) {
      tell();
      throw;
    }
  }

 private:
  void tell() const;

  std::string name_;
  std::string what_;
  std::uint64_t read_ = 0;
  std::uint64_t all_ = 0;
  std::uint64_t before_ = 0;  // this round: these are the first ones read, and all of them are done
};

struct add_tally {
  std::uint64_t fresh = 0;
  std::uint64_t present = 0;
};
void add_round(remote_filter& to, std::span<const std::string_view> items, unsigned replicas, acknowledged_keys& done,
               add_tally& tally);
std::vector<bool> check_round(remote_filter& of, std::span<const std::string_view> items);

using mistake_tally = std::map<std::string, std::uint64_t>;  // by what was answered
void mistake_round(remote_filter& of, std::span<const std::string_view> items, unsigned replicas, acknowledged_keys& done,
                   mistake_tally& words);

}  // namespace tamis::cli
