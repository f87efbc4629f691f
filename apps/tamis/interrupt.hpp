#pragma once

// Ctrl-C and its kin. The first signal only raises a flag; loops look at it and unwind, so that temporary files go and the old
// file stays. A second signal ends the program at once.

#include "tamis/stream.hpp"

namespace tamis::cli {

struct interrupted {
  int signal;
};

void watch_signals();
// Throws `interrupted` once a signal has come.
void stop_if_interrupted();
// Waits until the descriptor can be read, or throws. A plain read would sleep over a signal that comes just before it.
void wait_for_input(int descriptor);

// A source and a sink that look at the flag now and then: a large filter takes seconds to read or write.
class watched_source final : public byte_source {
 public:
  explicit watched_source(byte_source& source) : source_(source) {}
  status read(std::span<std::byte> bytes) override;
  std::uint64_t remaining() const override { return source_.remaining(); }

 private:
  byte_source& source_;
};

class watched_sink final : public byte_sink {
 public:
  explicit watched_sink(byte_sink& sink) : sink_(sink) {}
  status write(std::span<const std::byte> bytes) override;

 private:
  byte_sink& sink_;
};

}  // namespace tamis::cli
