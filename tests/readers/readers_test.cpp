#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lab/workload.hpp"
#include "readers/key_input.hpp"
#include "tamis/detail/base/random.hpp"
#if TAMIS_HAS_ZLIB
#include <zlib.h>
#endif
#if TAMIS_HAS_ZSTD
#include <zstd.h>
#endif

namespace {

using namespace tamis;
using namespace tamis::detail;
using namespace tamis::readers;
using namespace std::string_literals;

constexpr std::uint64_t seed = 20240613;

// Bytes in memory that come in pieces of a given size.
class text_input final : public input {
 public:
  explicit text_input(std::string text, std::size_t piece = 1 << 20) : text_(std::move(text)), piece_(piece) {}
  result<std::size_t> read(std::span<char> room) override {
    const std::size_t count = std::min({room.size(), piece_, text_.size() - given_});
    text_.copy(room.data(), count, given_);
    given_ += count;
    return count;
  }

 private:
  std::string text_;
  std::size_t piece_;
  std::size_t given_ = 0;
};

class broken_input final : public input {
 public:
  result<std::size_t> read(std::span<char>) override { return failure{"cannot read: the disk is gone"}; }
};

struct outcome {
  std::string keys;
  std::string failure;  // empty: none
  packet_counts packets;

  friend bool operator==(const outcome& a, const outcome& b) { return a.keys == b.keys && a.failure == b.failure; }
};
void PrintTo(const outcome& o, std::ostream* out) { *out << "'" << o.keys << "' failure '" << o.failure << "'"; }

outcome read_all(std::unique_ptr<input> raw, std::size_t room_bytes = 4096, key_format format = key_format::detected) {
  key_input in(std::move(raw), '\n', format);
  outcome all;
  std::vector<char> room(room_bytes);
  for (;;) {
    auto got = in.read(room);
    if (!got) all.failure = got.message();
    if (!got || *got == 0) break;
    all.keys.append(room.data(), *got);
  }
  all.packets = in.packets();
  return all;
}
outcome read_all(const std::string& file, std::size_t piece = 1 << 20, std::size_t room = 4096) {
  return read_all(std::make_unique<text_input>(file, piece), room);
}

// ----- captures, byte by byte -----

std::string big(std::uint64_t value, unsigned bytes) {
  std::string out;
  while (bytes-- > 0) out += static_cast<char>((value >> (8 * bytes)) & 0xff);
  return out;
}
std::string little(std::uint64_t value, unsigned bytes) {
  const std::string swapped = big(value, bytes);
  return {swapped.rbegin(), swapped.rend()};
}

constexpr unsigned more_fragments = 0x2000;

std::string ipv4(const std::string& payload, unsigned protocol = 6, unsigned fragment = 0, unsigned id = 7,
                 const std::string& options = "") {
  const std::size_t header = 20 + options.size();
  return big(0x40 + header / 4, 1) + big(0, 1) + big(header + payload.size(), 2) + big(id, 2) + big(fragment, 2) + big(64, 1) +
         big(protocol, 1) + big(0, 2) + big(0x0a000001, 4) + big(0xc0a80102, 4) + options + payload;
}
std::string ipv6(const std::string& payload, unsigned next = 17) {
  return big(0x60000000, 4) + big(payload.size(), 2) + big(next, 1) + big(64, 1) + big(0x20010db8, 4) + big(0, 8) + big(1, 4) +
         big(0xfe80, 2) + std::string(12, '\0') + big(2, 2) + payload;
}
std::string ports(unsigned source, unsigned destination) { return big(source, 2) + big(destination, 2) + std::string(16, 'x'); }
std::string ethernet(const std::string& payload, unsigned type = 0x0800) {
  return std::string(12, 'm') + big(type, 2) + payload;
}
std::string vlan(const std::string& payload, unsigned type = 0x0800) { return big(5, 2) + big(type, 2) + payload; }

std::string pcap(const std::vector<std::string>& packets, unsigned link = 1, unsigned snap = 65535) {
  std::string file = little(0xa1b2c3d4, 4) + little(2, 2) + little(4, 2) + little(0, 8) + little(snap, 4) + little(link, 4);
  for (const std::string& p : packets) file += little(1, 4) + little(2, 4) + little(p.size(), 4) + little(p.size(), 4) + p;
  return file;
}

std::string block(std::uint32_t type, std::string body) {
  body.resize((body.size() + 3) / 4 * 4);
  const std::string length = little(body.size() + 12, 4);
  return little(type, 4) + length + body + length;
}
std::string pcapng(const std::vector<std::string>& packets, unsigned link = 1) {
  std::string file = block(0x0a0d0d0a, little(0x1a2b3c4d, 4) + little(1, 2) + little(0, 2) + little(~0ull, 8)) +
                     block(1, little(link, 2) + little(0, 2) + little(65535, 4));
  for (const std::string& p : packets) {
    file += block(6, little(0, 4) + little(0, 8) + little(p.size(), 4) + little(p.size(), 4) + p);
  }
  return file;
}

const std::string tcp_line = "10.0.0.1:1000 > 192.168.1.2:443 tcp\n";
const std::string udp6_line = "[2001:db8::1]:5353 > [fe80::2]:53 udp\n";

packet_kind kind_of(const std::string& packet, std::string& line, int link = 1) {
  packet_parser parser(link);
  packet_flow flow;
  const packet_kind kind = parser.parse({reinterpret_cast<const std::uint8_t*>(packet.data()), packet.size()}, flow);
  line.clear();
  append_text(flow, line);
  line += '\n';
  return kind;
}
void expect_line(const std::string& packet, const std::string& expected, packet_kind kind = packet_kind::with_ports,
                 int link = 1) {
  std::string line;
  EXPECT_EQ(kind_of(packet, line, link), kind) << expected;
  EXPECT_EQ(line, expected);
}

TEST(packet, addresses_ports_and_protocol_make_a_line) {
  expect_line(ethernet(ipv4(ports(1000, 443))), tcp_line);
  expect_line(ethernet(ipv4(ports(1, 65535), 17)), "10.0.0.1:1 > 192.168.1.2:65535 udp\n");
  expect_line(ethernet(ipv4(ports(1000, 443), 132)), "10.0.0.1:1000 > 192.168.1.2:443 sctp\n");
  expect_line(ethernet(ipv6(ports(5353, 53)), 0x86dd), udp6_line);
}

TEST(packet, options_extension_headers_and_padding_are_passed_over) {
  expect_line(ethernet(ipv4(ports(1000, 443), 6, 0, 7, std::string(12, '\1'))), tcp_line);
  const std::string extended = big(60, 1) + big(1, 1) + std::string(14, 'h') + big(17, 1) + big(0, 1) + std::string(6, 'd');
  expect_line(ethernet(ipv6(extended + ports(5353, 53), 0), 0x86dd), udp6_line);
  const std::string authenticated = big(17, 1) + big(1, 1) + std::string(10, 'a');  // (1 + 2) words of four bytes
  expect_line(ethernet(ipv6(authenticated + ports(5353, 53), 51), 0x86dd), udp6_line);
  // Bytes behind the length of the IP packet are not its ports.
  expect_line(ethernet(ipv4("")) + std::string(26, '\0'), "10.0.0.1 > 192.168.1.2 tcp\n", packet_kind::cut_short);
}

TEST(packet, vlan_tags_and_pppoe_are_unwrapped) {
  expect_line(ethernet(vlan(ipv4(ports(1000, 443))), 0x8100), tcp_line);
  expect_line(ethernet(vlan(vlan(ipv6(ports(5353, 53)), 0x86dd), 0x8100), 0x88a8), udp6_line);
  expect_line(ethernet(big(0x1100, 2) + big(1, 2) + big(22, 2) + big(0x21, 2) + ipv4(ports(1000, 443)), 0x8864), tcp_line);
}

TEST(packet, every_link_type_leads_to_ip) {
  const std::string v4 = ipv4(ports(1000, 443));
  expect_line(v4, tcp_line, packet_kind::with_ports, 12);
  expect_line(v4, tcp_line, packet_kind::with_ports, 228);
  expect_line(ipv6(ports(5353, 53)), udp6_line, packet_kind::with_ports, 101);
  expect_line(ipv6(ports(5353, 53)), udp6_line, packet_kind::with_ports, 229);
  expect_line(little(2, 4) + v4, tcp_line, packet_kind::with_ports, 0);
  expect_line(big(2, 4) + v4, tcp_line, packet_kind::with_ports, 108);
  expect_line(std::string(14, 's') + big(0x0800, 2) + v4, tcp_line, packet_kind::with_ports, 113);
  expect_line(big(0x0800, 2) + std::string(18, 's') + v4, tcp_line, packet_kind::with_ports, 276);
  expect_line(big(0xff03, 2) + big(0x21, 2) + v4, tcp_line, packet_kind::with_ports, 9);
  expect_line(big(0x57, 2) + ipv6(ports(5353, 53)), udp6_line, packet_kind::with_ports, 50);
  EXPECT_FALSE(is_known_link(105));
}

TEST(packet, other_protocols_are_keys_without_ports_and_other_packets_are_none) {
  expect_line(ethernet(ipv4("ping....", 1)), "10.0.0.1 > 192.168.1.2 icmp\n", packet_kind::without_ports);
  expect_line(ethernet(ipv4("tunnel..", 47)), "10.0.0.1 > 192.168.1.2 protocol-47\n", packet_kind::without_ports);
  expect_line(ethernet(ipv6("ping....", 58), 0x86dd), "2001:db8::1 > fe80::2 icmp6\n", packet_kind::without_ports);
  std::string line;
  EXPECT_EQ(kind_of(ethernet(std::string(28, 'a'), 0x0806), line), packet_kind::not_ip);
  EXPECT_EQ(kind_of(ethernet(std::string(28, 'a'), 60), line), packet_kind::not_ip);  // a length: no ethertype
}

TEST(packet, no_prefix_of_a_packet_is_taken_for_more_than_it_is) {
  for (const std::string& whole : {ethernet(ipv4(ports(1000, 443))), ethernet(vlan(ipv6(ports(5353, 53)), 0x86dd), 0x8100)}) {
    std::string expected;
    ASSERT_EQ(kind_of(whole, expected), packet_kind::with_ports);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      std::string line;
      const packet_kind kind = kind_of(whole.substr(0, size), line);
      EXPECT_EQ(kind, size < whole.size() - 16 ? packet_kind::cut_short : packet_kind::with_ports) << size;
      EXPECT_TRUE(kind != packet_kind::with_ports || line == expected) << line;
    }
  }
}

