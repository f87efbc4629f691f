#include "remote_shards.hpp"

#include <array>

namespace tamis::cli {
namespace {

// CRC-16/XMODEM, which clusters are built on: x^16 + x^12 + x^5 + 1, the first bit first.
constexpr std::array<std::uint16_t, 256> crc16_table = [] {
  std::array<std::uint16_t, 256> table{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    unsigned rest = byte << 8;
    for (int bit = 0; bit < 8; ++bit) rest = (rest & 0x8000) != 0 ? rest << 1 ^ 0x1021 : rest << 1;
    table[byte] = static_cast<std::uint16_t>(rest);
  }
  return table;
}();

// CRC-32/ISO-HDLC, the one of zip and Ethernet: the last bit first.
constexpr std::array<std::uint32_t, 256> crc32_table = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = (rest & 1) != 0 ? rest >> 1 ^ 0xedb88320 : rest >> 1;
    table[byte] = rest;
  }
  return table;
}();

unsigned crc16(std::string_view bytes) {
  unsigned crc = 0;
  for (const char c : bytes) crc = (crc << 8 & 0xffff) ^ crc16_table[crc >> 8 ^ static_cast<unsigned char>(c)];
  return crc;
}

std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const char c : bytes) crc = crc >> 8 ^ crc32_table[(crc ^ static_cast<unsigned char>(c)) & 255];
  return ~crc;
}

// The last step of MurmurHash3: every bit of the result depends on every bit.
std::uint32_t mixed(std::uint32_t h) {
  h ^= h >> 16;
  h *= 0x85ebca6b;
  h ^= h >> 13;
  h *= 0xc2b2ae35;
  return h ^ h >> 16;
}

}  // namespace

unsigned slot_of(std::string_view key) {
  const std::size_t open = key.find('{');
  if (open != std::string_view::npos) {
    const std::size_t close = key.find('}', open + 1);
    if (close != std::string_view::npos && close > open + 1) key = key.substr(open + 1, close - open - 1);
  }
  return crc16(key) % slot_count;
}

unsigned shard_of(std::string_view item, unsigned shards) {
  return static_cast<unsigned>(std::uint64_t{mixed(crc32(item))} * shards >> 32);
}

std::string meta_key(std::string_view name) { return "{" + std::string(name) + "}:meta"; }

shard_places::shard_places(std::string_view name, unsigned shards) : keys_(shards), slots_(shards) {
  std::vector<int> shard_in(slot_count, -1);
  for (unsigned s = 0; s < shards; ++s) {
    slots_[s] = static_cast<unsigned>((slot_of(name) + std::uint64_t{s} * slot_count / shards) % slot_count);
    shard_in[slots_[s]] = static_cast<int>(s);
  }
  unsigned found = 0;
  for (unsigned number = 0; found < shards; ++number) {
    const std::string tag = std::to_string(number);
    const int shard = shard_in[slot_of(tag)];
    if (shard < 0 || !keys_[static_cast<unsigned>(shard)].empty()) continue;
    keys_[static_cast<unsigned>(shard)] = std::string(name) + ":{" + tag + "}";
    ++found;
  }
}

}  // namespace tamis::cli
