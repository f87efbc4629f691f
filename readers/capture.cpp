#include "readers/capture.hpp"

#if TAMIS_HAS_PCAP
#include <pcap/pcap.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#endif

namespace tamis::readers {
namespace {

#if TAMIS_HAS_PCAP
class capture_input final : public input {
 public:
  capture_input(std::unique_ptr<input> capture, char separator, packet_counts& counts)
      : capture_(std::move(capture)), separator_(separator), counts_(counts) {}

  result<std::size_t> read(std::span<char> room) override {
    if (!packets_) TAMIS_CHECK(open());
    while (given_ == text_.size() && !ended_) TAMIS_CHECK(fill());
    const std::size_t count = std::min(room.size(), text_.size() - given_);
    std::memcpy(room.data(), text_.data() + given_, count);
    given_ += count;
    return count;
  }

 private:
  static constexpr std::size_t text_bytes = 1 << 14;
  struct close_capture {
    void operator()(pcap_t* packets) const { pcap_close(packets); }
  };

  status open() {
    // libpcap reads from a FILE: one that takes its bytes from our input.
    std::FILE* file = ::fopencookie(this, "r", {.read = read_bytes, .write = nullptr, .seek = nullptr, .close = nullptr});
    if (file == nullptr) return failure{std::string("cannot open: ") + std::strerror(errno)};
    std::setvbuf(file, nullptr, _IOFBF, std::size_t{1} << 16);
    char reason[PCAP_ERRBUF_SIZE] = "";
    pcap_t* opened = pcap_fopen_offline(file, reason);
    if (opened == nullptr) {
      std::fclose(file);
      return broken(reason);
    }
    packets_.reset(opened);
    const int link = pcap_datalink(opened);
    if (!is_known_link(link)) {
      const char* name = pcap_datalink_val_to_name(link);
      return failure{"a capture of link type " + std::to_string(link) +
                     (name != nullptr ? std::string(" (") + name + ")" : "") + "; tamis reads " + std::string(known_links())};
    }
    parser_.emplace(link);
    return {};
  }

  // The text of the next packets.
  status fill() {
    text_.clear();
    given_ = 0;
    while (text_.size() < text_bytes) {
      pcap_pkthdr* header = nullptr;
      const u_char* bytes = nullptr;
      const int answer = pcap_next_ex(packets_.get(), &header, &bytes);
      if (answer == 1) {
        add({bytes, header->caplen});
      } else if (answer == PCAP_ERROR_BREAK && !failed()) {
        ended_ = true;
        return {};
      } else {
        return broken(pcap_geterr(packets_.get()));
      }
    }
    return {};
  }

  void add(std::span<const std::uint8_t> bytes) {
    packet_flow flow;
    const packet_kind kind = parser_->parse(bytes, flow);
    ++counts_.of[static_cast<std::size_t>(kind)];
    if (kind == packet_kind::stray_fragment || kind == packet_kind::not_ip || kind == packet_kind::cut_short) return;
    append_text(flow, text_);
    text_ += separator_;
  }

  // Called by stdio, inside libpcap: nothing may be thrown through them.
  static ssize_t read_bytes(void* self, char* buffer, std::size_t size) noexcept {
    auto& here = *static_cast<capture_input*>(self);
    try {
      auto got = here.capture_->read({buffer, size});
      if (got) return static_cast<ssize_t>(*got);
      here.inner_error_ = std::move(got).take_failure();
    } catch (...) {
      here.thrown_ = std::current_exception();
    }
    errno = EIO;
    return -1;
  }

  bool failed() const { return inner_error_.has_value() || thrown_ != nullptr; }

  // The reason of what lies below, if it has one; else libpcap's.
  status broken(const char* reason) {
    if (thrown_) std::rethrow_exception(thrown_);
    if (inner_error_) return *inner_error_;
    return failure{std::string("damaged capture, after ") + std::to_string(counts_.packets()) + " packets: " + reason};
  }

  std::unique_ptr<input> capture_;
  char separator_;
  packet_counts& counts_;
  std::unique_ptr<pcap_t, close_capture> packets_;
  std::optional<packet_parser> parser_;
  std::string text_;
  std::size_t given_ = 0;
  bool ended_ = false;
  std::optional<failure> inner_error_;
  std::exception_ptr thrown_;
};
#else
class capture_input final : public input {
 public:
  capture_input(std::unique_ptr<input>, char, packet_counts&) {}
  result<std::size_t> read(std::span<char>) override {
    return failure{"is a capture of packets, and this tamis was built without libpcap"};
  }
};
#endif

}  // namespace

std::unique_ptr<input> capture_keys(std::unique_ptr<input> capture, char separator, packet_counts& counts) {
  return std::make_unique<capture_input>(std::move(capture), separator, counts);
}

}  // namespace tamis::readers
