#pragma once

// A capture of packets (pcap or pcapng, as libpcap reads them) as an input of keys: one line of text per packet that has a key,
// see readers/packet.hpp. A capture that ends inside a packet or header is an error; one that was cut exactly between two
// packets cannot be told from a whole one.

#include <memory>

#include "readers/input.hpp"
#include "readers/packet.hpp"

namespace tamis::readers {

// `counts` is kept up to date and must outlive the input. Where the build has no libpcap, the first read says so.
std::unique_ptr<input> capture_keys(std::unique_ptr<input> capture, char separator, packet_counts& counts);

}  // namespace tamis::readers
