#pragma once

// A file of keys, whatever it is: lines of text, or a capture of packets, either of them plain or compressed by gzip or zstd.
// The first bytes decide, not the name.
//
//   raw bytes ── gzip? zstd? ──► bytes ── pcap? pcapng? ──► keys, each followed by the separator
//
// A file of keys that happens to begin like one of the others can be taken as it is: key_format::plain. A file that ends within
// the magic number of another format is taken for keys if what is there is short enough to be text (one or two bytes; three of
// pcapng), and is an error otherwise.

#include <memory>

#include "readers/input.hpp"
#include "readers/packet.hpp"

namespace tamis::readers {

enum class key_format { detected, plain };

class key_input final : public input {
 public:
  key_input(std::unique_ptr<input> raw, char separator, key_format format = key_format::detected);

  // Nothing is read before the first call.
  result<std::size_t> read(std::span<char> room) override;

  // After the first read.
  bool is_compressed() const { return compressed_; }
  bool is_capture() const { return capture_; }
  const packet_counts& packets() const { return counts_; }  // of a capture, so far

 private:
  status open();

  std::unique_ptr<input> from_;
  char separator_;
  bool opened_;
  bool compressed_ = false;
  bool capture_ = false;
  packet_counts counts_;
};

}  // namespace tamis::readers
