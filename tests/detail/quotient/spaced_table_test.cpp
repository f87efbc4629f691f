#include "tamis/detail/quotient/spaced_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tamis/detail/base/random.hpp"
#include "tamis/detail/io/archive.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;

using run_model = std::map<std::uint64_t, std::vector<std::uint64_t>>;

struct shape {
  std::uint64_t quotients;
  std::uint64_t spare;
  unsigned slots;
  unsigned width;
};

// A table beside what it must hold: every quotient's run as a list.
struct table_world {
  spaced_table real;
  run_model model;
  std::uint64_t checks = 0;

  explicit table_world(const shape& s) : real(spaced_table::make(s.quotients, s.spare, spacing(s.slots), s.width).value()) {}

  std::uint64_t home(std::uint64_t quotient) const {
    return quotient / 64 * real.slots_per_block() + quotient % 64 * real.slots_per_block() / 64;
  }
  // Where the last run ends if `more` slots are added to a quotient and runs lie as the table promises.
  std::uint64_t end_with(std::uint64_t quotient, std::uint64_t more) const {
    run_model changed = model;
    changed[quotient].resize(changed[quotient].size() + more);
    std::uint64_t end = 0;
    for (const auto& [q, values] : changed) {
      if (!values.empty()) end = std::max(end, home(q)) + values.size();
    }
    return end;
  }

  void check() {
    ++checks;
    const status sound = real.validate();
    ASSERT_TRUE(sound.ok()) << sound.message();
    std::uint64_t end = 0;
    std::uint64_t used = 0;
    auto next = model.begin();
    std::uint64_t runs = 0;
    real.for_each_run([&](std::uint64_t quotient, const slot_run& run) {
      while (next != model.end() && next->second.empty()) ++next;
      ASSERT_NE(next, model.end());
      ASSERT_EQ(quotient, next->first);
      std::vector<std::uint64_t> values;
      real.for_each_value(run, [&](std::uint64_t value) { values.push_back(value); });
      ASSERT_EQ(values, next->second);
      const std::uint64_t first = run.first.block * real.slots_per_block() + run.first.i;
      ASSERT_EQ(first, std::max(end, home(quotient)));
      ASSERT_EQ(real.find(quotient), run);
      end = first + run.size;
      used += run.size;
      ++runs;
      ++next;
    });
    ASSERT_EQ(used, real.used());
    ASSERT_EQ(runs, static_cast<std::uint64_t>(
                        std::count_if(model.begin(), model.end(), [](const auto& r) { return !r.second.empty(); })));
  }
  bool is_saturated() const {
    for (std::uint64_t block = 0; block < real.blocks(); ++block) {
      if (block_memory::offset(real.memory().record(block)) == longest_offset) return true;
    }
    return false;
  }
  void check_lookups(random_source& random, std::uint64_t range) {
    for (unsigned n = 0; n < 8; ++n) {
      const std::uint64_t quotient = random.below(real.quotients());
      const std::uint64_t value = random.below(range);
      const auto run = model.find(quotient);
      const auto copies = run == model.end() ? 0 : std::count(run->second.begin(), run->second.end(), value);
      ASSERT_EQ(real.contains(quotient, value), copies != 0);
      ASSERT_EQ(contains_of_width(quotient, value), copies != 0);
      ASSERT_EQ(real.count_value(real.find(quotient), value), copies);
    }
  }

  bool contains_of_width(std::uint64_t quotient, std::uint64_t value) const {
    switch (real.width()) {
      case 4: return real.contains<4>(quotient, value);
      case 7: return real.contains<7>(quotient, value);
      case 8: return real.contains<8>(quotient, value);
      case 9: return real.contains<9>(quotient, value);
      default: return real.contains(quotient, value);
    }
  }

  void insert(std::uint64_t quotient, std::uint64_t value) {
    const bool fits = end_with(quotient, 1) <= real.slots();
    const spaced_table before = real;
    const bool is_in = real.width() == 7   ? real.insert<7>(quotient, value)
                       : real.width() == 8 ? real.insert<8>(quotient, value)
                                           : real.insert(quotient, value);
    ASSERT_EQ(is_in, fits);
    if (!fits) {
      ASSERT_EQ(real, before);
      return;
    }
    auto& run = model[quotient];
    run.insert(run.begin(), value);
  }
  void erase(std::uint64_t quotient, std::uint64_t value) {
    auto& run = model[quotient];
    const auto at = std::find(run.begin(), run.end(), value);
    ASSERT_EQ(real.erase(quotient, value), at != run.end());
    if (at != run.end()) run.erase(at);
  }
  void open(std::uint64_t quotient, std::uint64_t place, std::uint64_t value) {
    auto& values = model[quotient];
    slot_run run = real.find(quotient);
    ASSERT_EQ(run.size, values.size());
    const block_slot at = real.advanced(run.first, place);
    ASSERT_EQ(real.open(quotient, run, at), end_with(quotient, 1) <= real.slots());
    if (run.size == values.size()) return;
    ASSERT_EQ(real.value(at), 0u);
    real.set_value(at, value);
    values.insert(values.begin() + static_cast<std::ptrdiff_t>(place), value);
  }
  void assign(std::uint64_t quotient, const std::vector<std::uint64_t>& values) {
    auto& run = model[quotient];
    const std::uint64_t more = values.size() > run.size() ? values.size() - run.size() : 0;
    const bool fits = more == 0 || end_with(quotient, more) <= real.slots();
    const spaced_table before = real;
    ASSERT_EQ(real.assign(quotient, values), fits);
    if (fits) {
      run = values;
    } else {
      ASSERT_EQ(real, before);
    }
  }
};