TEST(packet, fragments_take_the_ports_of_the_first) {
  const std::string first = ethernet(ipv4(ports(1000, 443), 6, more_fragments));
  const std::string later = ethernet(ipv4("rest of the segment", 6, 3));
  const std::string other = ethernet(ipv4("of another packet..", 6, 3, 8));
  const outcome all = read_all(pcap({later, first, later, other, later}));
  EXPECT_EQ(all, (outcome{tcp_line + tcp_line + tcp_line, "", {}}));
#if TAMIS_HAS_PCAP
  EXPECT_EQ(all.packets[packet_kind::later_fragment], 2u);
  EXPECT_EQ(all.packets[packet_kind::stray_fragment], 2u);
  EXPECT_EQ(all.packets.packets(), 5u);
  EXPECT_EQ(all.packets.keys(), 3u);
#endif
  const auto fragment6 = [](unsigned offset, const std::string& payload) {
    return ethernet(ipv6(big(17, 1) + big(0, 1) + big(offset, 2) + big(99, 4) + payload, 44), 0x86dd);
  };
  EXPECT_EQ(read_all(pcap({fragment6(1, ports(5353, 53)), fragment6(16, "rest....")})).keys, udp6_line + udp6_line);
}

std::vector<std::string> some_packets() {
  return {ethernet(ipv4(ports(1000, 443))), ethernet(std::string(28, 'a'), 0x0806), ethernet(ipv6(ports(5353, 53)), 0x86dd),
          ethernet(ipv4("ping", 1))};
}
const std::string some_lines = tcp_line + udp6_line + "10.0.0.1 > 192.168.1.2 icmp\n";

