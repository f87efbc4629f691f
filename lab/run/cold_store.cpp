// tamis_cold_store DIRECTORY [keys=N] [lookups=N] [rounds=N] [cache=BYTES] [filters=ID,ID]: how many lookups a second a store
// on disk answers without a filter, with RocksDB's own Bloom filter, and behind ours. RocksDB's block cache is small and reads
// go past the operating system's cache, so a read is a read of the disk. Three kinds of lookups:
//
//   new strangers   keys that are not there, each asked once: what a filter is for
//   old strangers   keys that are not there, out of a set that was asked before: what adapting is for
//   members         keys that are there: what no filter can help with
//
// Contenders take turns; a figure is the median of the rounds. The stores are kept in DIRECTORY for the next time.

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <functional>
#include <iostream>

#include "lab/measure/timing.hpp"
#include "tamis/detail/base/random.hpp"
#include "tamis/guard/guarded_store.hpp"
#include "tamis/guard/rocksdb_store.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;

struct settings {
  std::string directory;
  std::uint64_t keys = 10'000'000;
  std::uint64_t lookups = 200'000;
  std::uint64_t rounds = 5;
  std::uint64_t cache = 8 << 20;
  std::string filters = "bloom,bloom1,cuckoo,taf,exaf,abf";
};

constexpr double fpr = 0.01;
constexpr double bloom_bits = 9.6;  // what a Bloom filter needs for that rate
constexpr std::uint64_t old_strangers = 1'000'000;
constexpr std::uint64_t lookups_without_a_filter = 1'000;  // each reads the disk
constexpr std::size_t value_bytes = 100;

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string member(std::uint64_t i) { return "member " + std::to_string(i); }
std::string stranger(std::uint64_t i) { return "stranger " + std::to_string(i); }

// Bytes that cannot be compressed.
std::string random_value(random_source& random) {
  std::string value;
  for (std::size_t i = 0; i < value_bytes; ++i) value.push_back(static_cast<char>(random.below(256)));
  return value;
}

// A filter as it is named: "ID+mistakes" has a list of known mistakes, and what does not adapt by itself has none.
guard_options options_of(const settings& given, const std::string& filter) {
  guard_options options;
  options.filter = filter;
  options.params = {.capacity = given.keys, .fpr = fpr};
  if (filter.find('+') == std::string::npos) options.params.options = {{"mistakes", "0"}};
  options.hash = hasher();    // what lookups without a filter use, too
  options.snapshots = false;  // several filters take turns in front of one store
  options.background_rebuild = false;
  return options;
}

// Loads the members, if they are not there yet.
std::shared_ptr<rocksdb_store> filled(const settings& given, const std::string& name, double bits) {
  const rocksdb_options how{.cache_bytes = given.cache, .direct_reads = true, .bloom_bits_per_key = bits, .counting = true};
  std::shared_ptr<rocksdb_store> made = rocksdb_store::open(given.directory + "/" + name, how).value();
  const std::string wanted = std::to_string(given.keys);
  const auto rows = made->rows("cold").value();
  if (!rows.empty() && rows.front().second == wanted) return made;
  if (!rows.empty()) throw std::runtime_error(given.directory + ": holds " + rows.front().second + " keys, not " + wanted);
  guarded_store guarded = guarded_store::open(made, options_of(given, "bloom1")).value();
  constexpr std::uint64_t chunk = 1'000'000;
  random_source random(2);
  double seconds = 0;
  for (std::uint64_t first = 0; first < given.keys; first += chunk) {
    write_batch batch;
    for (std::uint64_t i = first; i < std::min(first + chunk, given.keys); ++i) batch.put(member(i), random_value(random));
    seconds += seconds_of([&] { guarded.load(batch).value(); });
  }
  std::printf("%s: bulk load of %s keys in %.1f s, %.2f million keys per s\n", name.c_str(), wanted.c_str(), seconds,
              static_cast<double>(given.keys) / seconds / 1e6);
  made->settle().value();
  write_set done;
  done.rows.push_back({"cold", wanted});
  made->write(done, true).value();
  return made;
}

