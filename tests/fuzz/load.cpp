// A saved filter that a forger wrote: any payload, with right checksums. It is refused with a reason, or it is a filter: every
// operation ends and keeps its contract for whatever comes after.

#include <algorithm>

#include "tamis/any_filter.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/checked_filter.hpp"

namespace tamis::fuzz {
namespace {

using test::frame_layout;
using test::must_hold;
using test::put_number;

constexpr std::size_t most_bytes = std::size_t{1} << 15;  // less than a block: there is one checksum, or none
constexpr std::uint64_t most_bits = std::uint64_t{1} << 22;

// The first bytes of a file of ours: magic, version and hash.
const std::vector<std::byte>& our_header() {
  static const std::vector<std::byte> bytes =
      any_filter::create("bloom", {.capacity = 1, .fpr = 0.5}, test::test_hash()).value().save_bytes();
  return bytes;
}

void look(const any_filter& f) {
  const double rate = f.expected_fpr();
  must_hold(rate >= 0.0 && rate <= 1.0);
  must_hold(f.bits().fast > 0);
  const auto again = load_bytes(f.save_bytes());
  must_hold(again.ok());
  must_hold(again->keys() == f.keys());
}

void insert_some(any_filter& f, test::multiset_remote& truth) {
  for (const digest d : test::insert_all(f, test::strangers(6, 6000))) {
    truth.insert(d);
    must_hold(f.may_contain(d));
  }
  for (const digest d : test::strangers(4, 7000)) {
    truth.insert(d);
    if (f.insert(d, remote_ref(truth)) == insert_result::inserted) must_hold(f.may_contain(d));
  }
}

void change(any_filter& f, const test::multiset_remote& truth) {
  if (f.can().adapt) {
    for (const digest d : test::strangers(16, 5000)) {
      if (f.may_contain(d) && f.adapt(d, remote_ref(truth)) == adapt_result::fixed) must_hold(!f.may_contain(d));
    }
  }
  if (f.can().rejuvenate) must_hold(f.rejuvenate_many(test::strangers(6, 6000)).ok());
  if (f.can().erase) {
    must_hold(f.erase_many(test::keys(8)).ok());
    for (const digest d : test::keys(4, 8)) f.erase(d, remote_ref(truth));
  }
  if (f.can().merge) static_cast<void>(f.merge(any_filter(f)));
  if (f.can().expand && f.bits().fast < most_bits) static_cast<void>(f.expand());
}

}  // namespace

std::vector<std::byte> repaired_file(input file) {
  std::vector<std::byte> bytes(file.begin(), file.end());
  if (bytes.size() < frame_layout::kind + 1 || bytes.size() > most_bytes) return {};
  const auto own = our_header();
  std::copy_n(own.begin(), frame_layout::kind_version, bytes.begin());
  std::copy_n(own.begin() + frame_layout::seed, frame_layout::kind_length - frame_layout::seed,
              bytes.begin() + frame_layout::seed);
  put_number(bytes, frame_layout::payload_length, std::uint64_t{1});  // one block, for now: where does the payload begin?
  const frame_layout at(bytes);
  if (at.payload + 1 > bytes.size()) return {};
  put_number(bytes, frame_layout::payload_length, std::uint64_t{bytes.size() - at.payload});
  return test::resealed(std::move(bytes));
}

std::vector<std::byte> repaired_snapshot(input file, input true_one) {
  const std::vector<std::byte> frame(true_one.begin(), true_one.end());
  const frame_layout at(frame);
  if (file.size() <= at.payload || file.size() > most_bytes) return {file.begin(), file.end()};
  return test::reframed(frame, {file.begin() + static_cast<std::ptrdiff_t>(at.payload), file.end()});
}

void load(input file) {
  static_cast<void>(load_bytes(file));  // as it is: mostly refused
  const std::vector<std::byte> mended = repaired_file(file);
  if (mended.empty()) return;
  auto loaded = load_bytes(mended);
  if (!loaded) {
    must_hold(!loaded.message().empty());
    return;
  }
  any_filter f = *std::move(loaded);
  if (f.bits().fast > most_bits) return;
  test::multiset_remote truth;
  look(f);
  insert_some(f, truth);
  change(f, truth);
  look(f);
  insert_some(f, truth);
}

}  // namespace tamis::fuzz
