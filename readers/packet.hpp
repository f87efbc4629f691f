#pragma once

// From the bytes of a captured packet to its 5-tuple.
//
//   link header [VLAN tags] [PPPoE] | IPv4 [options] or IPv6 [extension headers] | ports ...
//
// A packet is a key: both addresses, the protocol and, where the protocol has them (TCP, UDP, SCTP, DCCP, UDP-Lite), both
// ports. Only the first fragment of a packet carries the ports; they are remembered for the others, in a table of fixed size.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tamis::readers {

struct packet_flow {
  bool v6 = false;
  bool has_ports = false;
  std::uint8_t protocol = 0;
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  std::array<std::uint8_t, 16> source{};  // in network order; the first four bytes for IPv4
  std::array<std::uint8_t, 16> destination{};

  friend bool operator==(const packet_flow&, const packet_flow&) = default;
};

// `1.2.3.4:5 > 6.7.8.9:10 tcp`, `[2001:db8::1]:5 > [::1]:53 udp`; without ports `1.2.3.4 > 6.7.8.9 icmp`.
void append_text(const packet_flow& flow, std::string& out);

enum class packet_kind {
  with_ports,      // a key
  without_ports,   // a key: another protocol over IP
  later_fragment,  // a key: the ports are those of its first fragment
  stray_fragment,  // no key: its first fragment was not seen
  not_ip,          // no key
  cut_short,       // no key: the headers are incomplete or impossible
};

struct packet_counts {
  std::array<std::uint64_t, 6> of{};  // by packet_kind

  std::uint64_t operator[](packet_kind kind) const { return of[static_cast<std::size_t>(kind)]; }
  std::uint64_t packets() const;
  std::uint64_t keys() const;
};

// What comes before IP; the numbers are those of capture files (LINKTYPE_...).
bool is_known_link(int link);
std::string_view known_links();

class packet_parser {
 public:
  // Requires: is_known_link(link).
  explicit packet_parser(int link) : link_(link) {}

  packet_kind parse(std::span<const std::uint8_t> bytes, packet_flow& flow);

 private:
  using bytes = std::span<const std::uint8_t>;
  struct first_fragment {
    packet_flow flow;
    std::uint32_t id = 0;
    bool known = false;
  };

  packet_kind parse_ethertype(unsigned type, bytes rest, packet_flow& flow);
  packet_kind parse_ip(bytes rest, packet_flow& flow);
  packet_kind parse_v4(bytes rest, packet_flow& flow);
  packet_kind parse_v6(bytes rest, packet_flow& flow);
  packet_kind parse_transport(bytes rest, packet_flow& flow);
  packet_kind parse_fragment(bytes rest, std::uint32_t id, bool first, packet_flow& flow);

  int link_;
  std::vector<first_fragment> fragments_;  // a key's place is its hash; a newcomer takes the place
};

}  // namespace tamis::readers
