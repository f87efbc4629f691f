#pragma once

// Keys of somebody who knows the hash. The fast hash (XXH3) is no secret: keys of equal digests can be written down, and keys
// whose digests begin alike are found by trying.

#include <cstdint>
#include <string>
#include <vector>

#include "forwarding_store.hpp"
#include "tamis/hasher.hpp"

namespace tamis::test {

// The keys of all numbers have the same digest under hasher(). XXH3 reads keys of more than 240 bytes as stripes of 64, and of
// each word w in them it adds two things to its sums: w itself, and the product of the halves of w xor its secret. If one half
// of that is 0, so is the product, whatever the other half is; and what the first stripe adds by it, the second takes away.
inline std::string colliding_key(std::uint32_t number) {
  constexpr std::uint32_t secrets[] = {0x396cfeb8, 0x2c81017c};  // low halves of the first two words of XXH3's secret
  std::string key(320, 'k');
  const auto put = [&](std::size_t at, std::uint32_t low, std::uint32_t high) {
    for (unsigned i = 0; i < 4; ++i) key[at + i] = static_cast<char>(low >> (8 * i));
    for (unsigned i = 0; i < 4; ++i) key[at + 4 + i] = static_cast<char>(high >> (8 * i));
  };
  put(0, secrets[0], number);
  put(64, secrets[1], 0 - number);
  return key;
}

// Keys whose digests under hasher() begin with these bits.
inline std::vector<std::string> keys_beginning(std::uint64_t first_bits, unsigned width, std::size_t count) {
  std::vector<std::string> found;
  for (std::uint64_t i = 0; found.size() < count; ++i) {
    std::string key = "tried " + std::to_string(i);
    if (hasher()(std::string_view(key)).high >> (64 - width) == first_bits) found.push_back(std::move(key));
  }
  return found;
}

// Counts what is read from a store by scans: the work that an adversary can cause beyond a read per question.
class counting_store final : public forwarding_store {
 public:
  using forwarding_store::forwarding_store;

  status scan(digest_range range, scan_size size, const std::function<bool(digest)>& visit) const override {
    return forwarding_store::scan(range, size, [&](digest d) {
      ++scanned_;
      return visit(d);
    });
  }
  // Digests since the last time this was asked.
  std::uint64_t scanned() { return std::exchange(scanned_, 0); }

 private:
  mutable std::uint64_t scanned_ = 0;
};

}  // namespace tamis::test
