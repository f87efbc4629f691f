#pragma once

// The servers of a cluster, or a single one, as one place that takes requests. A request goes to the master of its slot; all
// nodes work on theirs at the same time. What a cluster does meanwhile is followed: slots that move (MOVED, ASK), masters that
// fail and replicas that take over, nodes that load or are down for a while. Only when nothing has succeeded for a given time
// is it a failure, which names node and reason.
//
// A request may therefore be sent twice, where its reply was lost.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct redisReply;

namespace tamis::cli {

struct node_address {
  std::string host;
  int port = 0;

  std::string text() const { return host + ":" + std::to_string(port); }
  friend auto operator<=>(const node_address&, const node_address&) = default;
};

struct cluster_settings {
  std::vector<node_address> known;  // nodes to begin with
  std::chrono::milliseconds patience{60'000};
  std::string user;
  std::string password;
};

// One command, for the master of a slot.
struct node_request {
  unsigned slot = 0;
  std::string packed;         // remote_words.hpp
  std::string key;            // for messages
  std::string repeated = {};  // the error which says that an earlier sending, whose reply was lost, has done it
};

class node_link;

class cluster {
 public:
  explicit cluster(cluster_settings settings);
  cluster(const cluster&) = delete;
  cluster& operator=(const cluster&) = delete;
  ~cluster();

  // Sends all requests, and hands on each reply that is no error, in any order. A write counts once `replicas` replicas have
  // it, too (WAIT). Replies that came are handed on even if another request fails.
  using take_reply = std::function<void(std::size_t request, const redisReply& reply, const node_address& from)>;
  void run(std::span<const node_request> requests, unsigned replicas, const take_reply& take);

  // Finds out who is there. run() does that by itself, where it was not done.
  void connect();
  bool is_cluster() const { return is_cluster_; }  // and not a single server
  const node_address& owner(unsigned slot) const { return owners_[slot]; }

 private:
  using clock = std::chrono::steady_clock;
  struct lane;
  class round;
  class delivery;

  void learn_slots();
  bool learn_slots_from(const node_address& node);
  bool take_slots(const redisReply& told, const node_address& from);
  node_link* link_to(const node_address& node);
  std::unique_ptr<redisReply, void (*)(redisReply*)> ask_node(const node_address& node,
                                                              std::span<const std::string_view> words);
  void pause(std::chrono::milliseconds time);

  cluster_settings settings_;
  std::vector<node_address> owners_;  // by slot; port 0 where nobody is known
  bool slots_known_ = false;
  bool is_cluster_ = false;
  std::size_t asked_first_ = 0;  // each time another node is asked for the slots: one that has been left behind is not for ever
  std::map<node_address, std::unique_ptr<node_link>> links_;
  std::string trouble_;  // what went wrong last
};

}  // namespace tamis::cli
