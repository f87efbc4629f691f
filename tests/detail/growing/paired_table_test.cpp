#include "tamis/detail/growing/paired_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tamis/detail/base/random.hpp"
#include "tamis/detail/io/archive.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;
using outcome = paired_table::adapted::outcome;

struct world_shape {
  std::uint64_t quotients;
  unsigned slots;
  unsigned width;
  std::size_t most_keys;
  slot_format format = slot_format::uniform;
};

// A table beside its keys, in which everything collides: few quotients, streams that share long beginnings. After every
// operation the invariant is checked.
class pair_world {
 public:
  pair_world(const world_shape& shape, std::uint64_t seed)
      : random_(seed),
        shape_(shape),
        table_(paired_table::make(shape.quotients, 64, spacing(shape.slots), shape.width, shape.format).value()) {
    for (std::size_t i = 0; i < 3 * shape.most_keys; ++i) pool_.push_back({random_.below(shape.quotients), draw()});
  }

  std::optional<std::string> step() {
    if (++operations % 512 == 0) tide_ = random_.unit();
    const std::uint64_t kind = random_.below(100);
    std::optional<std::string> wrong;
    if (kind < 40) {
      const bool few = static_cast<double>(count_) < tide_ * static_cast<double>(shape_.most_keys);
      wrong = few ? insert() : erase();
    } else if (kind < 95) {
      wrong = adapt();
    } else if (kind < 97) {
      if (shape_.format == slot_format::aged) wrong = random_.chance(0.5) ? age() : rejuvenate();
    } else if (kind < 98) {
      wrong = save_and_load();
    } else {
      wrong = lookups();
    }
    return wrong ? wrong : check();
  }

  static std::uint64_t operations;
  static std::uint64_t fixed;
  static std::uint64_t highest;  // level that was seen
  static std::uint64_t refused;

 private:
  struct key {
    std::uint64_t quotient;
    uint128 stream;
  };

  // Follows one of three trunks for a while.
  uint128 draw() {
    const std::uint64_t t = random_.below(3);
    const uint128 trunk = t == 0 ? ~uint128{0} : static_cast<uint128>(mix64(t)) << 64 | mix64(t + 9);
    const uint128 own = static_cast<uint128>(random_()) << 64 | random_();
    const auto shared = static_cast<unsigned>(random_.below(40));
    const uint128 mask = shared == 0 ? 0 : ~uint128{0} << (128 - shared);
    return (trunk & mask) | (own & ~mask);
  }
  std::vector<uint128>& keys_of(std::uint64_t quotient) { return truth_[quotient]; }

