#include "replay_source.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "failure.hpp"
#include "interrupt.hpp"
#include "key_reader.hpp"
#include "lab/workload.hpp"
#include "numbers.hpp"
#include "progress.hpp"
#include "tamis/detail/base/random.hpp"

namespace tamis::cli {

using namespace detail;

namespace {

// Filters take turns with this many queries each: so many that a turn is long against refilling the caches after the others.
constexpr std::size_t queries_per_turn = std::size_t{1} << 18;

class key_files final : public replay_source {
 public:
  key_files(const std::string& members, const std::string& queries, const key_style& style, const hasher& hash)
      : hash_(hash), members_(members, style), queries_(queries, style) {}

  std::string description() const override {
    return fmt::format("Members from {}, queries from {}.", members_.name(), queries_.name());
  }

  std::vector<digest> members() override {
    std::vector<digest> all;
    progress bar("members", members_.bytes_total());
    while (append_batch(members_, all)) bar.at(members_.bytes_done(), all.size());
    return all;
  }

  void next_queries(std::vector<digest>& queries) override {
    queries.clear();
    while (queries.size() < queries_per_turn && append_batch(queries_, queries)) {
    }
  }

  std::uint64_t done() const override { return queries_.bytes_done(); }
  std::optional<std::uint64_t> total() const override { return queries_.bytes_total(); }

 private:
  bool append_batch(key_reader& keys, std::vector<digest>& digests) {
    const auto batch = keys.next();
    for (const std::string_view key : batch) digests.push_back(hash_(key));
    return !batch.empty();
  }

  hasher hash_;
  key_reader members_;
  key_reader queries_;
};

// FireHose active-set queries, mixed with queries for members at random.
class active_set_log final : public replay_source {
 public:
  active_set_log(const built_in_workload& wanted, const hasher& hash)
      : wanted_(wanted),
        hash_(hash),
        stream_(must(lab::make_workload("firehose-activeset", {}, wanted.seed))),
        random_(mix64(wanted.seed)) {}

  std::string description() const override {
    return fmt::format("Workload made on the spot: FireHose active-set queries and {:g} % queries for members, seed {}.",
                       100 * wanted_.member_share, wanted_.seed);
  }

  std::vector<digest> members() override {
    std::vector<digest> all(wanted_.keys);
    for (std::uint64_t i = 0; i < all.size(); ++i) all[i] = member(i);
    return all;
  }

  void next_queries(std::vector<digest>& queries) override {
    stop_if_interrupted();
    queries.resize(std::min<std::uint64_t>(queries_per_turn, wanted_.queries - done_));
    ids_.resize(queries.size());
    stream_->next(ids_);
    for (std::size_t i = 0; i < queries.size(); ++i) {
      queries[i] = random_.chance(wanted_.member_share) ? member(random_.below(wanted_.keys)) : hash_(ids_[i]);
    }
    done_ += queries.size();
  }

  std::uint64_t done() const override { return done_; }
  std::optional<std::uint64_t> total() const override { return wanted_.queries; }

 private:
  digest member(std::uint64_t i) const { return hash_(stream_->outsider(i)); }

  built_in_workload wanted_;
  hasher hash_;
  std::unique_ptr<lab::workload> stream_;
  random_source random_;
  std::vector<std::uint64_t> ids_;
  std::uint64_t done_ = 0;
};

}  // namespace

std::unique_ptr<replay_source> replay_of_files(const std::string& members, const std::string& queries, const key_style& style,
                                               const hasher& hash) {
  return std::make_unique<key_files>(members, queries, style, hash);
}

std::unique_ptr<replay_source> replay_of(const built_in_workload& workload, const hasher& hash) {
  return std::make_unique<active_set_log>(workload, hash);
}

}  // namespace tamis::cli
