// Tables of a forger, who changes what says where runs lie, and makes what depends on it agree as far as it can. What is taken
// must be what a judge takes who goes from run to run.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <vector>

#include "tamis/detail/base/random.hpp"
#include "tamis/detail/io/archive.hpp"
#include "tamis/detail/quotient/rank_select.hpp"
#include "tamis/detail/quotient/spaced_table.hpp"
#include "tamis/detail/quotient/three_bit.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;

template <class Table>
std::vector<std::byte> saved(const Table& table) {
  memory_sink sink;
  writer out(sink);
  out(table);
  EXPECT_TRUE(out.finish().ok());
  return std::move(sink).take();
}
template <class Table>
bool is_taken(const std::vector<std::byte>& bytes) {
  memory_source source(bytes);
  reader in(source);
  auto table = stored_access::blank<Table>();
  in(table);
  return in.ok();
}

std::uint64_t word_at(const std::vector<std::byte>& bytes, std::size_t at) {
  std::uint64_t word;
  std::memcpy(&word, bytes.data() + at, sizeof word);
  return word;
}
void put_word(std::vector<std::byte>& bytes, std::size_t at, std::uint64_t word) {
  std::memcpy(bytes.data() + at, &word, sizeof word);
}

constexpr std::size_t used_at = 8;  // in all three kinds of table, behind the number of quotients

// Where the fields of a table of runs stand when it is saved.
struct run_fields {
  std::size_t first;         // the header of block 0
  std::size_t header_bytes;  // from one to the next
  std::size_t runends;       // behind `occupied`
  std::size_t offset;
  unsigned quotients;  // per block
  unsigned slots;
};

class run_judge {
 public:
  run_judge(std::vector<std::byte>& bytes, const run_fields& fields, std::uint64_t blocks)
      : bytes_(bytes), fields_(fields), blocks_(blocks) {}

  bool is(std::size_t field, std::uint64_t block, unsigned i) const {
    return (word_at(bytes_, at(block) + field) >> i & 1) != 0;
  }
  bool ends(std::uint64_t slot) const {
    return is(fields_.runends, slot / fields_.slots, static_cast<unsigned>(slot % fields_.slots));
  }
  // Are these runs? `repairs`: their number of slots and their offsets are made to be those that they should be.
  bool accepts(bool repairs) {
    const std::uint64_t slots = blocks_ * fields_.slots;
    const std::uint64_t quotients = word_at(bytes_, 0);
    bool sound = true;
    std::uint64_t end = 0;
    std::uint64_t used = 0;
    for (std::uint64_t block = 0; block < blocks_; ++block) {
      const std::uint64_t begin = block * fields_.slots;
      const auto offset = static_cast<std::byte>(std::min<std::uint64_t>(end - std::min(end, begin), 255));
      if (repairs) bytes_[at(block) + fields_.offset] = offset;
      sound = sound && bytes_[at(block) + fields_.offset] == offset;
      for (unsigned i = 0; i < fields_.quotients; ++i) {
        if (!is(0, block, i)) continue;
        if (block * fields_.quotients + i >= quotients) return false;
        const std::uint64_t first = std::max(end, begin + i * fields_.slots / fields_.quotients);
        std::uint64_t last = end;
        while (last < slots && !ends(last)) ++last;
        if (last == slots || last < first) return false;
        used += last + 1 - first;
        end = last + 1;
      }
    }
    for (; end < slots; ++end) sound = sound && !ends(end);
    if (repairs) put_word(bytes_, used_at, used);
    return sound && word_at(bytes_, used_at) == used;
  }

