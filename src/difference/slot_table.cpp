#include "slot_table.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <optional>

#include "tamis/detail/base/checked.hpp"
#include "tamis/detail/base/numbered_check.hpp"

namespace tamis::difference {

using namespace detail;

namespace {

constexpr unsigned widest = 64;

bool lies(const slot_plane& plane, std::uint64_t group_bytes, std::uint64_t groups, std::uint64_t bytes) {
  const auto behind = checked_multiply(groups - 1, plane.stride);
  return plane.stride >= group_bytes && behind && *behind <= bytes && group_bytes <= bytes - *behind &&
         plane.begin <= bytes - *behind - group_bytes;
}

std::uint64_t mask_of(unsigned width) { return width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1; }

// A group of 64 · width bits, as words of which each lies inside it.
struct window {
  std::uint64_t byte;
  unsigned shift;
};
window window_of(unsigned width, unsigned slot) {
  const std::uint64_t bit = std::uint64_t{slot} * width;
  const std::uint64_t byte = std::min<std::uint64_t>(bit / 8, 8 * width - 8);
  return {byte, static_cast<unsigned>(bit - 8 * byte)};
}

std::uint64_t load_bits(const std::byte* group, unsigned width, unsigned slot) {
  const window at = window_of(width, slot);
  std::uint64_t word;
  std::memcpy(&word, group + at.byte, sizeof word);
  word >>= at.shift;
  if (at.shift + width > 64) word |= std::to_integer<std::uint64_t>(group[at.byte + 8]) << (64 - at.shift);
  return word & mask_of(width);
}

void store_bits(std::byte* group, unsigned width, unsigned slot, std::uint64_t value) {
  const window at = window_of(width, slot);
  std::uint64_t word;
  std::memcpy(&word, group + at.byte, sizeof word);
  word = (word & ~(mask_of(width) << at.shift)) | value << at.shift;
  std::memcpy(group + at.byte, &word, sizeof word);
  if (at.shift + width > 64) {
    const unsigned above = at.shift + width - 64;
    const auto old = std::to_integer<std::uint64_t>(group[at.byte + 8]);
    group[at.byte + 8] = static_cast<std::byte>((old & ~mask_of(above)) | value >> (64 - at.shift));
  }
}

// Reads the fields of a payload far enough to find its tables. What it cannot read is no table.
class field_walk {
 public:
  explicit field_walk(std::span<const std::byte> payload) : payload_(payload) {}

  bool ok() const { return ok_; }
  void skip(std::uint64_t bytes) {
    ok_ = ok_ && bytes <= payload_.size() - at_;
    if (ok_) at_ += bytes;
  }
  template <class T>
  T number() {
    T value = 0;
    const std::uint64_t from = at_;
    skip(sizeof value);
    if (ok_) std::memcpy(&value, payload_.data() + from, sizeof value);
    return value;
  }
  struct array {
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;
  };
  array table(std::uint64_t element_bytes) {
    const auto bytes = checked_multiply(number<std::uint64_t>(), element_bytes);
    if (!bytes) ok_ = false;
    if (!ok_) return {};
    const bool aligned = *bytes >= aligned_table_bytes;
    if (aligned) skip(bytes_to_line(at_));
    const array found{at_, *bytes};
    skip(*bytes);
    if (aligned && ok_ && at_ != payload_.size()) skip(bytes_to_line(at_));
    return ok_ ? found : array{};
  }