std::uint64_t choose_quotient(random_source& random, std::uint64_t quotients, unsigned focus) {
  switch (focus) {
    case 0: return random.below(quotients);
    case 1: return std::min<std::uint64_t>(random.below(4) + quotients / 3, quotients - 1);  // all in a few
    case 2: return quotients - 1;                                                            // all in the last
    case 3: return random.chance(0.5) ? 0 : random.below(quotients);                         // a long run at the very front
    default: return quotients - 1 - random.below(std::min<std::uint64_t>(quotients, 20));
  }
}

std::uint64_t operations = 0;
std::uint64_t saturated = 0;  // after how many of them an offset did not fit its byte

void run_world(const shape& s, unsigned focus, std::uint64_t seed, unsigned steps) {
  SCOPED_TRACE("quotients " + std::to_string(s.quotients) + " slots " + std::to_string(s.slots) + " width " +
               std::to_string(s.width) + " focus " + std::to_string(focus) + " seed " + std::to_string(seed));
  random_source random(seed);
  table_world world(s);
  const std::uint64_t values = low_mask(s.width) + 1;
  const std::uint64_t range = std::min<std::uint64_t>(values, 24);  // so that values meet
  const auto value = [&] { return random.chance(0.5) ? random.below(range) : random() & (values - 1); };
  double tide = 0.8;
  for (unsigned step = 0; step < steps; ++step, ++operations) {
    if (step % 128 == 0) tide = random.unit();
    const std::uint64_t quotient = choose_quotient(random, s.quotients, focus);
    const std::uint64_t kind = random.below(10);
    if (random.chance(tide)) {
      if (kind < 7) {
        world.insert(quotient, value());
      } else {
        world.open(quotient, random.below(world.model[quotient].size() + 1), value());
      }
    } else if (kind < 8) {
      auto& run = world.model[quotient];
      world.erase(quotient, run.empty() ? value() : run[random.below(run.size())]);
    } else {
      std::vector<std::uint64_t> assigned(random.below(kind == 9 ? 6 : 60));
      for (auto& v : assigned) v = value();
      world.assign(quotient, assigned);
    }
    if (testing::Test::HasFatalFailure()) return;
    world.check();
    world.check_lookups(random, range);
    saturated += world.is_saturated();
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(SpacedTable, IsAListOfRunsWhateverTheSpacingAndTheWidth) {
  for (unsigned slots = spacing::least; slots <= spacing::most; slots = spacing::after(slots)) {
    for (const unsigned width : {1u, 4u, 5u, 7u, 8u, 9u, 11u, 16u, 33u, 56u}) {
      for (const unsigned focus : {0u, 1u, 4u}) {
        run_world({150, 40, slots, width}, focus, slots * 1000 + width * 10 + focus, 400);
        if (HasFatalFailure()) return;
      }
    }
  }
  std::printf("%llu checked operations\n", static_cast<unsigned long long>(operations));
}

TEST(SpacedTable, KeepsRunsThatAreLongerThanItsOffsetsCanSay) {
  for (const unsigned slots : {32u, 36u, 44u, 48u, 60u, 64u}) {
    for (const unsigned width : {4u, 7u, 8u, 10u}) {
      for (const unsigned focus : {1u, 2u, 3u}) {
        run_world({200, 900, slots, width}, focus, slots * 77 + width + focus, 1500);
        if (HasFatalFailure()) return;
      }
    }
  }
  std::printf("%llu checked operations, %llu with a saturated offset\n", static_cast<unsigned long long>(operations),
              static_cast<unsigned long long>(saturated));
  EXPECT_GT(saturated, 1000u);
}

TEST(SpacedTable, HasAnyNumberOfQuotients) {
  for (const std::uint64_t quotients : {1u, 2u, 63u, 64u, 65u, 127u, 129u}) {
    for (const unsigned slots : {36u, 64u}) {
      for (const std::uint64_t spare : {0u, 5u}) {
        run_world({quotients, spare, slots, 7}, 0, quotients * 31 + slots + spare, 800);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(SpacedTable, FindsFreeAndClosedSlotsByWordsAndByHops) {
  random_source random(5);
  for (unsigned slots = spacing::least; slots <= spacing::most; slots = spacing::after(slots)) {
    const spacing s(slots);
    auto table = spaced_table::make(64 * 40, 256, s, 8).value();
    for (const double load : {0.3, 0.7, 0.9, 0.98}) {
      while (table.used() < static_cast<std::uint64_t>(load * 40 * slots)) {
        if (!table.insert(random.below(table.quotients()), random.below(256))) break;
      }
      for (std::uint64_t block = 0; block < table.blocks(); ++block) {
        const record_header header = table.memory().header(block);
        const std::uint64_t free = free_slots(header, s);
        const std::uint64_t closed = closed_slots(header, s);
        for (unsigned from = 0; from < slots; ++from) {
          const auto first = [&](std::uint64_t word) {
            return std::min(slots, static_cast<unsigned>(std::countr_zero(high_bits(word, from))));
          };
          ASSERT_EQ(first(free), detail::first_free_by_hops(header, s, from));
          ASSERT_EQ(first(closed), detail::first_closed_by_hops(header, s, from));
        }
      }
    }
  }
}

TEST(SpacedTable, GetsMoreSlotsBehindItsLastQuotient) {
  for (const unsigned width : {4u, 7u, 8u, 11u}) {
    for (const unsigned slots : {36u, 54u, 64u}) {
      random_source random(slots + width);
      table_world world({150, 10, slots, width});
      unsigned widened = 0;
      const std::uint64_t most = world.real.homes();
      while (world.real.used() < most) {
        const std::uint64_t quotient = random.chance(0.3) ? random.below(150) : 149 - random.below(3);
        const std::uint64_t value = random() & low_mask(width);
        if (world.end_with(quotient, 1) > world.real.slots()) {
          world.real = world.real.widened(world.real.slots() - most + 1 + random.below(80)).value();
          ++widened;
          continue;
        }
        world.insert(quotient, value);
        world.check();
        if (HasFatalFailure()) return;
      }
      EXPECT_GT(widened, 0u);
      for (auto& [quotient, run] : world.model) {
        while (!run.empty()) {
          world.erase(quotient, run.back());
          world.check();
          if (HasFatalFailure()) return;
        }
      }
      EXPECT_EQ(world.real.used(), 0u);
    }
  }
}

spaced_table saved_and_loaded(const spaced_table& table, std::string& wrong) {
  memory_sink sink;
  writer out(sink);
  out(table);
  EXPECT_TRUE(out.finish().ok());
  memory_source source(sink.bytes());
  reader in(source);
  spaced_table loaded;
  in(loaded);
  if (!in.ok()) wrong = in.state().message();
  return loaded;
}

TEST(SpacedTable, ComesBackFromAFile) {
  random_source random(9);
  for (const unsigned slots : {36u, 48u, 64u}) {
    for (const unsigned width : {7u, 8u, 12u}) {
      auto table = spaced_table::make(1000, 60, spacing(slots), width).value();
      while (table.used() < table.slots() * 9 / 10 && table.insert(random.below(1000), random() & low_mask(width))) {
      }
      std::string wrong;
      EXPECT_EQ(saved_and_loaded(table, wrong), table) << wrong;
    }
  }
}

TEST(SpacedTable, IsRefusedIfABitOfItsRunsIsWrong) {
  random_source random(10);
  auto table = spaced_table::make(100, 30, spacing(44), 7).value();
  while (table.used() < 60 && table.insert(random.below(100), random.below(128))) {
  }
  memory_sink sink;
  writer out(sink);
  out(table);
  ASSERT_TRUE(out.finish().ok());
  unsigned refused = 0;
  for (std::size_t bit = 0; bit < sink.bytes().size() * 8; ++bit) {
    std::vector<std::byte> bytes(sink.bytes().begin(), sink.bytes().end());
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    memory_source source(bytes);
    reader in(source);
    spaced_table loaded;
    in(loaded);
    if (!in.ok()) {
      ++refused;
      continue;
    }
    // What is taken must be safe: every operation ends, and stays inside.
    for (std::uint64_t q = 0; q < loaded.quotients(); ++q) loaded.contains(q, 3);
    loaded.insert(7, 1);
    ASSERT_TRUE(loaded.validate().ok());
  }
  EXPECT_GT(refused, 500u);
}

TEST(SpacedTable, HasSpacingsThatLeadToOthers) {
  for (unsigned slots = spacing::least; slots <= spacing::most; slots = spacing::after(slots)) {
    EXPECT_TRUE(spacing::allows(slots));
    EXPECT_TRUE(spacing::allows(spacing::raised(slots)));
    EXPECT_GE(spacing::raised(slots), slots);
  }
}

TEST(SpacedTable, SaysWhichSizesCannotBeHad) {
  EXPECT_FALSE(spaced_table::make(std::uint64_t{1} << 60, 0, spacing(64), 8).ok());
  EXPECT_FALSE(spaced_table::make(std::uint64_t{1} << 55, 0, spacing(64), 56).ok());
}

}  // namespace
