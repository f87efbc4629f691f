#pragma once

// A connection to one server, which never blocks once it is open: who uses several of them waits for all at once.

#include <poll.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "remote_cluster.hpp"

struct redisContext;

namespace tamis::cli {

struct free_reply {
  void operator()(redisReply* reply) const;
};
using reply_ptr = std::unique_ptr<redisReply, free_reply>;

std::string_view text_of(const redisReply& reply);

class node_link {
 public:
  // Throws command_failure, which names the node.
  node_link(node_address node, std::chrono::milliseconds timeout);
  node_link(const node_link&) = delete;
  node_link& operator=(const node_link&) = delete;
  ~node_link();

  const node_address& node() const { return node_; }
  void send(std::string_view packed);
  pollfd watched() const;
  // Writes and reads what can be without waiting.
  void move(short events);
  // The next reply that has arrived, or nothing.
  reply_ptr next();

 private:
  void check(int outcome) const;

  node_address node_;
  redisContext* context_;
  bool unsent_ = false;
};

}  // namespace tamis::cli