#if TAMIS_HAS_PCAP
TEST(capture, pcap_and_pcapng_give_the_same_keys_in_pieces_of_any_size) {
  for (const std::string& file : {pcap(some_packets()), pcapng(some_packets())}) {
    for (const std::size_t piece : {1u, 3u, 64u, 4096u}) {
      for (const std::size_t room : {1u, 7u, 4096u}) EXPECT_EQ(read_all(file, piece, room), (outcome{some_lines, "", {}}));
    }
    const packet_counts packets = read_all(file).packets;
    EXPECT_EQ(packets[packet_kind::with_ports], 2u);
    EXPECT_EQ(packets[packet_kind::without_ports], 1u);
    EXPECT_EQ(packets[packet_kind::not_ip], 1u);
  }
}

TEST(capture, many_packets_stream_through) {
  const std::vector<std::string> packets(20'000, ethernet(ipv4(ports(1000, 443))));
  const outcome all = read_all(pcap(packets));
  EXPECT_EQ(all.failure, "");
  EXPECT_EQ(all.keys.size(), 20'000 * tcp_line.size());
}

// Synthetic flows and captured ones have the same form, so that the lab can mix them.
TEST(capture, a_generated_flow_reads_the_same_as_a_captured_one) {
  const auto stream = lab::make_workload("packets", {}, seed).value();
  for (std::uint64_t flow = 0; flow < 100; ++flow) {
    const std::string tuple = stream->bytes(flow);
    const std::string packet = big(0x45, 1) + big(0, 1) + big(28, 2) + big(0, 4) + big(64, 1) + tuple.substr(12, 1) +
                               big(0, 2) + tuple.substr(0, 8) + tuple.substr(8, 4) + "data";
    EXPECT_EQ(read_all(pcap({packet}, 101)).keys, stream->text(flow) + "\n");
  }
}

TEST(capture, every_truncation_is_an_error_or_a_prefix_of_whole_packets) {
  for (const bool next_generation : {false, true}) {
    const auto make = [&](std::size_t count) {
      auto packets = some_packets();
      packets.resize(count);
      return next_generation ? pcapng(packets) : pcap(packets);
    };
    const std::string whole = make(4);
    std::vector<std::size_t> ends;  // of the headers and of each packet
    for (std::size_t count = 0; count <= 4; ++count) ends.push_back(make(count).size());
    if (next_generation) ends.push_back(28);  // a section without an interface is whole, too
    for (std::size_t size = 0; size <= whole.size(); ++size) {
      const outcome got = read_all(whole.substr(0, size));
      const bool between = std::find(ends.begin(), ends.end(), size) != ends.end();
      if (size < (next_generation ? 4u : 3u)) {  // too short to be told from keys
        EXPECT_EQ(got, (outcome{whole.substr(0, size), "", {}}));
      } else if (between && size != 28) {
        EXPECT_EQ(got.failure, "") << size;
        EXPECT_TRUE(some_lines.starts_with(got.keys)) << size;
      } else {
        EXPECT_NE(got.failure, "") << size;
      }
    }
  }
}

TEST(capture, damage_is_an_error_that_says_what_it_is) {
  const std::string good = pcap(some_packets());
  EXPECT_TRUE(
      read_all(good.substr(0, good.size() - 5)).failure.starts_with("damaged capture, after 3 packets: truncated dump file"))
      << read_all(good.substr(0, good.size() - 5)).failure;
  std::string huge = good;
  huge.replace(24 + 8, 4, little(0x7fffffff, 4));
  EXPECT_TRUE(read_all(huge).failure.starts_with("damaged capture, after 0 packets: ")) << read_all(huge).failure;
  EXPECT_EQ(
      read_all(pcap({}, 105)).failure,
      "a capture of link type 105 (IEEE802_11); tamis reads Ethernet, raw IP, PPP, BSD loopback and Linux cooked captures");
  std::string future = good;
  future[4] = 9;
  EXPECT_NE(read_all(future).failure, "");
}

TEST(capture, no_flipped_byte_does_harm) {
  random_source random(seed);
  for (const std::string& good : {pcap(some_packets()), pcapng(some_packets())}) {
    for (std::size_t at = 0; at < good.size(); ++at) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ static_cast<char>(1 + random.below(255)));
      read_all(bad);  // under the sanitizers: nothing is read that is not there
    }
  }
}
#endif

