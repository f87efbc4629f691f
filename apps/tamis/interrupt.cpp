#include "interrupt.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

namespace tamis::cli {
namespace {

constexpr std::size_t part_bytes = std::size_t{16} << 20;

volatile std::sig_atomic_t arrived = 0;
int bell = -1;  // an eventfd: readable once a signal has come

void note(int signal) {
  arrived = signal;
  ::eventfd_write(bell, 1);
}

template <class Byte, class Pass>
status in_parts(std::span<Byte> bytes, Pass pass) {
  do {
    stop_if_interrupted();
    const auto part = bytes.first(std::min(part_bytes, bytes.size()));
    TAMIS_CHECK(pass(part));
    bytes = bytes.subspan(part.size());
  } while (!bytes.empty());
  return {};
}

}  // namespace

void watch_signals() {
  bell = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction old {};
    ::sigaction(signal, nullptr, &old);
    if (old.sa_handler == SIG_IGN) continue;  // nohup, or a shell's background job: stays ignored
    struct sigaction action {};
    action.sa_handler = note;
    action.sa_flags = static_cast<int>(SA_RESETHAND);  // and not SA_RESTART: a blocked read has to come back
    ::sigaction(signal, &action, nullptr);
  }
}

void stop_if_interrupted() {
  if (arrived != 0) throw interrupted{arrived};
}

void wait_for_input(int descriptor) {
  // Where there is no bell (no descriptors left), poll skips it, and the read is interrupted as long as it has begun.
  std::array<pollfd, 2> watched{
      {{.fd = descriptor, .events = POLLIN, .revents = 0}, {.fd = bell, .events = POLLIN, .revents = 0}}};
  ::poll(watched.data(), watched.size(), -1);
  stop_if_interrupted();
}

status watched_source::read(std::span<std::byte> bytes) {
  return in_parts(bytes, [this](std::span<std::byte> part) { return source_.read(part); });
}

status watched_sink::write(std::span<const std::byte> bytes) {
  return in_parts(bytes, [this](std::span<const std::byte> part) { return sink_.write(part); });
}

}  // namespace tamis::cli