  std::optional<std::string> insert() {
    const key k = pool_[random_.below(pool_.size())];
    const std::uint64_t x = table_.code().x_of(k.stream);
    const bool in = with_format([&]<slot_format F>() {
      return shape_.width == 7   ? table_.insert<7, F>(k.quotient, x)
             : shape_.width == 8 ? table_.insert<8, F>(k.quotient, x)
                                 : table_.insert<0, F>(k.quotient, x);
    });
    if (!in) {
      ++refused;
      return std::nullopt;
    }
    auto& keys = keys_of(k.quotient);
    keys.insert(std::upper_bound(keys.begin(), keys.end(), k.stream), k.stream);
    ++count_;
    return std::nullopt;
  }
  std::optional<std::string> erase() {
    std::vector<std::uint64_t> with_keys;
    for (const auto& [quotient, keys] : truth_) {
      if (!keys.empty()) with_keys.push_back(quotient);
    }
    if (with_keys.empty()) return std::nullopt;
    const std::uint64_t quotient = with_keys[random_.below(with_keys.size())];
    auto& keys = keys_of(quotient);
    const auto at = keys.begin() + static_cast<std::ptrdiff_t>(random_.below(keys.size()));
    const uint128 stream = *at;
    keys.erase(at);
    --count_;
    const bool erased = with_format([&]<slot_format F>() { return table_.erase<0, F>(quotient, stream); });
    return erased ? std::nullopt : std::optional<std::string>("a key could not be erased");
  }
  template <class Use>
  bool with_format(Use use) const {
    return shape_.format == slot_format::uniform ? use.template operator()<slot_format::uniform>()
                                                 : use.template operator()<slot_format::aged>();
  }
  // The entries of a quotient lose bits, as if they had been given to quotients.
  std::optional<std::string> age() {
    const std::uint64_t quotient = random_.below(shape_.quotients);
    run_entries entries = table_.entries_of(quotient);
    for (run_entry& e : entries) {
      const unsigned length = table_.code().length(e);
      const auto less = static_cast<unsigned>(random_.below(random_.chance(0.2) ? length + 1 : std::min(length, 3u) + 1));
      e = table_.code().prefix_within(e.bits, length - less, e.level);
    }
    return table_.write(quotient, entries) ? std::nullopt : std::optional<std::string>("shorter entries do not fit");
  }
  std::optional<std::string> rejuvenate() {
    for (const auto& [quotient, keys] : truth_) {
      if (keys.empty() || random_.chance(0.8)) continue;
      const uint128 stream = keys[random_.below(keys.size())];
      const std::uint64_t weight = table_.plain_weight();
      table_.rejuvenate(quotient, stream);
      if (table_.plain_weight() > weight) return "more is accepted";
    }
    return std::nullopt;
  }
  bool contains(const key& k) const {
    const auto stream = [&] { return k.stream; };
    const std::uint64_t x = table_.code().x_of(k.stream);
    return with_format([&]<slot_format F>() {
      switch (shape_.width) {
        case 4: return table_.contains<4, F>(k.quotient, x, stream);
        case 7: return table_.contains<7, F>(k.quotient, x, stream);
        case 8: return table_.contains<8, F>(k.quotient, x, stream);
        default: return table_.contains<0, F>(k.quotient, x, stream);
      }
    });
  }
  std::optional<std::string> adapt() {
    const key k = pool_[random_.below(pool_.size())];
    const auto& all = keys_of(k.quotient);
    if (std::binary_search(all.begin(), all.end(), k.stream)) return std::nullopt;
    const std::optional<unsigned> shortest = table_.shortest_match(k.quotient, k.stream);
    std::vector<uint128> near;
    for (const uint128 s : all) {
      if (shortest && stream_prefix{0, k.stream, *shortest}.matches(s)) near.push_back(s);
    }
    const bool positive = contains(k);
    if (positive != shortest.has_value()) return "a lookup is not what the entries say";
    const paired_table before = table_;
    const auto answer = table_.adapt(k.quotient, k.stream, near, table_.table().slots() * 97 / 100);
    if (answer.dropped != 0) return "an entry was dropped";
    switch (answer.is) {
      case outcome::fixed:
        ++fixed;
        if (!positive) return "a negative was fixed";
        return contains(k) ? std::optional<std::string>("a false positive is still there") : std::nullopt;
      case outcome::not_positive: return positive ? std::optional<std::string>("a positive is none") : std::nullopt;
      case outcome::no_room:
        ++refused;
        return before == table_ ? std::nullopt : std::optional<std::string>("a refused adapt has changed the table");
      default: return "not fixed, without a reason";
    }
  }
  std::optional<std::string> save_and_load() {
    memory_sink sink;
    writer out(sink);
    out(table_);
    if (!out.finish().ok()) return "cannot be saved";
    memory_source source(sink.bytes());
    reader in(source);
    paired_table loaded(shape_.format);
    in(loaded);
    if (!in.ok()) return "cannot be loaded: " + in.state().message();
    if (!(loaded == table_)) return "comes back changed";
    table_ = std::move(loaded);
    return std::nullopt;
  }
  std::optional<std::string> lookups() {
    for (const key& k : pool_) {
      const run_entries entries = table_.entries_of(k.quotient);
      const bool truth =
          std::any_of(entries.begin(), entries.end(), [&](const run_entry& e) { return table_.code().matches(e, k.stream); });
      if (contains(k) != truth) return "a lookup is not what the entries say";
      if ((table_.count(k.quotient, k.stream) != 0) != truth) return "a count is not what the entries say";
    }
    return std::nullopt;
  }

  std::optional<std::string> check() {
    const status sound = table_.table().validate();
    if (!sound.ok()) return sound.message();
    std::uint64_t entries = 0;
    std::uint64_t lengthened = 0;
    std::uint64_t lost = 0;
    for (const auto& [quotient, keys] : truth_) {
      const run_entries here = table_.entries_of(quotient);
      entries += here.size();
      std::vector<stream_prefix> prefixes;
      run_slots slots;
      table_.code().encode(here, slots);
      if (slots.size() != table_.table().find(quotient).size) return "a run has slots that are no entry";
      for (const run_entry& e : here) {
        lengthened += e.level != 0;
        highest = std::max<std::uint64_t>(highest, e.level);
        prefixes.push_back({0, e.bits, table_.code().length(e)});
        lost += e.level == 0 ? (std::uint64_t{1} << e.lost) - 1 : 0;
      }
      if (here.size() != keys.size()) return "entries and keys differ in number";
      if (match_longest_first(prefixes, keys).keys_left != 0) return "keys cannot be paired with entries";
      for (const uint128 s : keys) {
        if (!contains({quotient, s})) return "a key is lost";
        if (table_.count(quotient, s) < static_cast<std::uint64_t>(std::count(keys.begin(), keys.end(), s)))
          return "a key is counted too rarely";
      }
    }
    if (entries != table_.entries() || entries != count_) return "wrong number of entries";
    if (lengthened != table_.lengthened()) return "wrong number of lengthened entries";
    if (entries - lengthened + lost != table_.plain_weight()) return "wrong number of lost bits";
    return std::nullopt;
  }

