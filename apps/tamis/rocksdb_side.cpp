#include "rocksdb_side.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "failure.hpp"
#include "numbers.hpp"
#include "progress.hpp"

#if TAMIS_HAS_ROCKSDB
#include "tamis/guard/rocksdb_store.hpp"

namespace tamis::cli {
namespace {

constexpr std::size_t value_bytes = 100;
constexpr std::size_t batch = std::size_t{1} << 17;
constexpr const char* loaded_row = "replay";

// Which members these are, whatever their order.
std::string summary_of(std::span<const digest> members) {
  digest sum;
  for (const digest d : members) sum = {sum.high + d.high, sum.low + d.low};
  return fmt::format("{} {:016x} {:016x}", members.size(), sum.high, sum.low);
}

constexpr std::string_view unfinished = "unfinished ";

void note(rocksdb_store& store, const std::string& text) {
  write_set set;
  set.rows.push_back({loaded_row, text});
  must(store.write(set, true));
}

// The row says what is being loaded, so that an interrupted load is finished by the same members only.
void load(rocksdb_store& store, std::span<const digest> members, const std::string& summary) {
  note(store, std::string(unfinished) + summary);
  progress bar("loading RocksDB", members.size());
  const std::string value(value_bytes, 'v');
  std::vector<digest> sorted(members.begin(), members.end());
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t first = 0; first < sorted.size(); first += batch) {
    std::vector<write_set::entry> entries;
    const std::size_t last = std::min(first + batch, sorted.size());
    for (std::size_t i = first; i < last; ++i) entries.push_back({{sorted[i], ""}, value});
    must(store.ingest(entries));
    bar.at(last, last);
  }
  must(store.settle());
  note(store, summary);
}

std::unique_ptr<rocksdb_store> open_loaded(const std::string& directory, std::span<const digest> members,
                                           const rocksdb_options& options) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name != "plain" && name != "bloom") fail(directory, "not made by tamis replay: it holds '" + name + "'");
  }
  const std::string part = directory + (options.bloom_bits_per_key > 0 ? "/bloom" : "/plain");
  auto store = must(rocksdb_store::open(part, options));
  const auto rows = must(store->rows(loaded_row));
  const std::string summary =
      summary_of(members) + (options.bloom_bits_per_key > 0 ? fmt::format(" {}", options.bloom_bits_per_key) : "");
  if (rows.empty() || rows.front().second == std::string(unfinished) + summary) {
    load(*store, members, summary);
  } else if (rows.front().second != summary) {
    fail(part, "holds the members of another replay: give a new directory");
  }
  return store;
}

class plain_side final : public slow_side {
 public:
  explicit plain_side(std::unique_ptr<rocksdb_store> store) : store_(std::move(store)) {}
  bool contains(digest d) const override { return must(store_->contains({d, ""})); }
  void for_each_in(digest_range range, const std::function<bool(digest)>& visit) const override {
    must(store_->scan(range, scan_size::few, visit));
  }

 private:
  std::unique_ptr<rocksdb_store> store_;
};

class bloom_side final : public filtering_side {
 public:
  explicit bloom_side(std::unique_ptr<rocksdb_store> store) : store_(std::move(store)) {}
  std::string name() const override { return "rocksdb-bloom"; }
  void look_up(std::span<const digest> queries, const slow_side& /*store*/, std::span<outcome> out) override {
    for (std::size_t i = 0; i < queries.size(); ++i) {
      const auto seen = must(store_->look_up_filtered({queries[i], ""}));
      out[i] = !seen.passed ? outcome::stopped : seen.found ? outcome::found : outcome::in_vain;
    }
  }
  memory_bits bits() const override { return {8 * must(store_->bloom_bytes())}; }
  bool learns() const override { return false; }
  bool can_change() const override { return true; }
  bool is_timed() const override { return true; }

 private:
  std::unique_ptr<rocksdb_store> store_;
};

}  // namespace

std::unique_ptr<slow_side> open_rocksdb_side(const std::string& directory, std::span<const digest> members) {
  return std::make_unique<plain_side>(open_loaded(directory, members, {}));
}

std::shared_ptr<filtering_side> open_rocksdb_bloom(const std::string& directory, std::span<const digest> members,
                                                   double bits_per_key) {
  return std::make_shared<bloom_side>(open_loaded(directory, members, {.bloom_bits_per_key = bits_per_key}));
}

}  // namespace tamis::cli

#else

namespace tamis::cli {

std::unique_ptr<slow_side> open_rocksdb_side(const std::string& directory, std::span<const digest> /*members*/) {
  fail("--store rocksdb:" + directory, "this tamis was built without RocksDB; --store memory is there");
}

std::shared_ptr<filtering_side> open_rocksdb_bloom(const std::string& directory, std::span<const digest> /*members*/,
                                                   double /*bits_per_key*/) {
  fail("--store rocksdb:" + directory, "this tamis was built without RocksDB; --store memory is there");
}

}  // namespace tamis::cli

#endif
