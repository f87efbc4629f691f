#include "remote_link.hpp"

#include <fcntl.h>
#include <hiredis/hiredis.h>

#include <cerrno>
#include <cstring>

#include "failure.hpp"

namespace tamis::cli {

void free_reply::operator()(redisReply* reply) const { freeReplyObject(reply); }

std::string_view text_of(const redisReply& reply) {
  return reply.str == nullptr ? std::string_view() : std::string_view(reply.str, static_cast<std::size_t>(reply.len));
}

node_link::node_link(node_address node, std::chrono::milliseconds timeout) : node_(std::move(node)) {
  const auto ms = timeout.count();
  const timeval limit{.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
  context_ = redisConnectWithTimeout(node_.host.c_str(), node_.port, limit);
  if (context_ == nullptr) throw std::bad_alloc();
  if (context_->err != 0) {
    const std::string reason = context_->errstr;
    redisFree(context_);
    fail(node_.text(), reason);
  }
  context_->flags &= ~REDIS_BLOCK;
  ::fcntl(context_->fd, F_SETFL, ::fcntl(context_->fd, F_GETFL) | O_NONBLOCK);
  redisEnableKeepAlive(context_);
}

node_link::~node_link() { redisFree(context_); }

void node_link::check(int outcome) const {
  if (outcome == REDIS_OK) return;
  fail(node_.text(), context_->err == REDIS_ERR_IO && errno != 0 ? std::strerror(errno) : context_->errstr);
}

void node_link::send(std::string_view packed) {
  check(redisAppendFormattedCommand(context_, packed.data(), packed.size()));
  unsent_ = true;
}

pollfd node_link::watched() const {
  return {.fd = context_->fd, .events = static_cast<short>(POLLIN | (unsent_ ? POLLOUT : 0)), .revents = 0};
}

void node_link::move(short events) {
  if (unsent_ && (events & POLLOUT) != 0) {
    int all = 0;
    check(redisBufferWrite(context_, &all));
    unsent_ = all == 0;
  }
  if ((events & (POLLIN | POLLHUP | POLLERR)) != 0) check(redisBufferRead(context_));
}

reply_ptr node_link::next() {
  void* reply = nullptr;
  check(redisGetReplyFromReader(context_, &reply));
  return reply_ptr(static_cast<redisReply*>(reply));
}

}  // namespace tamis::cli
