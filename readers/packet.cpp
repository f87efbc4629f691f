#include "readers/packet.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <numeric>
#include <optional>

#include "readers/packet_text.hpp"
#include "tamis/detail/base/random.hpp"

namespace tamis::readers {

using namespace detail;

namespace {

constexpr std::uint8_t icmp = 1, tcp = 6, udp = 17, dccp = 33, icmp6 = 58, sctp = 132, udplite = 136;
constexpr std::uint8_t hop_by_hop = 0, routing = 43, fragment_header = 44, authentication = 51, destination_options = 60,
                       mobility = 135, host_identity = 139, shim6 = 140;
constexpr unsigned ethertype_v4 = 0x0800, ethertype_v6 = 0x86dd, ethertype_pppoe = 0x8864;
constexpr unsigned ppp_v4 = 0x0021, ppp_v6 = 0x0057;
constexpr std::size_t fragment_places = 4096;

enum link : int {
  null_link = 0,
  ethernet = 1,
  ppp = 9,
  raw_local = 12,  // what libpcap turns 101 into
  ppp_serial = 50,
  raw = 101,
  loop = 108,
  linux_cooked = 113,
  ipv4_only = 228,
  ipv6_only = 229,
  linux_cooked2 = 276,
};

// Protocols whose headers begin with the two ports.
bool has_ports(std::uint8_t protocol) {
  return protocol == tcp || protocol == udp || protocol == sctp || protocol == dccp || protocol == udplite;
}

bool is_extension(std::uint8_t header) {
  return header == hop_by_hop || header == routing || header == authentication || header == destination_options ||
         header == mobility || header == host_identity || header == shim6;
}

bool is_vlan_tag(unsigned ethertype) { return ethertype == 0x8100 || ethertype == 0x88a8 || ethertype == 0x9100; }

unsigned two_bytes(std::span<const std::uint8_t> at) { return at[0] * 256u + at[1]; }

std::string_view protocol_name(std::uint8_t protocol) {
  switch (protocol) {
    case icmp: return "icmp";
    case tcp: return "tcp";
    case udp: return "udp";
    case dccp: return "dccp";
    case icmp6: return "icmp6";
    case sctp: return "sctp";
    case udplite: return "udplite";
    default: return "";
  }
}

void append_address(const packet_flow& flow, const std::array<std::uint8_t, 16>& address, std::string& out) {
  if (!flow.v6) {
    append_ipv4(
        (std::uint32_t{address[0]} << 24) | (std::uint32_t{address[1]} << 16) | (std::uint32_t{address[2]} << 8) | address[3],
        out);
    return;
  }
  char text[INET6_ADDRSTRLEN];
  out += ::inet_ntop(AF_INET6, address.data(), text, sizeof text);
}

void append_end(const packet_flow& flow, const std::array<std::uint8_t, 16>& address, std::uint16_t port, std::string& out) {
  const bool brackets = flow.v6 && flow.has_ports;
  if (brackets) out += '[';
  append_address(flow, address, out);
  if (brackets) out += ']';
  if (flow.has_ports) append_decimal(port, out.append(":"));
}

// Ethertype and what follows it, for links that name one; nothing if the header is cut short.
struct typed {
  unsigned type;
  std::span<const std::uint8_t> rest;
};
std::optional<typed> typed_payload(std::span<const std::uint8_t> bytes, std::size_t type_at, std::size_t header) {
  if (bytes.size() < header) return std::nullopt;
  return typed{two_bytes(bytes.subspan(type_at)), bytes.subspan(header)};
}

packet_kind skip_ppp(std::span<const std::uint8_t>& bytes) {
  if (bytes.size() >= 2 && bytes[0] == 0xff && bytes[1] == 0x03) bytes = bytes.subspan(2);  // address and control
  if (bytes.size() < 2) return packet_kind::cut_short;
  const unsigned protocol = two_bytes(bytes);
  bytes = bytes.subspan(2);
  return protocol == ppp_v4 || protocol == ppp_v6 ? packet_kind::with_ports : packet_kind::not_ip;
}

}  // namespace

void append_text(const packet_flow& flow, std::string& out) {
  append_end(flow, flow.source, flow.source_port, out);
  out += " > ";
  append_end(flow, flow.destination, flow.destination_port, out);
  out += ' ';
  const std::string_view name = protocol_name(flow.protocol);
  if (name.empty()) {
    append_decimal(flow.protocol, out.append("protocol-"));
  } else {
    out += name;
  }
}

std::uint64_t packet_counts::packets() const { return std::accumulate(of.begin(), of.end(), std::uint64_t{0}); }
std::uint64_t packet_counts::keys() const {
  return (*this)[packet_kind::with_ports] + (*this)[packet_kind::without_ports] + (*this)[packet_kind::later_fragment];
}

bool is_known_link(int number) {
  constexpr int known[] = {null_link, ethernet,     ppp,       raw_local, ppp_serial,   raw,
                           loop,      linux_cooked, ipv4_only, ipv6_only, linux_cooked2};
  return std::find(std::begin(known), std::end(known), number) != std::end(known);
}
std::string_view known_links() { return "Ethernet, raw IP, PPP, BSD loopback and Linux cooked captures"; }

packet_kind packet_parser::parse(std::span<const std::uint8_t> packet, packet_flow& flow) {
  flow = {};
  std::optional<typed> inner;
  switch (link_) {
    case ethernet: inner = typed_payload(packet, 12, 14); break;
    case linux_cooked: inner = typed_payload(packet, 14, 16); break;
    case linux_cooked2: inner = typed_payload(packet, 0, 20); break;
    case null_link:
    case loop:  // an address family, which differs between systems; the version of IP says the same
      return packet.size() < 4 ? packet_kind::cut_short : parse_ip(packet.subspan(4), flow);
    case ppp:
    case ppp_serial: {
      const packet_kind kind = skip_ppp(packet);
      return kind == packet_kind::with_ports ? parse_ip(packet, flow) : kind;
    }
    default: return parse_ip(packet, flow);
  }
  return inner ? parse_ethertype(inner->type, inner->rest, flow) : packet_kind::cut_short;
}

packet_kind packet_parser::parse_ethertype(unsigned type, bytes rest, packet_flow& flow) {
  while (is_vlan_tag(type)) {
    if (rest.size() < 4) return packet_kind::cut_short;
    type = two_bytes(rest.subspan(2));
    rest = rest.subspan(4);
  }
  if (type == ethertype_pppoe) {
    if (rest.size() < 6) return packet_kind::cut_short;
    rest = rest.subspan(6);
    const packet_kind kind = skip_ppp(rest);
    return kind == packet_kind::with_ports ? parse_ip(rest, flow) : kind;
  }
  if (type == ethertype_v4) return parse_v4(rest, flow);
  if (type == ethertype_v6) return parse_v6(rest, flow);
  return packet_kind::not_ip;
}

packet_kind packet_parser::parse_ip(bytes rest, packet_flow& flow) {
  if (rest.empty()) return packet_kind::cut_short;
  if (rest[0] >> 4 == 4) return parse_v4(rest, flow);
  if (rest[0] >> 4 == 6) return parse_v6(rest, flow);
  return packet_kind::not_ip;
}

packet_kind packet_parser::parse_v4(bytes rest, packet_flow& flow) {
  if (rest.size() < 20) return packet_kind::cut_short;
  const std::size_t header = (rest[0] & 15u) * 4;
  const std::size_t length = two_bytes(rest.subspan(2));  // 0: left to the network card, which the capture did not wait for
  if (rest[0] >> 4 != 4 || header < 20 || rest.size() < header || (length != 0 && length < header)) {
    return packet_kind::cut_short;
  }
  if (length != 0 && length < rest.size()) rest = rest.first(length);  // what follows is padding of the link
  flow.protocol = rest[9];
  std::copy_n(&rest[12], 4, flow.source.begin());
  std::copy_n(&rest[16], 4, flow.destination.begin());
  const unsigned fragment = two_bytes(rest.subspan(6));
  const bool first = (fragment & 0x1fff) == 0;
  const bool whole = first && (fragment & 0x2000) == 0;
  const unsigned id = two_bytes(rest.subspan(4));
  rest = rest.subspan(header);
  return whole ? parse_transport(rest, flow) : parse_fragment(rest, id, first, flow);
}

packet_kind packet_parser::parse_v6(bytes rest, packet_flow& flow) {
  if (rest.size() < 40 || rest[0] >> 4 != 6) return packet_kind::cut_short;
  const std::size_t length = two_bytes(rest.subspan(4));
  flow.v6 = true;
  std::copy_n(&rest[8], 16, flow.source.begin());
  std::copy_n(&rest[24], 16, flow.destination.begin());
  std::uint8_t next = rest[6];
  rest = rest.subspan(40);
  if (length != 0 && length < rest.size()) rest = rest.first(length);
  while (is_extension(next)) {
    if (rest.size() < 8) return packet_kind::cut_short;
    const std::size_t size = next == authentication ? (rest[1] + 2u) * 4 : (rest[1] + 1u) * 8;
    if (rest.size() < size) return packet_kind::cut_short;
    next = rest[0];
    rest = rest.subspan(size);
  }
  flow.protocol = next;
  if (next != fragment_header) return parse_transport(rest, flow);
  if (rest.size() < 8) return packet_kind::cut_short;
  flow.protocol = rest[0];
  const bool first = (two_bytes(rest.subspan(2)) & 0xfff8) == 0;
  const std::uint32_t id = (two_bytes(rest.subspan(4)) << 16) | two_bytes(rest.subspan(6));
  return parse_fragment(rest.subspan(8), id, first, flow);
}

packet_kind packet_parser::parse_transport(bytes rest, packet_flow& flow) {
  if (!has_ports(flow.protocol)) return packet_kind::without_ports;
  if (rest.size() < 4) return packet_kind::cut_short;
  flow.has_ports = true;
  flow.source_port = static_cast<std::uint16_t>(two_bytes(rest));
  flow.destination_port = static_cast<std::uint16_t>(two_bytes(rest.subspan(2)));
  return packet_kind::with_ports;
}

packet_kind packet_parser::parse_fragment(bytes rest, std::uint32_t id, bool first, packet_flow& flow) {
  if (!has_ports(flow.protocol)) return packet_kind::without_ports;
  fragments_.resize(fragment_places);
  std::uint64_t words[4];
  std::memcpy(words, flow.source.data(), 16);
  std::memcpy(words + 2, flow.destination.data(), 16);
  std::uint64_t hash = id * 256ull + flow.protocol;
  for (const std::uint64_t word : words) hash = mix64(hash ^ word);
  first_fragment& place = fragments_[hash % fragment_places];
  if (first) {
    const packet_kind kind = parse_transport(rest, flow);
    if (kind == packet_kind::with_ports) place = {flow, id, true};
    return kind;
  }
  if (!place.known || place.id != id || place.flow.v6 != flow.v6 || place.flow.protocol != flow.protocol ||
      place.flow.source != flow.source || place.flow.destination != flow.destination) {
    return packet_kind::stray_fragment;
  }
  flow = place.flow;
  return packet_kind::later_fragment;
}

}  // namespace tamis::readers