// One of several filters' views of one store. Filters that take turns must not change it, and a store has one guard at a time.
class reading_side final : public store {
 public:
  explicit reading_side(std::shared_ptr<store> shared) : shared_(std::move(shared)) {}

  std::string name() const override { return shared_->name(); }
  std::string snapshot_directory() const override { return ""; }
  result<bool> contains(const located_key& at) const override { return shared_->contains(at); }
  result<std::optional<std::string>> get(const located_key& at) const override { return shared_->get(at); }
  status get_many(std::span<const located_key> keys, std::span<std::optional<std::string>> out) const override {
    return shared_->get_many(keys, out);
  }
  status scan(digest_range range, scan_size size, const std::function<bool(digest)>& visit) const override {
    return shared_->scan(range, size, visit);
  }
  status write(const write_set& /*changes*/, bool /*sync*/) override { return failure{name() + ": is only read here"}; }
  status sync() override { return {}; }
  status records(std::uint32_t stripe, std::uint64_t first,
                 const std::function<bool(const oplog_record&)>& visit) const override {
    return shared_->records(stripe, first, visit);
  }
  result<std::uint64_t> last_record(std::uint32_t stripe) const override { return shared_->last_record(stripe); }
  result<std::vector<std::pair<std::string, std::string>>> rows(std::string_view prefix) const override {
    return shared_->rows(prefix);
  }

 private:
  std::shared_ptr<store> shared_;
};

struct contender {
  std::string name;
  std::function<bool(std::string_view)> find;
  std::shared_ptr<rocksdb_store> store;
  std::uint64_t most = ~std::uint64_t{0};  // lookups in a round
  std::vector<double> microseconds[3] = {};
  std::uint64_t blocks[3] = {};
  std::uint64_t asked[3] = {};
};

std::vector<contender> contenders(const settings& given) {
  const auto plain = filled(given, "plain", 0);
  const auto bloom = filled(given, "bloom", bloom_bits);
  const auto direct = [](const std::shared_ptr<rocksdb_store>& store) {
    return [store](std::string_view key) { return store->get({hasher()(key), key}).value().has_value(); };
  };
  std::vector<contender> all = {{"no filter", direct(plain), plain, lookups_without_a_filter},
                                {"rocksdb-bloom", direct(bloom), bloom}};
  for (std::size_t at = 0; at < given.filters.size();) {
    const std::size_t end = std::min(given.filters.find(',', at), given.filters.size());
    const std::string id = given.filters.substr(at, end - at);
    at = end + 1;
    std::shared_ptr<guarded_store> guarded;
    const auto side = std::make_shared<reading_side>(plain);
    const double seconds = seconds_of(
        [&] { guarded = std::make_shared<guarded_store>(guarded_store::open(side, options_of(given, id)).value()); });
    std::printf("%s: made from the store in %.1f s, %.1f million keys per s, %.1f bits per key\n", id.c_str(), seconds,
                static_cast<double>(given.keys) / seconds / 1e6,
                static_cast<double>(guarded->bits().fast) / static_cast<double>(given.keys));
    all.push_back({id, [guarded](std::string_view key) { return guarded->contains(key).value(); }, plain});
  }
  return all;
}

// Keys of its own for every contender: what one has read lies in the cache for the next.
class key_source {
 public:
  key_source(std::uint64_t members, std::uint64_t lookups) : members_(members), lookups_(lookups) {}

  std::vector<std::string> keys(std::size_t kind, std::uint64_t most) {
    std::vector<std::string> made(std::min(most, kind == 2 ? std::max<std::uint64_t>(1, lookups_ / 50) : lookups_));
    for (std::string& key : made) {
      key = kind == 0   ? stranger(next_stranger_++)
            : kind == 1 ? stranger(random_.below(old_strangers))
                        : member(random_.below(members_));
    }
    return made;
  }

 private:
  std::uint64_t members_;
  std::uint64_t lookups_;
  std::uint64_t next_stranger_ = old_strangers;
  random_source random_{1};
};

