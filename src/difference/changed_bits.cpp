#include "changed_bits.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace tamis::difference {
namespace {

constexpr std::uint64_t page_bytes = 4096;

std::uint64_t pages_of(std::uint64_t bytes) { return bytes / page_bytes + (bytes % page_bytes != 0 ? 1 : 0); }
std::uint64_t size_of(std::uint64_t page, std::uint64_t bytes) { return std::min(page_bytes, bytes - page * page_bytes); }

// Up to eight bytes from `at` on; zeros behind the end.
std::uint64_t word_at(std::span<const std::byte> bytes, std::uint64_t at) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + at, std::min<std::uint64_t>(8, bytes.size() - at));
  return word;
}

class page_flags {
 public:
  void put(bit_encoder& to, bool sent) {
    to.put(sent, models_[last_ ? 1 : 0]);
    last_ = sent;
  }
  bool get(bit_decoder& from) { return last_ = from.get(models_[last_ ? 1 : 0]); }

 private:
  std::array<bit_model, 2> models_;
  bool last_ = false;
};

// A gap tells something about the next: changed bits come in crowds.
class gap_models {
 public:
  void put(bit_encoder& to, std::uint64_t gap) {
    model().put(to, gap);
    last_ = gap;
  }
  std::uint64_t get(bit_decoder& from) { return last_ = model().get(from); }

 private:
  static constexpr unsigned kinds = 12;
  number_model& model() { return models_[std::min<unsigned>(static_cast<unsigned>(std::bit_width(last_)), kinds - 1)]; }

  std::array<number_model, kinds> models_;
  std::uint64_t last_ = 0;
};

// More than a quarter of the bits: coding them would hardly save anything.
bool is_new(std::span<const std::byte> base, std::span<const std::byte> made) {
  std::uint64_t bits = 0;
  for (std::uint64_t at = 0; at < base.size(); at += 8)
    bits += static_cast<unsigned>(std::popcount(word_at(base, at) ^ word_at(made, at)));
  return bits > base.size() * 2;
}

}  // namespace

void put_changed_bits(bit_encoder& to, std::span<const std::byte> base, std::span<const std::byte> made,
                      std::vector<std::byte>& raw, bool all_raw) {
  const std::uint64_t pages = pages_of(base.size());
  std::vector<bool> sent(pages);
  page_flags flags;
  for (std::uint64_t page = 0; page < pages; ++page) {
    const std::uint64_t begin = page * page_bytes;
    const std::uint64_t size = size_of(page, base.size());
    sent[page] = all_raw || is_new(base.subspan(begin, size), made.subspan(begin, size));
    flags.put(to, sent[page]);
    if (sent[page])
      raw.insert(raw.end(), made.begin() + static_cast<std::ptrdiff_t>(begin),
                 made.begin() + static_cast<std::ptrdiff_t>(begin + size));
  }
  gap_models gaps;
  std::uint64_t gap = 0;
  for (std::uint64_t page = 0; page < pages; ++page) {
    if (sent[page]) continue;
    const std::uint64_t begin = page * page_bytes;
    const std::uint64_t size = size_of(page, base.size());
    const auto before = base.subspan(begin, size);
    const auto after = made.subspan(begin, size);
    for (std::uint64_t at = 0; at < size; at += 8) {
      const std::uint64_t bits = std::min<std::uint64_t>(8, size - at) * 8;
      std::uint64_t passed = 0;
      for (std::uint64_t left = word_at(before, at) ^ word_at(after, at); left != 0; left &= left - 1) {
        const auto bit = static_cast<unsigned>(std::countr_zero(left));
        gaps.put(to, gap + bit - passed);
        gap = 0;
        passed = bit + 1;
      }
      gap += bits - passed;
    }
  }
  gaps.put(to, gap);
}

bool take_changed_bits(bit_decoder& from, std::span<std::byte> payload, std::span<const std::byte> raw) {
  const std::uint64_t pages = pages_of(payload.size());
  page_flags flags;
  // The pages that are not sent, as one run of bits.
  std::vector<std::uint64_t> coded;
  for (std::uint64_t page = 0; page < pages; ++page) {
    if (from.overrun()) return false;
    if (!flags.get(from)) {
      coded.push_back(page);
      continue;
    }
    const std::uint64_t size = size_of(page, payload.size());
    if (raw.size() < size) return false;
    std::copy_n(raw.begin(), size, payload.begin() + static_cast<std::ptrdiff_t>(page * page_bytes));
    raw = raw.subspan(size);
  }
  if (!raw.empty()) return false;
  gap_models gaps;
  std::uint64_t at = 0;  // bit
  const bool short_last = !coded.empty() && coded.back() + 1 == pages;
  const std::uint64_t missing = short_last ? page_bytes - size_of(pages - 1, payload.size()) : 0;
  const std::uint64_t bits = (coded.size() * page_bytes - missing) * 8;
  for (;;) {
    const std::uint64_t gap = gaps.get(from);
    if (gap > bits - at || from.overrun()) return false;
    at += gap;
    if (at == bits) return true;
    payload[coded[at / 8 / page_bytes] * page_bytes + at / 8 % page_bytes] ^= static_cast<std::byte>(1u << at % 8);
    ++at;
  }
}

}  // namespace tamis::difference
