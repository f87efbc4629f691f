#pragma once

// 5-tuples for flow numbers. Different numbers have different tuples: source address, source port and half of the destination
// address are a bijection of the number.

#include <cstdint>
#include <string>

#include "readers/packet_text.hpp"
#include "tamis/detail/base/random.hpp"

namespace tamis::lab {

struct packet_tuple {
  std::uint32_t source_address;
  std::uint32_t destination_address;
  std::uint16_t source_port;
  std::uint16_t destination_port;
  std::uint8_t protocol;  // 6 TCP, 17 UDP
};

class packet_tuples {
 public:
  explicit packet_tuples(std::uint64_t seed) : seed_(seed) {}

  packet_tuple operator()(std::uint64_t flow) const {
    const std::uint64_t a = detail::mix64(seed_ + flow);
    const std::uint64_t b = detail::mix64(a ^ 0xbb67ae8584caa73bu);
    constexpr std::uint16_t services[] = {443, 443, 443, 443, 80, 80, 53, 123};
    return {.source_address = static_cast<std::uint32_t>(a >> 32),
            .destination_address = static_cast<std::uint32_t>((b & 0xffff0000) | (a & 0xffff)),
            .source_port = static_cast<std::uint16_t>(a >> 16),
            .destination_port = services[b & 7],
            .protocol = static_cast<std::uint8_t>((b & 7) >= 6 || (b & 15) == 0 ? 17 : 6)};
  }

  // `1.2.3.4:5 > 6.7.8.9:10 tcp`
  void append_text(std::uint64_t flow, std::string& out) const {
    const packet_tuple t = (*this)(flow);
    readers::append_ipv4(t.source_address, out);
    readers::append_decimal(t.source_port, out.append(":"));
    readers::append_ipv4(t.destination_address, out.append(" > "));
    readers::append_decimal(t.destination_port, out.append(":"));
    out.append(t.protocol == 6 ? " tcp" : " udp");
  }

  // 13 bytes in network order: both addresses, both ports, protocol.
  std::string bytes(std::uint64_t flow) const {
    const packet_tuple t = (*this)(flow);
    std::string out;
    append_big_endian(t.source_address, 4, out);
    append_big_endian(t.destination_address, 4, out);
    append_big_endian(t.source_port, 2, out);
    append_big_endian(t.destination_port, 2, out);
    append_big_endian(t.protocol, 1, out);
    return out;
  }

 private:
  static void append_big_endian(std::uint32_t value, unsigned count, std::string& out) {
    while (count-- > 0) out += static_cast<char>((value >> (8 * count)) & 0xff);
  }

  std::uint64_t seed_;
};

}  // namespace tamis::lab