  random_source random_;
  world_shape shape_;
  paired_table table_;
  std::map<std::uint64_t, std::vector<uint128>> truth_;
  std::vector<key> pool_;
  std::uint64_t count_ = 0;
  double tide_ = 0.7;
};
std::uint64_t pair_world::operations = 0;
std::uint64_t pair_world::fixed = 0;
std::uint64_t pair_world::highest = 0;
std::uint64_t pair_world::refused = 0;

void run_worlds(const std::vector<world_shape>& shapes, unsigned steps) {
  for (const world_shape& shape : shapes) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      pair_world world(shape, seed);
      for (unsigned i = 0; i < steps; ++i) {
        const auto wrong = world.step();
        ASSERT_FALSE(wrong.has_value()) << *wrong << ": quotients " << shape.quotients << ", slots " << shape.slots
                                        << ", width " << shape.width << (shape.format == slot_format::aged ? " aged" : "")
                                        << ", seed " << seed << ", step " << i;
      }
    }
  }
  std::printf("%llu operations, %llu fixed, highest level %llu, %llu refused\n",
              static_cast<unsigned long long>(pair_world::operations), static_cast<unsigned long long>(pair_world::fixed),
              static_cast<unsigned long long>(pair_world::highest), static_cast<unsigned long long>(pair_world::refused));
}

TEST(PairedTable, KeepsTheInvariantWhereEverythingCollides) {
  std::vector<world_shape> shapes;
  for (const unsigned width : {4u, 5u, 7u, 8u, 9u, 16u}) {
    for (const unsigned slots : {36u, 42u, 48u, 58u, 64u}) shapes.push_back({8, slots, width, 40});
  }
  for (const unsigned width : {4u, 5u, 7u, 8u, 9u, 10u, 11u, 17u}) {
    for (const unsigned slots : {36u, 48u, 64u}) shapes.push_back({8, slots, width, 40, slot_format::aged});
  }
  run_worlds(shapes, 3000);
  EXPECT_GT(pair_world::highest, 6u);
  EXPECT_GT(pair_world::fixed, 5'000u);
}

TEST(PairedTable, KeepsItInTablesThatAreFull) {
  std::vector<world_shape> shapes;
  for (const unsigned width : {4u, 7u, 8u}) {
    for (const unsigned slots : {32u, 44u, 64u}) shapes.push_back({64, slots, width, 100});
    for (const unsigned slots : {36u, 64u}) shapes.push_back({64, slots, width + 1, 100, slot_format::aged});
  }
  pair_world::refused = 0;
  run_worlds(shapes, 3000);
  EXPECT_GT(pair_world::refused, 1000u);
}

TEST(PairedTable, KeepsItWhereAllKeysHaveOneQuotient) {
  std::vector<world_shape> shapes;
  for (const unsigned width : {4u, 5u, 7u, 8u}) {
    for (const unsigned slots : {36u, 64u}) {
      shapes.push_back({1, slots, width, 60});
      shapes.push_back({1, slots, width, 60, slot_format::aged});
    }
  }
  run_worlds(shapes, 2000);
}

TEST(PairedTable, SaysWhichKeyIsMissing) {
  auto table = paired_table::make(10, 20, spacing(48), 8).value();
  ASSERT_TRUE(table.insert(3, 0xab));
  const paired_table before = table;
  const uint128 key = static_cast<uint128>(0xab) << 120;
  const uint128 asked = key | 1;
  // The store has two keys of which the table has one.
  const std::vector<uint128> two = {key, key | 5};
  EXPECT_EQ(table.adapt(3, asked, two, 1000).is, outcome::missing);
  EXPECT_EQ(table, before);
  // It has one: fixed only if the level allows it, and it does not at 127 bits in common.
  EXPECT_EQ(table.adapt(3, asked, std::vector<uint128>{key}, 1000).is, outcome::unfixable);
  EXPECT_EQ(table, before);
  // It has none: the entry is nobody's.
  const auto none = table.adapt(3, asked, {}, 1000);
  EXPECT_EQ(none.is, outcome::fixed);
  EXPECT_EQ(none.dropped, 1u);
  EXPECT_EQ(table.entries(), 0u);
}

}  // namespace