  // Changes a bit or two of one kind of field.
  void forge(random_source& random) {
    const std::size_t field = random.chance(0.5) ? 0 : fields_.runends;
    const unsigned bits = field == 0 ? fields_.quotients : fields_.slots;
    const auto a = static_cast<unsigned>(random.below(bits));
    const auto b = random.chance(0.7) ? std::min(bits - 1, a + 1) : static_cast<unsigned>(random.below(bits));
    const std::uint64_t block = random.below(blocks_);
    std::uint64_t word = word_at(bytes_, at(block) + field);
    if (random.chance(0.3)) {
      word ^= std::uint64_t{1} << a;
    } else if ((word >> a & 1) != (word >> b & 1)) {
      word ^= std::uint64_t{1} << a | std::uint64_t{1} << b;  // a one moves: there are as many as before
    }
    put_word(bytes_, at(block) + field, word);
    if (random.chance(0.1)) bytes_[at(block) + fields_.offset] ^= std::byte{1} << random.below(8);
  }

 private:
  std::size_t at(std::uint64_t block) const { return fields_.first + block * fields_.header_bytes; }

  std::vector<std::byte>& bytes_;
  run_fields fields_;
  std::uint64_t blocks_;
};

struct verdicts {
  unsigned taken = 0;
  unsigned refused = 0;
};
template <class Table>
void expect_same_verdicts(const std::vector<std::byte>& honest, const run_fields& fields, std::uint64_t blocks,
                          random_source& random, verdicts& all) {
  for (int round = 0; round < 300; ++round) {
    std::vector<std::byte> bytes = honest;
    run_judge judge(bytes, fields, blocks);
    for (std::uint64_t left = 1 + random.below(4); left != 0; --left) judge.forge(random);
    if (random.chance(0.8)) judge.accepts(true);
    const bool expected = judge.accepts(false);
    ASSERT_EQ(is_taken<Table>(bytes), expected);
    ++(expected ? all.taken : all.refused);
  }
}

template <class Table>
void expect_same_verdicts_of_filled(std::uint64_t seed) {
  random_source random(seed);
  verdicts all;
  for (int n = 0; n < 40; ++n) {
    const std::uint64_t quotients = 1 + random.below(300);
    Table table = Table::make(quotients, random.below(400), 8).value();
    const bool crowded = random.chance(0.3);  // a run that is longer than offsets can say
    for (std::uint64_t left = random.below(quotients + 400); left != 0; --left) {
      const std::uint64_t quotient = crowded ? quotients / 3 : random.below(quotients);
      if (const auto gap = table.find_gap(quotient)) table.open(quotient, *gap);
    }
    const run_fields fields{24, 17, 8, 16, Table::block_slots, Table::block_slots};
    ASSERT_TRUE(is_taken<Table>(saved(table)));
    expect_same_verdicts<Table>(saved(table), fields, table.blocks(), random, all);
  }
  EXPECT_GT(all.taken, 500u);
  EXPECT_GT(all.refused, 500u);
}

TEST(forged_runs, of_rank_and_select) { expect_same_verdicts_of_filled<rank_select<>>(1); }
TEST(forged_runs, of_short_blocks) { expect_same_verdicts_of_filled<rank_select<rank_select_layout{.block_slots = 48}>>(2); }

TEST(forged_runs, of_quotients_apart_from_slots) {
  random_source random(3);
  verdicts all;
  for (int n = 0; n < 40; ++n) {
    constexpr unsigned allowed[] = {32, 36, 44, 48, 58, 60, 64};
    const spacing s(allowed[random.below(std::size(allowed))]);
    const std::uint64_t quotients = 1 + random.below(300);
    constexpr unsigned width = 9;  // runends stand in a column of their own
    spaced_table table = spaced_table::make(quotients, random.below(400), s, width).value();
    const bool crowded = random.chance(0.3);
    for (std::uint64_t left = random.below(quotients + 400); left != 0; --left) {
      table.insert(crowded ? quotients / 3 : random.below(quotients), 1);
    }
    const run_fields fields{40, block_layout(s, width).record_bytes(), 9, 8, 64, s.slots()};
    ASSERT_TRUE(is_taken<spaced_table>(saved(table)));
    expect_same_verdicts<spaced_table>(saved(table), fields, table.blocks(), random, all);
  }
  EXPECT_GT(all.taken, 500u);
  EXPECT_GT(all.refused, 500u);
}