 private:
  std::span<const std::byte> payload_;
  std::uint64_t at_ = 0;
  bool ok_ = true;
};

enum class table_form : std::uint8_t { headers_17, headers_24, three_words };

struct kind_form {
  std::string_view kind;
  std::uint64_t fields_before;  // bytes
  table_form form;
};
constexpr kind_form known_kinds[] = {
    {"rsqf", 8, table_form::headers_17},  {"cqf", 24, table_form::headers_17},      {"utaf", 24, table_form::headers_17},
    {"exaf", 24, table_form::headers_24}, {"quotient", 8, table_form::three_words},
};

// The fields of slot_values (detail/quotient/slot_values.hpp).
void add_values(field_walk& walk, slot_table& table) {
  const auto slots = walk.number<std::uint64_t>();
  const auto width = walk.number<std::uint32_t>();
  const auto low = walk.table(1);
  walk.skip(8);
  const auto rest_width = walk.number<std::uint32_t>();
  const auto rest = walk.table(8);
  if (!walk.ok() || width == 0 || width > widest || slots < group_slots) return;
  table.slots = slots / group_slots * group_slots;
  if (low.bytes != 0) table.planes.push_back({low.begin, group_slots, 8});
  if (rest.bytes != 0) table.planes.push_back({rest.begin, std::uint64_t{8} * rest_width, rest_width});
}

std::optional<slot_table> table_of(const kind_form& form, std::span<const std::byte> payload) {
  field_walk walk(payload);
  walk.skip(form.fields_before + 16);  // and the quotients and the slots in use
  slot_table table;
  if (form.form == table_form::three_words) {
    const auto flags = walk.table(8);
    add_values(walk, table);
    for (std::uint64_t column = 1; column < 3; ++column) table.planes.push_back({flags.begin + 8 * column, 24, 1});
  } else {
    const std::uint64_t stride = form.form == table_form::headers_17 ? 17 : 24;
    const auto headers = walk.table(1);
    add_values(walk, table);
    table.planes.push_back({headers.begin + 8, stride, 1});
    table.offsets.push_back({headers.begin + 16, stride, 8});
  }
  if (!walk.ok() || !table.lies_in(payload.size())) return std::nullopt;
  return table;
}

}  // namespace

unsigned slot_table::width() const {
  unsigned sum = 0;
  for (const slot_plane& plane : planes) sum += plane.width;
  return sum;
}

bool slot_table::lies_in(std::uint64_t bytes) const {
  if (is_wrong(slots == 0) || is_wrong(slots % group_slots != 0) || is_wrong(planes.empty()) ||
      is_wrong(planes.size() > widest) || is_wrong(offsets.size() > 1))
    return false;
  const std::uint64_t groups = slots / group_slots;
  std::uint64_t all = 0;
  for (const slot_plane& plane : planes) {
    if (is_wrong(plane.width == 0) || is_wrong(plane.width > widest) ||
        is_wrong(!lies(plane, std::uint64_t{8} * plane.width, groups, bytes)))
      return false;
    all += plane.width;
  }
  for (const slot_plane& plane : offsets) {
    if (is_wrong(plane.width != 8) || is_wrong(!lies(plane, 1, groups, bytes))) return false;
  }
  return !is_wrong(all > widest);
}

std::vector<slot_table> find_slot_tables(std::string_view kind, std::span<const std::byte> payload) {
  const std::string_view plain = kind.substr(0, kind.find('+'));
  for (const kind_form& form : known_kinds) {
    if (form.kind != plain) continue;
    if (auto table = table_of(form, payload)) return {*std::move(table)};
  }
  return {};
}

std::uint64_t read_slot(const slot_table& table, std::span<const std::byte> payload, std::uint64_t i) {
  std::uint64_t value = 0;
  unsigned shift = 0;
  for (const slot_plane& plane : table.planes) {
    const std::byte* const group = payload.data() + plane.begin + i / group_slots * plane.stride;
    value |= load_bits(group, plane.width, i % group_slots) << shift;
    shift += plane.width;
  }
  return value;
}

void write_slot(const slot_table& table, std::span<std::byte> payload, std::uint64_t i, std::uint64_t value) {
  for (const slot_plane& plane : table.planes) {
    std::byte* const group = payload.data() + plane.begin + i / group_slots * plane.stride;
    store_bits(group, plane.width, i % group_slots, value & mask_of(plane.width));
    value = plane.width == 64 ? 0 : value >> plane.width;
  }
}

bool same_group(const slot_table& table, std::span<const std::byte> a, std::span<const std::byte> b, std::uint64_t group) {
  return std::all_of(table.planes.begin(), table.planes.end(), [&](const slot_plane& plane) {
    const std::uint64_t at = plane.begin + group * plane.stride;
    return std::memcmp(a.data() + at, b.data() + at, std::size_t{8} * plane.width) == 0;
  });
}

void slot_editor::write(std::uint64_t value) {
  assert(left() != 0);
  write_slot(table_, made_, at_, value);
  if (at_ % group_slots == 0 && !table_.offsets.empty() && at_ != from_) {
    const std::uint64_t at = table_.offsets[0].begin + at_ / group_slots * table_.offsets[0].stride;
    const auto shift = static_cast<std::int64_t>(at_ - from_);
    const auto before = std::to_integer<std::int64_t>(old_[at]);
    if (before != 255) made_[at] = static_cast<std::byte>(std::clamp<std::int64_t>(before + shift, 0, 255));
  }
  ++at_;
}

void slot_editor::copy(std::uint64_t slots) {
  assert(slots <= left());
  if (at_ == from_) {
    at_ += slots;
    from_ += slots;
    return;
  }
  for (; slots != 0; --slots) {
    write(from_ < table_.slots ? read_slot(table_, old_, from_) : 0);
    ++from_;
  }
}

void slot_editor::insert(std::uint64_t value) { write(value); }

}  // namespace tamis::difference