#if TAMIS_HAS_ZLIB
std::string gzip(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(text.size() + 1000, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}
#endif

#if TAMIS_HAS_ZSTD
std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  out.resize(ZSTD_compress2(context, out.data(), out.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return out;
}
#endif

struct packing {
  const char* name;
  std::string (*pack)(const std::string&);
  std::size_t telling;  // bytes from which on a truncation is not taken for keys
};
std::vector<packing> packings() {
  std::vector<packing> all;
#if TAMIS_HAS_ZLIB
  all.push_back({"gzip", gzip, 2});
#endif
#if TAMIS_HAS_ZSTD
  all.push_back({"zstd", zstd, 3});
#endif
  return all;
}

std::string many_lines() {
  std::string text;
  random_source random(seed);
  for (int i = 0; i < 100'000; ++i) text += std::to_string(random()) + "\n";
  return text;
}

TEST(compressed, gives_what_was_packed_in_pieces_of_any_size) {
  const std::string lines = many_lines();
  for (const packing& p : packings()) {
    SCOPED_TRACE(p.name);
    EXPECT_EQ(read_all(p.pack(lines)), (outcome{lines, "", {}}));
    EXPECT_EQ(read_all(p.pack(lines), 5, 1 << 16), (outcome{lines, "", {}}));
    const std::string zeros(500'000, '\n');  // far more out than in: output waits for room
    EXPECT_EQ(read_all(p.pack(zeros), 1 << 20, 11), (outcome{zeros, "", {}}));
    EXPECT_EQ(read_all(p.pack("")), (outcome{"", "", {}}));
    EXPECT_EQ(read_all(p.pack("a\nb\n"), 1, 1), (outcome{"a\nb\n", "", {}}));
    EXPECT_EQ(read_all(p.pack("a\n") + p.pack("") + p.pack("b\n")), (outcome{"a\nb\n", "", {}})) << "members in a row";
#if TAMIS_HAS_PCAP
    EXPECT_EQ(read_all(p.pack(pcap(some_packets()))), (outcome{some_lines, "", {}}));
    EXPECT_EQ(read_all(p.pack(pcapng(some_packets())), 3, 5), (outcome{some_lines, "", {}}));
#endif
  }
}

TEST(compressed, every_truncation_is_an_error) {
  const std::string lines = "alpha\nbeta\ngamma\nalpha\nbeta\n";
  for (const packing& p : packings()) {
    SCOPED_TRACE(p.name);
    for (const std::string& content : {lines, pcap(some_packets())}) {
      const std::string whole = p.pack(content);
      for (std::size_t size = p.telling; size < whole.size(); ++size) {
        EXPECT_TRUE(read_all(whole.substr(0, size)).failure.starts_with("cut off: ")) << size;
      }
      for (std::size_t size = 0; size < p.telling; ++size) {
        EXPECT_EQ(read_all(whole.substr(0, size)), (outcome{whole.substr(0, size), "", {}}));
      }
      // Cut between two members it is a file of one.
      EXPECT_EQ(read_all((whole + whole).substr(0, whole.size())), read_all(whole));
    }
  }
}

TEST(compressed, no_flipped_byte_changes_a_key) {
  random_source random(seed);
  for (const packing& p : packings()) {
    SCOPED_TRACE(p.name);
    const std::string lines = many_lines().substr(0, 2000);
    const std::string good = p.pack(lines);
    for (std::size_t at = 4; at < good.size(); ++at) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ static_cast<char>(1 + random.below(255)));
      const outcome got = read_all(bad);
      EXPECT_TRUE(!got.failure.empty() || got.keys == lines) << at;  // some bytes of a header mean nothing
    }
  }
}

TEST(compressed, what_follows_the_end_is_not_ignored) {
  for (const packing& p : packings()) EXPECT_NE(read_all(p.pack("a\n") + "plain text\n").failure, "") << p.name;
}

TEST(key_input, plain_text_stays_as_it_is) {
  for (const std::string& text : {""s, "a\nb"s, "\n"s, "\n\r\n"s, "\n\r\r\nMore text follows here\n"s, "("s, "(\n"s, "P*\n"s,
                                  "M<\n"s, "\x1f"s, "\x1f\n"s, "\0\0\0"s, "PK\x03\x04"s}) {
    for (const std::size_t piece : {1u, 100u}) EXPECT_EQ(read_all(text, piece), (outcome{text, "", {}}));
  }
}

TEST(key_input, can_be_told_to_take_a_file_as_it_is) {
  for (const std::string& text : {pcap(some_packets()), "\x1f\x8b no gzip"s, "\x28\xb5\x2f\xfd"s}) {
    EXPECT_EQ(read_all(std::make_unique<text_input>(text), 100, key_format::plain), (outcome{text, "", {}}));
    EXPECT_NE(read_all(text), (outcome{text, "", {}}));
  }
}

TEST(key_input, a_magic_number_that_is_cut_off_is_an_error) {
  for (const std::string& start : {"\x28\xb5\x2f"s, "\xd4\xc3\xb2"s, "\n\r\r\n"s, "\n\r\r\n\x1c\0\0\0\x4d\x3c\x2b"s}) {
    EXPECT_EQ(read_all(start).failure, "cut off: it ends inside the first bytes of its format");
  }
}

TEST(key_input, passes_on_why_a_file_cannot_be_read) {
  EXPECT_EQ(read_all(std::make_unique<broken_input>()).failure, "cannot read: the disk is gone");
  for (const packing& p : packings()) {
    const std::string start = p.pack(pcap(some_packets())).substr(0, 30);
    EXPECT_EQ(read_all(with_head(start, std::make_unique<broken_input>())).failure, "cannot read: the disk is gone") << p.name;
  }
#if TAMIS_HAS_PCAP
  const std::string start = pcap(some_packets()).substr(0, 100);
  EXPECT_EQ(read_all(with_head(start, std::make_unique<broken_input>())).failure, "cannot read: the disk is gone");
#endif
}

}  // namespace