void measure(contender& c, std::size_t kind, const std::vector<std::string>& keys) {
  const std::uint64_t count = keys.size();
  const std::uint64_t before = c.store->counts().blocks_read;
  std::uint64_t found = 0;
  const double seconds = seconds_of([&] {
    for (std::uint64_t i = 0; i < count; ++i) found += c.find(keys[i]);
  });
  if (found != (kind == 2 ? count : 0)) throw std::runtime_error(c.name + ": a wrong answer");
  c.microseconds[kind].push_back(1e6 * seconds / static_cast<double>(count));
  c.blocks[kind] += c.store->counts().blocks_read - before;
  c.asked[kind] += count;
}

void run(const settings& given) {
  std::vector<contender> all = contenders(given);
  key_source source(given.keys, given.lookups);
  // Every filter has seen the old strangers once.
  for (contender& c : all) {
    if (c.most > old_strangers) {
      for (std::uint64_t i = 0; i < old_strangers; ++i) c.find(stranger(i));
    }
  }
  for (std::uint64_t round = 0; round < given.rounds; ++round) {
    for (contender& c : all) {
      for (std::size_t kind = 0; kind < 3; ++kind) measure(c, kind, source.keys(kind, c.most));
    }
  }
  std::printf("\n%-14s %31s %31s %31s\n%-14s", "", "new strangers", "old strangers", "members", "");
  for (int kind = 0; kind < 3; ++kind) std::printf(" %11s %9s %9s", "lookups/s", "us", "blocks");
  std::printf("\n");
  for (const contender& c : all) {
    std::printf("%-14s", c.name.c_str());
    for (int kind = 0; kind < 3; ++kind) {
      const double median = lab::summarize(c.microseconds[kind]).median;
      std::printf(" %11.0f %9.2f %9.4f", 1e6 / median, median,
                  static_cast<double>(c.blocks[kind]) / static_cast<double>(c.asked[kind]));
    }
    std::printf("\n");
  }
  std::printf(
      "\n%llu keys of %zu-byte values, block cache %llu KiB, direct reads, one thread, %llu rounds; us and blocks (read from "
      "disk) per lookup\n",
      static_cast<unsigned long long>(given.keys), value_bytes, static_cast<unsigned long long>(given.cache >> 10),
      static_cast<unsigned long long>(given.rounds));
}

status read_option(std::string_view text, settings& given) {
  const std::size_t equals = std::min(text.find('='), text.size());
  const std::string_view name = text.substr(0, equals);
  const std::string_view value = text.substr(std::min(equals + 1, text.size()));
  if (name == "filters") {
    given.filters = value;
    return {};
  }
  for (const auto& [known, target] : {std::pair("keys", &given.keys), std::pair("lookups", &given.lookups),
                                      std::pair("rounds", &given.rounds), std::pair("cache", &given.cache)}) {
    if (name != known) continue;
    const auto [end, failed] = std::from_chars(value.data(), value.data() + value.size(), *target);
    if (failed == std::errc() && end == value.data() + value.size() && *target != 0) return {};
    return failure{"'" + std::string(text) + "': a whole number above 0 is needed"};
  }
  return failure{"'" + std::string(text) + "': options are keys=, lookups=, rounds=, cache= and filters="};
}

}  // namespace

int main(int count, char** arguments) {
  settings given;
  if (count < 2) {
    std::cerr << "usage: tamis_cold_store DIRECTORY [keys=N] [lookups=N] [rounds=N] [cache=BYTES] [filters=ID,ID]\n";
    return 2;
  }
  given.directory = arguments[1];
  for (int i = 2; i < count; ++i) {
    if (const status read = read_option(arguments[i], given); !read) {
      std::cerr << "tamis_cold_store: " << read.message() << "\n";
      return 2;
    }
  }
  try {
    run(given);
  } catch (const std::exception& failure) {
    std::cerr << "tamis_cold_store: " << failure.what() << "\n";
    return 1;
  }
  return 0;
}
