#include "remote_words.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

#include "failure.hpp"
#include "remote_shards.hpp"

namespace tamis::cli {
namespace {

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<node_address> node_in(std::string_view text, const std::string& same_host) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto port = number_in(text.substr(colon + 1));
  if (!port || *port == 0 || *port > 65535) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  return node_address{host.empty() ? same_host : std::string(host), static_cast<int>(*port)};
}

}  // namespace

std::vector<node_address> parse_nodes(const std::string& flag, const std::string& text) {
  std::vector<node_address> nodes;
  for (std::size_t first = 0; first <= text.size();) {
    const std::size_t end = std::min(text.find(',', first), text.size());
    const std::string one = text.substr(first, end - first);
    const auto node = node_in(one, "");
    if (!node || node->host.empty()) fail(flag + " '" + one + "'", "must be HOST:PORT");
    nodes.push_back(*node);
    first = end + 1;
  }
  return nodes;
}

std::string pack(std::span<const std::string_view> words) {
  std::string packed = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string_view word : words) {
    packed += '$';
    packed += std::to_string(word.size());
    packed += "\r\n";
    packed += word;
    packed += "\r\n";
  }
  return packed;
}

// MOVED slot host:port, ASK slot host:port; the host may be missing, and is then the one that answered.
error_reply understood(std::string_view text, const node_address& from) {
  const auto starts = [text](std::string_view word) { return text.substr(0, word.size()) == word; };
  if (starts("MOVED ") || starts("ASK ")) {
    const std::size_t first = text.find(' ') + 1;
    const std::size_t second = text.find(' ', first);
    if (second == std::string_view::npos) return {};
    const auto slot = number_in(text.substr(first, second - first));
    const auto node = node_in(text.substr(second + 1), from.host);
    if (!slot || *slot >= slot_count || !node) return {};
    return {starts("MOVED") ? advice::moved : advice::ask, static_cast<unsigned>(*slot), *node};
  }
  for (const std::string_view word : {"TRYAGAIN", "LOADING", "CLUSTERDOWN", "MASTERDOWN", "READONLY", "BUSY ", "UNBLOCKED",
                                      "NOREPLICAS", "ERR WAIT cannot be used with replica"}) {
    if (starts(word)) return {.what = advice::later};
  }
  return {};
}

}  // namespace tamis::cli
