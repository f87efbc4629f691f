// Payloads of the quotient tables and of the filters that grow, whose fields agree with each other in all but one thing:
// nobody comes upon them by chance.

#include "tamis/detail/growing/two_width_table.hpp"
#include "tamis/detail/math/growth.hpp"
#include "tamis/filters/evergreen.hpp"
#include "tamis/filters/evergreen_fixed.hpp"
#include "tamis/filters/infini.hpp"
#include "tamis/filters/rsqf.hpp"
#include "tests/checks/collection.hpp"
#include "tests/support/keys.hpp"

namespace tamis::test {
namespace {

using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using bytes = detail::zeroed_array<u8>;
using words = detail::zeroed_array<u64>;

constexpr u64 capacity = 1;

// A file of this kind with another payload.
template <class Write>
void look_at(const std::string& id, Write write) {
  static std::map<std::string, byte_vector> files;
  if (!files.contains(id)) files[id] = any_filter::create(id, {.capacity = 20, .fpr = 0.2}, test_hash()).value().save_bytes();
  memory_sink sink;
  detail::writer out(sink);
  write(out);
  out.finish().value();
  collection::of_tree().look_at(id, ".tamis", reframed(files[id], sink.bytes()));
}

TEST(quotient_shapes, of_planes) {
  const auto look_at_quotient = [](u64 flags, u64 values) {
    look_at("quotient", [&](detail::writer& out) {
      out(capacity, u64{64}, u64{0}, words::make(flags).value(), detail::slot_values::make(values, 8).value());
    });
  };
  constexpr u64 slots = 128;
  constexpr u64 flags = 9;  // three words of each block, and a spare one
  for (u64 other = 0; other < flags; ++other) look_at_quotient(other, slots);
  for (const u64 other : {flags + 1, flags + 2}) look_at_quotient(other, slots);
  for (const u64 other : {0u, 3u}) look_at_quotient(other, 0);
  for (const u64 other : {slots - 1, slots + 1, 2 * slots}) look_at_quotient(flags, other);

  const auto look_at_rsqf = [](u64 headers, u64 values, unsigned width) {
    look_at("rsqf", [&](detail::writer& out) {
      out(capacity, u64{64}, u64{0}, bytes::make(headers).value(), detail::slot_values::make(values, width).value());
    });
  };
  constexpr u64 headers = 2 * 17;
  for (const u64 other : {headers - 17, headers - 1, headers + 1, headers + 17}) look_at_rsqf(other, slots, 8);
  for (const u64 other : {slots - 1, slots + 1, slots + 64}) look_at_rsqf(headers, other, 8);
  for (const u32 width : {0u, 65u}) {
    look_at("rsqf", [&](detail::writer& out) {
      out(capacity, u64{64}, u64{0}, bytes::make(headers).value());
      // The planes of such slots: nothing for the low bytes, and all bits beside them.
      const u64 left = slots * (width == 0 ? 0 : width - 8);
      out(slots, width, detail::byte_column::make(width == 0 ? 0 : slots).value(), slots, width == 0 ? 0 : width - 8,
          words::make(left == 0 ? 0 : left / 64 + 1).value());
    });
  }
}

using older = std::pair<u32, detail::variable_length_table>;

struct infini_shape {
  u64 first = 1;
  u32 fingerprint = 5;
  infini::kind kind = infini::kind::chained;
  u32 level = 0;
  u64 cells = 0;  // 0: as many as there have to be
  unsigned longest = 0;
  bool has_void = false;
  std::vector<older> older_tables = {};
};

detail::variable_length_table table_of(u64 cells, unsigned longest, bool has_void, bool has_key = false) {
  auto made = detail::variable_length_table::make(cells, 64, longest).value();
  if (has_void) made.insert_void(0);
  if (has_key) made.insert(0, ~u64{0});
  return made;
}

void look_at_infini(const infini_shape& s) {
  look_at("infini", [&](detail::writer& out) {
    const unsigned longest = s.longest != 0 ? s.longest : s.fingerprint;
    out(s.first, s.fingerprint, u32{80}, s.kind, s.level);
    out(table_of(s.cells != 0 ? s.cells : s.first << s.level, longest, s.has_void), u64{s.older_tables.size()});
    for (const older& t : s.older_tables) out(t.first, t.second);
  });
}

TEST(infini_shapes, of_settings) {
  for (u32 level = 0; level < 10; ++level) {
    const unsigned longest = detail::growing_length(0, level);
    if (longest != 0)
      look_at_infini(
          {.fingerprint = 0, .kind = infini::kind::growing, .level = level, .cells = u64{1} << level, .longest = longest});
  }
  look_at_infini({.fingerprint = 57, .kind = infini::kind::growing, .longest = 56});
  look_at_infini({.fingerprint = 57});
  for (const u32 level : {63u, 64u, 65u, 66u}) look_at_infini({.level = level, .cells = u64{1} << level % 64 % 8});
  look_at_infini({.first = (u64{1} << 62) + 1, .level = 2, .cells = 4});
  look_at_infini({.first = 0, .level = 2, .cells = 4});
  look_at_infini({.first = 8, .has_void = true});
}

TEST(infini_shapes, of_older_tables) {
  const auto look_at_older = [](u32 level, detail::variable_length_table table) {
    look_at_infini({.level = 3, .older_tables = {{level, std::move(table)}}});
  };
  look_at_older(1, table_of(4, 5, true));
  look_at_older(1, table_of(2, 5, false));
  look_at_older(1, table_of(2, 5, false, true));
  look_at_older(3, table_of(8, 5, true));
  look_at_older(1, table_of(2, 0, true));
  look_at_older(1, table_of(2, 57, true));
}

TEST(evergreen_fixed_shapes, of_two_widths) {
  constexpr u64 part = 64;
  const auto look_at_parts = [](u64 first_wide, const detail::paired_table& wide, const detail::paired_table& narrow) {
    look_at("evergreen-fixed", [&](detail::writer& out) { out(capacity, u8{0}, u64{1} << 20, first_wide, wide, narrow); });
  };
  const auto of = [](u64 quotients, unsigned slots, unsigned width) {
    return detail::paired_table::make(quotients, 64, detail::spacing(slots), width).value();
  };
  look_at_parts(32, of(part, 64, 8), of(32, 64, 7));
  look_at_parts(64, of(part, 64, 8), of(128, 64, 7));
  look_at_parts(64, of(part, 64, 8), of(part, 64, 8));
  look_at_parts(64, of(part, 64, 8), of(part, 60, 7));
}

TEST(evergreen_fixed_shapes, of_blocks) {
  const auto look_at_blocks = [](u64 quotients, u32 slots, u32 width, u64 blocks, u64 all) {
    look_at("evergreen-fixed", [&](detail::writer& out) {
      out(capacity, u8{0}, u64{1} << 20, u64{0}, quotients, u64{0}, slots, width, blocks, bytes::make(all).value());
    });
  };
  for (u64 all = 64; all < 700; ++all) {
    for (const u32 slots : {30u, 31u, 33u, 62u, 66u}) look_at_blocks(64, slots, 8, 1, all);
    for (const u32 width : {0u, 3u, 57u}) look_at_blocks(64, 64, width, 1, all);
  }
}

struct tree_shape {
  u64 roots = 1;
  bool is_flat = false;
  u32 depth = 0;
  std::vector<detail::segment_shape> segments = {{}};
  u32 segment_bits = 6;
  u32 width = 8;
  u32 small_width = 8;
  u32 first_quotient_bits = 6;
};

void look_at_evergreen(const tree_shape& s) {
  look_at("evergreen", [&](detail::writer& out) {
    out(u64{0}, s.segment_bits, s.width, s.small_width, s.first_quotient_bits, u32{10}, u8{0});
    out(s.roots, s.is_flat, s.depth, u64{s.segments.size()});
    for (const detail::segment_shape& one : s.segments) out(detail::segment::make(one, 0).value());
  });
}

TEST(evergreen_shapes, of_settings) {
  look_at_evergreen({.segments = {{.quotient_bits = 6}}, .segment_bits = 17});
  look_at_evergreen({.segments = {{.quotient_bits = 5}}, .segment_bits = 5, .first_quotient_bits = 6});
  look_at_evergreen({.segments = {{.quotient_bits = 5}}, .first_quotient_bits = 5});
  look_at_evergreen({.segments = {{.quotient_bits = 6}}, .segment_bits = 8, .first_quotient_bits = 7});
  look_at_evergreen({.segments = {{.quotient_bits = 7}}});
  look_at_evergreen({.segments = {{.width = 25}}, .width = 25, .small_width = 25});
}

TEST(evergreen_shapes, of_aged_segments) {
  for (const u32 width : {4u, 6u, 7u, 8u, 32u, 33u, 40u}) {
    look_at_evergreen({.segments = {{.width = width, .format = detail::slot_format::aged}}});
  }
}

TEST(evergreen_shapes, of_directories) {
  const auto at = [](u32 depth) { return detail::segment_shape{.depth = depth}; };
  look_at_evergreen({.roots = 96, .is_flat = true, .segments = std::vector<detail::segment_shape>(96)});
  look_at_evergreen({.roots = 97, .is_flat = true, .segments = std::vector<detail::segment_shape>(97)});
  look_at_evergreen({.roots = 2, .depth = 1, .segments = {at(1), at(0), at(1)}});
  look_at_evergreen({.roots = 2, .depth = 1, .segments = {at(0), at(0), at(0)}});
  look_at_evergreen({.segments = {at(1)}});
  look_at_evergreen({.segments = {}});
  look_at_evergreen({.roots = 0, .segments = {}});
}

}  // namespace
}  // namespace tamis::test
