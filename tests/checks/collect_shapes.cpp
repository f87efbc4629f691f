// Payloads whose fields agree with each other, but have a size or a number that no filter has: nobody comes upon them by
// chance.

#include <functional>

#include "tamis/detail/bits/packed_array.hpp"
#include "tamis/detail/bloom/hash_sets.hpp"
#include "tamis/filters/cqf.hpp"
#include "tamis/filters/quotient.hpp"
#include "tamis/filters/rsqf.hpp"
#include "tamis/filters/utaf.hpp"
#include "tests/checks/collection.hpp"
#include "tests/support/keys.hpp"

namespace tamis::test {
namespace {

using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using words = detail::zeroed_array<u64>;
using lanes = detail::zeroed_array<u32>;

constexpr u64 capacity = 1;
constexpr u64 no_keys = 0;

byte_vector saved(const std::string& id, option_list options = {}) {
  return any_filter::create(id, {.capacity = 20, .fpr = 0.5, .options = std::move(options)}, test_hash()).value().save_bytes();
}

// A file of this kind with another payload.
void look_at(const std::string& id, const byte_vector& payload) {
  collection::of_tree().look_at(id, ".tamis", reframed(saved(id), payload));
}
template <class... Fields>
void look_at_fields(const std::string& id, const Fields&... fields) {
  memory_sink sink;
  detail::writer out(sink);
  out(fields...);
  out.finish().value();
  look_at(id, sink.bytes());
}

words packed(u64 size, unsigned width) {
  return words::make(size * width == 0 ? 0 : detail::divide_up(size * width, detail::word_bits) + 1).value();
}
lanes filled_lanes(u64 size, u32 value) {
  lanes made = lanes::make(size).value();
  for (u32& lane : made.span()) lane = value;
  return made;
}

TEST(shapes, of_words) {
  look_at_fields("bloom", capacity, no_keys, u32{1}, u64{0}, words::make(0).value());
  look_at_fields("counting-bloom", capacity, no_keys, u32{1}, u64{0}, detail::zeroed_array<u8>::make(0).value());
  auto counters = detail::zeroed_array<u8>::make(3).value();
  counters[2] = 0xf0;
  look_at_fields("counting-bloom", capacity, no_keys, u32{1}, u64{5}, counters);
  look_at_fields("bloom1", capacity, no_keys, u32{1}, false, u32{64}, u64{0}, lanes::make(0).value());
}

TEST(shapes, of_adaptive_words) {
  const auto look_at_words = [](const char* id, unsigned sets, u32 width, u64 blocks, u32 other_width, u64 others, u32 fill) {
    const detail::word_layout layout(32, sets, 1);
    look_at_fields(id, capacity, no_keys, u32{0}, u32{1}, u32{0}, layout, width, blocks,
                   lanes::make(blocks * width / 32).value(), other_width, others,
                   filled_lanes(others * other_width / 32, fill));
  };
  for (const unsigned sets : {1u, 3u, 32u}) look_at_words("abf", sets, 32, 2, 32, u64{2} * sets, 0);
  look_at_words("abf", 2, 32, 2, 64, 4, 0);
  look_at_words("abf", 2, 32, 2, 32, 5, 0);
  for (const u32 fill : {1u, 1u << 31}) {
    look_at_words("abf-spare", 2, 32, 2, 64, 2, fill);
    look_at_words("abf-spare", 2, 32, 2, 32, 3, fill);
  }
}

TEST(shapes, of_buckets) {
  const auto look_at_cuckoo = [](u64 mask, u64 count, u32 width, const words& table) {
    look_at_fields("cuckoo", capacity, no_keys, mask, count, width, table);
  };
  look_at_cuckoo(1, 2, 3, packed(8, 3));
  // How many of too wide slots are in use is chance.
  for (u64 keys = 0; keys <= 8; ++keys) look_at_fields("cuckoo", capacity, keys, u64{1}, u64{2}, u32{33}, packed(8, 33));
  look_at_cuckoo((u64{1} << 62) - 1, u64{1} << 62, 8, words::make(0).value());
  look_at_cuckoo(0, 1, 8, packed(4, 8));
  look_at_cuckoo(2, 3, 8, packed(12, 8));
  for (const u64 half : {0u, 1u}) {
    const u64 count = half == 0 ? 0 : 3;
    look_at_fields("ascf", capacity, no_keys, half, count, u32{8}, packed(4 * count, 8));
  }
  const auto look_at_vacuum = [](u64 buckets, u64 first, u64 second) {
    look_at_fields("vacuum", capacity, no_keys, buckets, first, second, second, second, buckets, u32{8},
                   packed(4 * buckets, 8));
  };
  look_at_vacuum(3, 0, 0);
  look_at_vacuum(6, 2, 1);
  look_at_vacuum(6, 3, 1);
  look_at_fields("dleft", capacity, no_keys, u64{0}, u64{1}, u64{9}, u32{16}, packed(36, 16));
}

TEST(shapes, of_ranked_blocks) {
  struct shape {
    u64 blocks = 1;
    u32 block_keys = 2;
    u32 group_keys = 1;
    unsigned width = 8;
    u64 more_fingerprints = 0;
    u64 spilled = 1;
    std::vector<u64> ones = {};
    u64 spilled_entry = 0;
    u64 keys = 0;
  };
  const auto look_at_blocks = [](const shape& s) {
    const u64 index_bits = s.blocks * (64 + s.block_keys);
    words index = words::make(detail::divide_up(index_bits, detail::word_bits)).value();
    for (const u64 one : s.ones) index[one / 64] |= u64{1} << one % 64;
    words spilled = words::make(s.spilled).value();
    if (s.spilled != 0) spilled[0] = s.spilled_entry;
    const u64 fingerprints = s.blocks * s.block_keys + s.more_fingerprints;
    look_at_fields("rank-indexed", capacity, s.keys, s.blocks, s.block_keys, s.group_keys, index_bits, index, fingerprints,
                   u32{s.width}, packed(fingerprints, s.width), spilled);
  };
  look_at_blocks({.blocks = 0, .spilled = 0});
  look_at_blocks({.block_keys = 0});
  for (const unsigned width : {3u, 33u}) look_at_blocks({.width = width});
  look_at_blocks({.more_fingerprints = 1});
  look_at_blocks({.spilled = 2});
  look_at_blocks({.group_keys = 2, .spilled = 3});
  look_at_blocks({.blocks = 2, .ones = {0, 1, 2}, .keys = 3});
  look_at_blocks({.ones = {65}, .keys = 1});
  look_at_blocks({.spilled_entry = u64{1} << 48 | u64{1} << 38, .keys = 1});
  look_at_blocks({.spilled_entry = u64{1} << 48, .keys = 1});
  look_at_blocks({.ones = {0, 64}, .spilled_entry = u64{1} << 48 | u64{1} << 38, .keys = 3});
}

TEST(shapes, of_cuckoo_filters_that_adapt) {
  const auto look_at_slots = [](const char* id, u32 k, u32 b, u32 fingerprint, u32 selector, u64 bins, u32 place = 0) {
    const u64 slots = bins * k * b;
    memory_sink sink;
    detail::writer out(sink);
    out(capacity, no_keys, u64{0}, u32{95}, u32{0}, k, b, fingerprint, selector, bins, u32{0}, slots, fingerprint + selector,
        packed(slots, fingerprint + selector), place, slots);
    out.bytes(byte_vector(slots * 17));
    out.finish().value();
    look_at(id, sink.bytes());
  };
  look_at_slots("acf-cuckooing", 9, 1, 8, 0, 2);
  look_at_slots("acf-cuckooing", 1, 4, 8, 0, 2);
  look_at_slots("acf-cuckooing", 2, 9, 8, 0, 2);
  look_at_slots("acf-cuckooing", 2, 4, 49, 0, 2);
  look_at_slots("acf-cuckooing", 2, 4, 3, 0, 2);
  look_at_slots("acf-cuckooing", 2, 4, 8, 0, 0);
  look_at_slots("acf-cuckooing", 2, 4, 8, 2, 2);
  look_at_slots("acf-cuckooing", 2, 4, 8, 0, 2, 2);
  look_at_slots("acf-cyclic", 2, 1, 8, 5, 2);
  look_at_slots("acf-cyclic", 2, 1, 8, 0, 2);
  look_at_slots("acf-swapping", 2, 1, 8, 0, 2);
}

// Tables of the quotient filters can have slots of any width.
class rsqf_parts : public rsqf {
 public:
  using table_type = decltype(table_);
};
class cqf_parts : public cqf {
 public:
  using table_type = decltype(table_);
};

TEST(shapes, of_remainders) {
  const auto three = [](unsigned width) { return detail::three_bit::make(64, 64, width).value(); };
  for (const unsigned width : {0u, 57u}) look_at_fields("quotient", capacity, three(width));
  look_at_fields("rsqf", capacity, rsqf_parts::table_type::make(64, 64, 57).value());
  for (const unsigned width : {1u, 57u}) {
    look_at_fields("cqf", capacity, no_keys, u64{0}, cqf_parts::table_type::make(64, 64, width).value());
  }
}

// A table with one run.
TEST(shapes, of_counters) {
  const auto look_at_run = [](unsigned width, const std::vector<u64>& slots, u64 keys, u64 fingerprints) {
    auto table = cqf_parts::table_type::make(64, 64, width).value();
    u64 end = 0;
    const detail::slot_range run = detail::append_with_room(table, 0, slots.size(), end).value();
    for (std::size_t i = 0; i < slots.size(); ++i) table.set_value(run.first + i, slots[i]);
    look_at_fields("cqf", capacity, keys, fingerprints, table);
  };
  look_at_run(8, {5, 1, 7, 5}, 8, 1);  // a digit that is zero in front: the counter of 5 0 7 5
  look_at_run(8, {5, 0, 2, 5}, 4, 1);  // a zero that is not needed
  std::vector<u64> slots;
  for (const u64 remainder : {7u, 9u}) detail::run_counters(56).append({remainder, u64{1} << 63}, slots);
  look_at_run(56, slots, 0, 2);
}

TEST(shapes, of_slots_with_symbols) {
  for (const unsigned width : {57u, 60u}) {
    look_at_fields("utaf", capacity, no_keys, u64{0}, detail::rank_select<utaf_scheme::layout>::make(64, 64, width).value());
  }
  // The column of symbols is the last array of the file.
  const byte_vector file = saved("utaf");
  const byte_vector payload = payload_of(file);
  for (std::size_t at = 0; at + 8 < payload.size(); ++at) {
    if (number_at<u64>(payload, at) != payload.size() - at - 8) continue;
    byte_vector changed(payload.begin(), payload.begin() + static_cast<std::ptrdiff_t>(at) + 9);
    put_number(changed, at, u64{1});
    collection::of_tree().look_at("utaf", ".tamis", reframed(file, changed));
  }
}

// What a filter is followed by: the number of mistakes, and these.
TEST(shapes, of_lists_of_mistakes) {
  const byte_vector list = saved("bloom1+mistakes");
  byte_vector payload = payload_of(list);
  const auto number = payload.size() - 8 - 16 * number_at<u64>(payload, payload_of(saved("bloom1")).size());
  for (const u64 entries : {u64{0}, u64{1} << 60, u64{1000}}) {
    byte_vector changed(payload.begin(), payload.begin() + static_cast<std::ptrdiff_t>(number) + 8);
    put_number(changed, number, entries);
    collection::of_tree().look_at("bloom1+mistakes", ".tamis", reframed(list, changed));
  }
}

// The parameters of a chain, where the filters have the sizes that these parameters give them.
TEST(shapes, of_chains) {
  for (const char* id : {"chain-linear", "chain-geometric"}) {
    const byte_vector file = saved(id);
    const byte_vector payload = payload_of(file);
    constexpr std::size_t threshold = 20;
    constexpr std::size_t links = 25;
    constexpr std::size_t link_capacity = links + 8;
    for (const u32 percent : {49u, 96u}) {
      byte_vector changed = payload;
      put_number(changed, threshold, percent);
      for (u64 room = 0; room < 200; ++room) {
        put_number(changed, link_capacity, room);
        collection::of_tree().look_at(id, ".tamis", reframed(file, changed));
      }
    }
    // Fingerprints of which no link says what is wrong, as they become longer from filter to filter, up to 56 bits.
    struct wrong_fingerprint {
      u32 bits;
      u64 times;  // as many quotients as the first filter of the chain
      unsigned width;
    };
    for (const wrong_fingerprint& wrong : {wrong_fingerprint{0, 2, 2}, {57, 1, 56}}) {
      constexpr u64 first = 64;
      const u64 quotients = first * wrong.times;
      memory_sink sink;
      detail::writer out(sink);
      out(first, u64{0}, wrong.bits, u32{95}, true, u64{1}, quotients / 100 * 95 + quotients % 100 * 95 / 100,
          detail::three_bit::make(quotients, 64, wrong.width).value());
      out.finish().value();
      collection::of_tree().look_at(id, ".tamis", reframed(file, sink.bytes()));
    }
    byte_vector twice = payload;
    put_number(twice, links, u64{2});
    twice.insert(twice.end(), payload.begin() + static_cast<std::ptrdiff_t>(link_capacity), payload.end());
    collection::of_tree().look_at(id, ".tamis", reframed(file, twice));
  }
}

}  // namespace
}  // namespace tamis::test
