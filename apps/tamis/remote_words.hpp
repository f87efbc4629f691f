#pragma once

// What goes over the wire to a node as text, and what the errors of a cluster ask for.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "remote_cluster.hpp"

namespace tamis::cli {

// HOST:PORT,...; an IPv6 address stands in brackets.
std::vector<node_address> parse_nodes(const std::string& flag, const std::string& text);

// A command as a server reads it.
std::string pack(std::span<const std::string_view> words);

enum class advice { moved, ask, later, hopeless };
struct error_reply {
  advice what = advice::hopeless;
  unsigned slot = 0;       // moved, ask
  node_address node = {};  // moved, ask
};
error_reply understood(std::string_view text, const node_address& from);

}  // namespace tamis::cli
