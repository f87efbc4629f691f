#pragma once

// Saved filters with a past, and a forger who changes their payload and repairs the checksums.

#include <algorithm>
#include <cstring>

#include "tamis/detail/base/random.hpp"
#include "tests/conformance/cases.hpp"
#include "tests/support/remote.hpp"

namespace tamis::test {

// A filter with a past, so that its file has something of everything, and the keys that are in.
struct victim {
  explicit victim(any_filter made) : empty(made), filter(std::move(made)) {}

  any_filter empty;  // as it was made
  any_filter filter;
  multiset_remote truth;

  void insert(std::span<const digest> digests) {
    for (const digest d : insert_all(filter, digests)) truth.insert(d);
  }
  void adapt(std::span<const digest> asked) {
    if (!filter.can().adapt) return;
    for (const digest d : asked) {
      if (filter.may_contain(d) && !truth.contains(d)) filter.adapt(d, remote_ref(truth));
    }
  }
};

// Changes the payload of a saved filter, in one or several ways. `donor`: a file of the same kind, which pieces come from.
class forger {
 public:
  forger(std::uint64_t seed, const byte_vector& donor) : draw_(seed), donor_(payload_of(donor)) {}

  byte_vector operator()(byte_vector bytes) {
    const frame_layout at(bytes);
    const std::span<std::byte> payload = std::span(bytes).subspan(at.payload, at.payload_end - at.payload);
    do change(payload);
    while (draw_.below(3) == 0);
    return resealed(std::move(bytes));
  }

 private:
  void change(std::span<std::byte> all) {
    switch (draw_.below(7)) {
      case 5: return transplant(all);
      case 0: return flip(all);
      case 1: return put_number(all);
      case 2: return add_a_little(all);
      case 3: return copy(all);
      case 4: return swap(all);
      default: return scribble(all);
    }
  }
  static void flip_bit(std::span<std::byte> all, std::uint64_t bit) { all[bit / 8] ^= std::byte{1} << (bit % 8); }
  void flip(std::span<std::byte> all) {
    for (std::uint64_t left = 1 + draw_.below(3); left != 0; --left) flip_bit(all, draw_.below(all.size() * 8));
  }
  // A whole number that is unlikely to be foreseen.
  void put_number(std::span<std::byte> all) {
    const std::uint64_t numbers[] = {0,        1,        2,   63,      64,       65,           255,
                                     1u << 20, 1u << 31, ~0u, top_bit, all_ones, all_ones - 1, draw_()};
    const std::uint64_t number = numbers[draw_.below(std::size(numbers))];
    const std::span<std::byte> here = piece(all, 8);
    std::memcpy(here.data(), &number, here.size());
  }
  void add_a_little(std::span<std::byte> all) {
    std::uint64_t number = 0;
    const std::span<std::byte> here = piece(all, 8);
    std::memcpy(&number, here.data(), here.size());
    number += draw_.below(5) - 2;
    std::memcpy(here.data(), &number, here.size());
  }
  // What stands in one place also in another: often that of the same field of another block.
  void copy(std::span<std::byte> all) {
    const std::span<std::byte> from = field(all);
    const std::span<std::byte> to = partner(all, from);
    std::memmove(to.data(), from.data(), from.size());
  }
  void swap(std::span<std::byte> all) {
    const std::span<std::byte> a = field(all);
    const std::span<std::byte> b = partner(all, a);
    const byte_vector kept(a.begin(), a.end());
    std::memmove(a.data(), b.data(), a.size());
    std::memmove(b.data(), kept.data(), kept.size());
  }
  void transplant(std::span<std::byte> all) {
    const std::span<std::byte> to = draw_.below(2) == 0 ? field(all) : piece(all, all.size());
    const auto at = static_cast<std::uint64_t>(to.data() - all.data());
    if (at >= donor_.size()) return;
    std::memcpy(to.data(), donor_.data() + at, std::min<std::uint64_t>(to.size(), donor_.size() - at));
  }
  void scribble(std::span<std::byte> all) {
    for (std::byte& b : piece(all, 16)) b = static_cast<std::byte>(draw_());
  }

  // Up to so many bytes.
  std::span<std::byte> piece(std::span<std::byte> all, std::uint64_t most) { return some(all, 1 + draw_.below(most)); }
  std::span<std::byte> field(std::span<std::byte> all) {
    constexpr std::uint64_t sizes[] = {1, 4, 7, 8, 16, 17, 24};  // of symbols, numbers, codes, words, digests and headers
    return some(all, sizes[draw_.below(std::size(sizes))]);
  }
  std::span<std::byte> some(std::span<std::byte> all, std::uint64_t size) {
    size = std::min<std::uint64_t>(size, all.size());
    return all.subspan(draw_.below(all.size() - size + 1), size);
  }
  std::span<std::byte> partner(std::span<std::byte> all, std::span<std::byte> of) {
    constexpr std::uint64_t strides[] = {1, 8, 16, 17, 24};  // of slots, words, digests and headers
    const std::uint64_t stride = strides[draw_.below(std::size(strides))] * (1 + draw_.below(8));
    const auto at = static_cast<std::uint64_t>(of.data() - all.data());
    const std::uint64_t last = all.size() - of.size();
    const std::uint64_t to = draw_.below(2) == 0 ? at - std::min(at, stride) : std::min(last, at + stride);
    return all.subspan(to, of.size());
  }

  detail::random_source draw_;
  byte_vector donor_;
};

// Victims of the tested case.
class forgeable : public conformance {
 protected:
  // Small, and as full as it gets.
  victim crowded() const {
    victim v(make(20, 0.5));
    v.insert(keys(100));
    v.adapt(strangers(200));
    return v;
  }
  // Some blocks, keys that came and went, and what adapting or growing leaves behind.
  victim lived() const {
    victim v(make(200, 0.2));
    v.insert(keys(160));
    v.adapt(strangers(1000));
    if (can().expand) static_cast<void>(v.filter.expand());
    for (const digest d : keys(40)) {
      if (can().erase && v.filter.erase(d, remote_ref(v.truth)) == erase_result::erased) v.truth.erase_one(d);
    }
    v.insert(keys(40, 160));
    v.adapt(strangers(1000, 1000));
    return v;
  }
  // Much room, and few keys.
  victim sparse() const {
    victim v(make(300, 0.5));
    v.insert(keys(60));
    v.adapt(strangers(3000));
    return v;
  }
  // One key many times, at the last place, and its neighbours.
  victim piled_up() const {
    victim v(make(300, 0.1));
    v.insert(keys(100));
    v.insert(std::vector<digest>(330, digest{all_ones, 7}));
    v.insert(std::vector<digest>(20, digest{all_ones - 1, 7}));
    v.adapt(std::vector<digest>{{all_ones, 8}});
    return v;
  }
};

}  // namespace tamis::test
