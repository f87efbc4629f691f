#include "remote_keys.hpp"

#include <hiredis/hiredis.h>
#include <poll.h>
#include <unistd.h>

#include "numbers.hpp"
#include "output.hpp"
#include "remote_link.hpp"

namespace tamis::cli {
namespace {

constexpr std::size_t keys_per_round = 64 * 1024;
constexpr std::size_t bytes_per_round = 8 << 20;

}  // namespace

bool key_rounds::must_wait() const {
  if (!reader_.waiting()) return false;
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  return !from_stdin_ || ::poll(&input, 1, 0) <= 0;
}

bool key_rounds::next() {
  bytes_.clear();
  ends_.clear();
  items_.clear();
  do {
    const auto batch = reader_.next();
    if (batch.empty()) break;
    for (const std::string_view key : batch) {
      bytes_ += key;
      ends_.push_back(bytes_.size());
    }
  } while (ends_.size() < keys_per_round && bytes_.size() < bytes_per_round && !must_wait());
  std::size_t begin = 0;
  for (const std::size_t end : ends_) {
    items_.emplace_back(bytes_.data() + begin, end - begin);
    begin = end;
  }
  return !items_.empty();
}

void acknowledged_keys::tell() const {
  say(name_ + ": " + what_ + " " + grouped(all_) + " of the " + counted(read_, "key") + " read for certain, the first " +
      grouped(all_ == read_ ? all_ : before_) + " without a gap");
}

void add_round(remote_filter& to, std::span<const std::string_view> items, unsigned replicas, acknowledged_keys& done,
               add_tally& tally) {
  done.round_of(items.size());
  std::string refused;
  std::size_t answered = 0;
  to.ask("TAMIS.MADD", items, replicas, [&](std::size_t, const redisReply& one, const node_address& from) {
    ++answered;
    if (one.type == REDIS_REPLY_ERROR) {
      if (refused.empty()) refused = from.text() + ": " + std::string(text_of(one));
      return;
    }
    done.count(1);
    ++(one.integer == 1 ? tally.fresh : tally.present);
  });
  if (!refused.empty()) throw command_failure(refused);
  if (answered != items.size()) throw command_failure("an answer was too short");
}

std::vector<bool> check_round(remote_filter& of, std::span<const std::string_view> items) {
  std::vector<bool> found(items.size(), true);
  std::size_t answered = 0;
  of.ask("TAMIS.CHECK", items, 0, [&](std::size_t i, const redisReply& one, const node_address& from) {
    if (one.type != REDIS_REPLY_INTEGER) fail(from.text(), "an answer to TAMIS.CHECK that is no number");
    ++answered;
    found[i] = one.integer != 0;
  });
  if (answered != items.size()) throw command_failure("an answer was too short");
  return found;
}

void mistake_round(remote_filter& of, std::span<const std::string_view> items, unsigned replicas, acknowledged_keys& done,
                   mistake_tally& words) {
  done.round_of(items.size());
  of.ask("TAMIS.MISTAKE", items, replicas, [&](std::size_t, const redisReply& one, const node_address&) {
    done.count(1);
    ++words[std::string(text_of(one))];
  });
}

}  // namespace tamis::cli
