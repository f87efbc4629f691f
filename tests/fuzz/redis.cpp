// A value of the module for Redis as a forger would send it by RESTORE: any fields and any filter, with right checksums of both
// frames. It is refused with a reason, within its limit of memory, or it is a value: every command's work ends, and it can be
// saved again.

#include <algorithm>

#include "integrations/redis/value.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/checked_filter.hpp"

namespace tamis::fuzz {
namespace {

using redis::value;
using test::byte_vector;
using test::frame_layout;
using test::must_hold;

constexpr std::size_t most_bytes = std::size_t{1} << 15;
constexpr std::uint64_t limit = 4 << 20;

byte_vector saved(const value& v) {
  memory_sink sink;
  v.save(sink).value();
  return std::move(sink).take();
}

const byte_vector& true_one() {
  static const byte_vector bytes = saved(*value::create({.capacity = 1}, limit).value());
  return bytes;
}

result<std::unique_ptr<value>> loaded(input bytes) {
  memory_source source(bytes);
  return value::load(source, limit, 0);
}

void use(value& v) {
  const value::change how{.now = 1, .limit = limit, .remembered_adds = 8};
  for (const digest d : test::keys(8)) {
    if (v.add(d, how) != value::add_result::full) must_hold(v.may_contain(d));
  }
  for (const digest d : test::strangers(16, 5000)) {
    (void)v.count(d);
    (void)v.report(d, 1, 0, {.now = 2, .must = true});
    if (v.can_adapt_in_table() && redis::adapts_with_digests(v.asked().filter)) (void)v.ranges_to_adapt(d);
  }
  if (v.can_erase()) {
    for (const digest d : test::keys(4)) (void)v.erase(d, how);
  }
  (void)v.merge(*v.clone(), how);
  must_hold(v.filter().expected_fpr() >= 0.0 && v.filter().expected_fpr() <= 1.0);
}

}  // namespace

// The filter inside begins as the frame around it does.
std::vector<std::byte> repaired_value(input file) {
  const frame_layout at(true_one());
  if (file.size() <= at.payload || file.size() > most_bytes) return {};
  byte_vector payload(file.begin() + static_cast<std::ptrdiff_t>(at.payload), file.end());
  const auto magic = std::span(true_one()).first(8);
  const auto inside = std::search(payload.begin(), payload.end(), magic.begin(), magic.end());
  if (inside != payload.end()) {
    const byte_vector filter = repaired_file(std::span(inside, payload.end()));
    if (!filter.empty()) std::copy(filter.begin(), filter.end(), inside);
  }
  return test::reframed(true_one(), payload);
}

void redis_value(input file) {
  (void)loaded(file);  // as it is: mostly refused
  const byte_vector mended = repaired_value(file);
  if (mended.empty()) return;
  auto made = loaded(mended);
  if (!made) {
    must_hold(!made.message().empty());
    return;
  }
  must_hold((*made)->bytes() <= limit + (64 << 10));
  must_hold(loaded(saved(**made)).ok());
  try {
    use(**made);
  } catch (const std::bad_alloc&) {  // the limit; what was there is there still
  }
  must_hold(loaded(saved(**made)).ok());
}

}  // namespace tamis::fuzz