// Three flags a slot.
class flag_judge {
 public:
  explicit flag_judge(std::vector<std::byte>& bytes) : bytes_(bytes), slots_(word_at(bytes, 16) / 3 * 64 - 64) {}

  static constexpr std::uint64_t occupied = 0, continuation = 1, shifted = 2;
  bool get(std::uint64_t flag, std::uint64_t slot) const {
    return slot < slots_ && (word_at(bytes_, at(flag, slot)) >> (slot % 64) & 1) != 0;
  }
  bool is_used(std::uint64_t slot) const { return get(0, slot) || get(1, slot) || get(2, slot); }

  bool accepts(bool repairs) {
    std::uint64_t end = 0;
    std::uint64_t used = 0;
    for (std::uint64_t q = 0; q < slots_; ++q) {
      if (!get(occupied, q)) continue;
      const std::uint64_t first = std::max(end, q);
      if (q >= word_at(bytes_, 0) || first >= slots_) return false;
      for (; end < first; ++end) {
        if (is_used(end)) return false;
      }
      if (get(continuation, first) || get(shifted, first) != (first != q)) return false;
      for (end = first + 1; get(continuation, end); ++end) {
        if (!get(shifted, end)) return false;
      }
      used += end - first;
    }
    for (; end < slots_; ++end) {
      if (is_used(end)) return false;
    }
    if (repairs) put_word(bytes_, used_at, used);
    return word_at(bytes_, used_at) == used;
  }

  void forge(random_source& random) {
    const std::uint64_t slot = random.below(slots_);
    if (random.chance(0.4)) return flip(random.below(3), slot);
    // What is likely to be sound: runs are cut or joined, and a shifted run becomes that of another quotient.
    if (random.chance(0.5)) {
      if (get(shifted, slot)) {
        flip(continuation, slot);
        if (random.chance(0.7)) flip(occupied, random.below(slot + 1));
      }
      return;
    }
    const std::uint64_t other = slot + 1 < slots_ ? slot + 1 : slot - 1;
    if (get(occupied, slot) != get(occupied, other)) flip(occupied, slot), flip(occupied, other);
    if (random.chance(0.3)) flip(shifted, other);
  }

 private:
  void flip(std::uint64_t flag, std::uint64_t slot) {
    put_word(bytes_, at(flag, slot), word_at(bytes_, at(flag, slot)) ^ std::uint64_t{1} << (slot % 64));
  }
  static std::size_t at(std::uint64_t flag, std::uint64_t slot) { return 24 + 8 * (3 * (slot / 64) + flag); }

  std::vector<std::byte>& bytes_;
  std::uint64_t slots_;
};

TEST(forged_runs, of_three_flags) {
  random_source random(4);
  verdicts all;
  for (int n = 0; n < 60; ++n) {
    const std::uint64_t quotients = 1 + random.below(300);
    three_bit table = three_bit::make(quotients, random.below(200), 5).value();
    const bool crowded = random.chance(0.3);
    for (std::uint64_t left = random.below(quotients + 200); left != 0; --left) {
      const std::uint64_t quotient = crowded ? quotients / 3 + random.below(3) % quotients : random.below(quotients);
      if (const auto gap = table.find_gap(std::min(quotient, quotients - 1)))
        table.open(std::min(quotient, quotients - 1), *gap);
    }
    const std::vector<std::byte> honest = saved(table);
    ASSERT_TRUE(is_taken<three_bit>(honest));
    for (int round = 0; round < 300; ++round) {
      std::vector<std::byte> bytes = honest;
      flag_judge judge(bytes);
      for (std::uint64_t left = 1 + random.below(3); left != 0; --left) judge.forge(random);
      if (random.chance(0.8)) judge.accepts(true);
      const bool expected = judge.accepts(false);
      ASSERT_EQ(is_taken<three_bit>(bytes), expected) << "table " << n << ", round " << round;
      ++(expected ? all.taken : all.refused);
    }
  }
  EXPECT_GT(all.taken, 500u);
  EXPECT_GT(all.refused, 500u);
}

}  // namespace
