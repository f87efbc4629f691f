#include "pieces.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <optional>

#include "tamis/detail/base/numbered_check.hpp"

namespace tamis::difference {
namespace {

constexpr std::uint64_t judged_bytes = 4096;  // judged at once
constexpr std::uint64_t window_bytes = 64;    // that have to be equal where something is looked for
constexpr std::uint64_t hash_factor = 0x9e3779b97f4a7c15;

std::uint64_t load_word(const std::byte* from) {
  std::uint64_t word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

// How many bits differ between the new bytes and what would be made of a piece that begins at `from`.
std::uint64_t differing_bits(std::span<const std::byte> old, std::uint64_t from, std::span<const std::byte> wanted) {
  const std::size_t there = from >= old.size() ? 0 : std::min<std::size_t>(wanted.size(), old.size() - from);
  std::uint64_t bits = 0;
  std::size_t i = 0;
  for (; i + 8 <= there; i += 8) {
    bits += static_cast<unsigned>(std::popcount(load_word(old.data() + from + i) ^ load_word(wanted.data() + i)));
  }
  for (; i < wanted.size(); ++i) {
    const auto before = i < there ? std::to_integer<unsigned>(old[from + i]) : 0u;
    bits += static_cast<unsigned>(std::popcount(before ^ std::to_integer<unsigned>(wanted[i])));
  }
  return bits;
}

// Sums of 64 bytes that follow each other: a polynomial, so that the next one costs two multiplications.
class rolling_sum {
 public:
  explicit rolling_sum(const std::byte* window) {
    for (std::uint64_t i = 0; i < window_bytes; ++i)
      value_ = value_ * hash_factor + 1 + std::to_integer<std::uint64_t>(window[i]);
  }
  void move(std::byte gone, std::byte come) {
    value_ -= (1 + std::to_integer<std::uint64_t>(gone)) * highest();
    value_ = value_ * hash_factor + 1 + std::to_integer<std::uint64_t>(come);
  }
  std::uint64_t value() const { return value_ ^ value_ >> 29; }

 private:
  static std::uint64_t highest() {
    static const std::uint64_t power = [] {
      std::uint64_t made = 1;
      for (std::uint64_t i = 1; i < window_bytes; ++i) made *= hash_factor;
      return made;
    }();
    return power;
  }
  std::uint64_t value_ = 0;
};

// The lines of the old payload by their content. Lines of one repeated byte are everywhere and say nothing.
class line_index {
 public:
  explicit line_index(std::span<const std::byte> old) : old_(old), places_(std::bit_ceil(2 * (old.size() / window_bytes) + 1)) {
    for (std::uint64_t line = 0; line < old.size() / window_bytes && line < ~std::uint32_t{0}; ++line) {
      const std::byte* const at = old.data() + line * window_bytes;
      if (is_telling(at)) place(rolling_sum(at).value()) = static_cast<std::uint32_t>(line + 1);
    }
  }

  std::optional<std::uint64_t> find(std::uint64_t sum, const std::byte* window) {
    const std::uint64_t line = place(sum);
    if (line == 0 || std::memcmp(old_.data() + (line - 1) * window_bytes, window, window_bytes) != 0) return std::nullopt;
    return (line - 1) * window_bytes;
  }

 private:
  static bool is_telling(const std::byte* line) { return std::memcmp(line, line + 1, window_bytes - 1) != 0; }
  std::uint32_t& place(std::uint64_t sum) { return places_[sum & (places_.size() - 1)]; }

  std::span<const std::byte> old_;
  std::vector<std::uint32_t> places_;  // line + 1
};

class piece_search {
 public:
  piece_search(std::span<const std::byte> old, std::span<const std::byte> made) : old_(old), made_(made) {}

  std::vector<piece> run() && {
    std::uint64_t from = 0;  // where the piece that is open goes on in the old payload
    for (std::uint64_t at = 0; at < made_.size();) {
      const auto page = made_.subspan(at, std::min(judged_bytes, made_.size() - at));
      if (is_bad(differing_bits(old_, from, page), page)) {
        if (const auto moved = look(at, page.size(), from)) {
          add(moved->at - at, from);
          from = moved->from;
          at = moved->at;
          continue;
        }
        // New content: zeros may be nearer to it than what stood here.
        if (differing_bits(old_, zeros, page) < differing_bits(old_, from, page)) {
          add(page.size(), zeros);
          at += page.size();
          from = from == zeros ? zeros : from + page.size();
          continue;
        }
      }
      add(page.size(), from);
      at += page.size();
      from += from == zeros ? 0 : page.size();
    }
    return std::move(pieces_);
  }

 private:
  struct match {
    std::uint64_t at;    // in the new payload
    std::uint64_t from;  // in the old one
  };

  static bool is_bad(std::uint64_t bits, std::span<const std::byte> page) { return bits > page.size() * 8 / 5; }

  // The first place in the page from which on another part of the old payload serves better.
  std::optional<match> look(std::uint64_t at, std::uint64_t bytes, std::uint64_t from) {
    if (made_.size() - at < window_bytes || old_.size() < window_bytes) return std::nullopt;
    if (!index_) index_.emplace(old_);
    const std::uint64_t last = std::min(at + bytes, made_.size() - window_bytes + 1);
    rolling_sum sum(made_.data() + at);
    for (std::uint64_t i = at; i < last; ++i) {
      if (const auto found = index_->find(sum.value(), made_.data() + i)) {
        if (const auto better = judge(at, i, *found, from)) return better;
      }
      if (i + window_bytes < made_.size()) sum.move(made_[i], made_[i + window_bytes]);
    }
    return std::nullopt;
  }
  std::optional<match> judge(std::uint64_t least, std::uint64_t at, std::uint64_t found, std::uint64_t from) const {
    for (; at > least && found > 0 && made_[at - 1] == old_[found - 1]; --at) --found;
    const auto ahead = made_.subspan(at, std::min(judged_bytes, made_.size() - at));
    const std::uint64_t stays = from == zeros ? zeros : from + (at - least);
    if (found == stays) return std::nullopt;
    if (2 * differing_bits(old_, found, ahead) >= differing_bits(old_, stays, ahead)) return std::nullopt;
    return match{at, found};
  }

  // What lies behind the end of the old payload is zeros.
  void add(std::uint64_t bytes, std::uint64_t from) {
    const std::uint64_t there = from >= old_.size() ? 0 : std::min(bytes, old_.size() - from);
    append(there, from);
    append(bytes - there, zeros);
  }
  void append(std::uint64_t bytes, std::uint64_t from) {
    if (bytes == 0) return;
    if (!pieces_.empty()) {
      piece& last = pieces_.back();
      if (from == (last.from == zeros ? zeros : last.from + last.bytes)) {
        last.bytes += bytes;
        return;
      }
    }
    pieces_.push_back({bytes, from});
  }

  std::span<const std::byte> old_;
  std::span<const std::byte> made_;
  std::optional<line_index> index_;
  std::vector<piece> pieces_;
};

}  // namespace

bool fit(std::span<const piece> pieces, std::uint64_t old, std::uint64_t made) {
  for (const piece& p : pieces) {
    if (detail::is_wrong(p.bytes == 0) || detail::is_wrong(p.bytes > made)) return false;
    if (detail::is_wrong(p.from != zeros && p.from > old) || detail::is_wrong(p.from != zeros && p.bytes > old - p.from))
      return false;
    made -= p.bytes;
  }
  return !detail::is_wrong(made != 0);
}

std::vector<piece> find_pieces(std::span<const std::byte> old, std::span<const std::byte> made) {
  return piece_search(old, made).run();
}

std::vector<piece> find_blocks(const detail::frame_index& old, const detail::frame_index& made) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> known;  // size and sum → begin
  if (old.blocks.block_bits == made.blocks.block_bits) {
    for (std::uint64_t b = 0; b < old.sums.size(); ++b)
      known.emplace(std::pair(old.blocks.size(b), old.sums[b]), old.blocks.begin(b));
  }
  std::vector<piece> pieces;
  for (std::uint64_t b = 0; b < made.sums.size(); ++b) {
    const std::uint64_t bytes = made.blocks.size(b);
    const bool stayed = b < old.sums.size() && !known.empty() && old.sums[b] == made.sums[b] && old.blocks.size(b) == bytes;
    const auto found = known.find(std::pair(bytes, made.sums[b]));
    const std::uint64_t from = stayed ? made.blocks.begin(b) : found == known.end() ? zeros : found->second;
    const bool goes_on =
        !pieces.empty() && (from == zeros ? pieces.back().from == zeros
                                          : pieces.back().from != zeros && pieces.back().from + pieces.back().bytes == from);
    if (goes_on) {
      pieces.back().bytes += bytes;
    } else {
      pieces.push_back({bytes, from});
    }
  }
  return pieces;
}

void join(std::span<const piece> pieces, std::span<const std::byte> old, std::span<std::byte> made) {
  std::uint64_t at = 0;
  for (const piece& p : pieces) {
    const auto to = made.subspan(at, p.bytes);
    if (p.from == zeros) {
      std::fill(to.begin(), to.end(), std::byte{0});
    } else {
      std::copy_n(old.begin() + static_cast<std::ptrdiff_t>(p.from), p.bytes, to.begin());
    }
    at += p.bytes;
  }
}

}  // namespace tamis::difference
