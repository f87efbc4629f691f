#include "remote_cluster.hpp"

#include <hiredis/hiredis.h>

#include <algorithm>
#include <array>

#include "failure.hpp"
#include "interrupt.hpp"
#include "numbers.hpp"
#include "remote_link.hpp"
#include "remote_shards.hpp"
#include "remote_words.hpp"

namespace tamis::cli {

using std::chrono::milliseconds;

namespace {

constexpr milliseconds connect_time{2000};
constexpr milliseconds silence{5000};      // a node that says nothing so long is asked again, or another one
constexpr milliseconds poll_time{200};     // between two looks at signals and the clock
constexpr const char* wait_time = "1000";  // ms that one WAIT waits for replicas
constexpr milliseconds first_pause{10};
constexpr milliseconds longest_pause{500};

bool is_repeated(const redisReply& error, const node_request& request) {
  return !request.repeated.empty() && text_of(error) == request.repeated;
}

}  // namespace

cluster::cluster(cluster_settings settings) : settings_(std::move(settings)), owners_(slot_count) {}
cluster::~cluster() = default;

node_link* cluster::link_to(const node_address& node) {
  std::unique_ptr<node_link>& link = links_[node];
  if (link != nullptr) return link.get();
  link = std::make_unique<node_link>(node, connect_time);
  if (settings_.password.empty()) return link.get();
  const auto granted = settings_.user.empty()
                           ? ask_node(node, std::array<std::string_view, 2>{"AUTH", settings_.password})
                           : ask_node(node, std::array<std::string_view, 3>{"AUTH", settings_.user, settings_.password});
  if (granted->type != REDIS_REPLY_ERROR) return link.get();
  const std::string reason(text_of(*granted));
  links_.erase(node);
  fail(node.text(), reason);
}

// One command to one node, whatever slots it has.
std::unique_ptr<redisReply, void (*)(redisReply*)> cluster::ask_node(const node_address& node,
                                                                     std::span<const std::string_view> words) {
  node_link* const link = link_to(node);
  try {
    link->send(pack(words));
    const auto deadline = clock::now() + silence;
    while (true) {
      if (reply_ptr reply = link->next()) return {reply.release(), [](redisReply* r) { freeReplyObject(r); }};
      stop_if_interrupted();
      if (clock::now() > deadline) fail(node.text(), "no answer");
      pollfd watched = link->watched();
      ::poll(&watched, 1, static_cast<int>(poll_time.count()));
      link->move(watched.revents);
    }
  } catch (...) {
    links_.erase(node);
    throw;
  }
}

bool cluster::take_slots(const redisReply& told, const node_address& from) {
  const bool single =
      told.type == REDIS_REPLY_ERROR && text_of(told).find("cluster support disabled") != std::string_view::npos;
  if (single) {
    std::fill(owners_.begin(), owners_.end(), from);
    is_cluster_ = false;
    return true;
  }
  if (told.type != REDIS_REPLY_ARRAY) {
    trouble_ = from.text() + ": " + (told.type == REDIS_REPLY_ERROR ? std::string(text_of(told)) : "no list of slots");
    return false;
  }
  std::vector<node_address> owners(slot_count);
  for (std::size_t i = 0; i < told.elements; ++i) {
    const redisReply& range = *told.element[i];
    if (range.type != REDIS_REPLY_ARRAY || range.elements < 3) continue;
    const redisReply& master = *range.element[2];
    const long long first = range.element[0]->integer;
    const long long last = range.element[1]->integer;
    if (master.type != REDIS_REPLY_ARRAY || master.elements < 2 || first < 0 || last >= static_cast<long long>(slot_count))
      continue;
    const std::string host(text_of(*master.element[0]));
    const node_address node{host.empty() ? from.host : host, static_cast<int>(master.element[1]->integer)};
    for (long long slot = first; slot <= last; ++slot) owners[static_cast<std::size_t>(slot)] = node;
  }
  owners_ = std::move(owners);
  is_cluster_ = true;
  return true;
}

bool cluster::learn_slots_from(const node_address& node) {
  try {
    return take_slots(*ask_node(node, std::array<std::string_view, 2>{"CLUSTER", "SLOTS"}), node);
  } catch (const command_failure& unreachable) {
    trouble_ = unreachable.what();
    return false;
  }
}

void cluster::learn_slots() {
  std::vector<node_address> nodes = settings_.known;
  for (const node_address& owner : owners_) {
    if (owner.port != 0 && std::find(nodes.begin(), nodes.end(), owner) == nodes.end()) nodes.push_back(owner);
  }
  ++asked_first_;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!learn_slots_from(nodes[(asked_first_ - 1 + i) % nodes.size()])) continue;
    slots_known_ = true;
    for (const node_address& owner : owners_) {  // a node that is asked for the next time
      if (owner.port != 0 && std::find(settings_.known.begin(), settings_.known.end(), owner) == settings_.known.end())
        settings_.known.push_back(owner);
    }
    return;
  }
  // Later, somebody may come back; a first contact that fails is a wrong address.
  if (std::none_of(owners_.begin(), owners_.end(), [](const node_address& owner) { return owner.port != 0; }))
    throw command_failure(trouble_);
}

void cluster::connect() {
  if (!slots_known_) learn_slots();
}

void cluster::pause(milliseconds time) {
  const auto end = clock::now() + time;
  while (clock::now() < end) {
    stop_if_interrupted();
    ::poll(nullptr, 0, static_cast<int>(std::min(time, milliseconds(20)).count()));
  }
}

// What goes to one node in a round: its requests, and then a WAIT until enough replicas have them.
struct cluster::lane {
  node_link* link = nullptr;
  std::vector<std::size_t> requests;
  std::vector<reply_ptr> replies;  // as far as they came
  std::vector<bool> asked;         // an ASKING goes before, whose reply comes before
  bool asking_answered = false;
  bool done = false;
  bool replicated = false;  // the WAIT was answered well, or there was none
  clock::time_point heard;

  bool all_replies() const { return replies.size() == requests.size(); }
};

// Some requests at once, to all nodes that they belong to.
class cluster::round {
 public:
  round(cluster& of, std::span<const node_request> requests, unsigned replicas)
      : of_(of), requests_(requests), replicas_(replicas) {}

  void add(std::size_t request, const node_address& node, bool asking) {
    lane& to = lanes_[node];
    to.requests.push_back(request);
    to.asked.push_back(asking);
  }
  void run(clock::time_point deadline) {
    for (auto& [node, one] : lanes_) guarded(node, one, [&] { send(node, one); });
    while (poll_lanes()) {
      stop_if_interrupted();
      const auto now = clock::now();
      for (auto& [node, one] : lanes_) {
        if (one.done || (now - one.heard <= silence && now <= deadline)) continue;
        of_.trouble_ = one.all_replies() ? short_of_replicas(node) : node.text() + ": no answer";
        drop(node, one);
      }
    }
  }
  const std::map<node_address, lane>& lanes() const { return lanes_; }

 private:
  // A node that fails takes only its own requests along.
  template <class Work>
  void guarded(const node_address& node, lane& one, Work work) {
    try {
      work();
    } catch (const command_failure& broken) {
      of_.trouble_ = broken.what();
      drop(node, one);
    }
  }
  void drop(const node_address& node, lane& one) {
    of_.links_.erase(node);
    of_.slots_known_ = false;
    one.link = nullptr;
    one.done = true;
  }
  void send(const node_address& node, lane& one) {
    one.link = of_.link_to(node);
    one.heard = clock::now();
    for (std::size_t i = 0; i < one.requests.size(); ++i) {
      if (one.asked[i]) one.link->send(pack(std::array<std::string_view, 1>{"ASKING"}));
      one.link->send(requests_[one.requests[i]].packed);
    }
    if (replicas_ != 0) send_wait(one);
  }
  void send_wait(lane& one) const {
    one.link->send(pack(std::array<std::string_view, 3>{"WAIT", std::to_string(replicas_), wait_time}));
  }
  std::string short_of_replicas(const node_address& node) const {
    return node.text() + ": has not " + counted(replicas_, "replica") + " in sync; --replicas 0 counts what the master has";
  }

  bool poll_lanes() {
    std::vector<pollfd> watched;
    std::vector<std::map<node_address, lane>::iterator> whose;
    for (auto at = lanes_.begin(); at != lanes_.end(); ++at) {
      if (at->second.done) continue;
      watched.push_back(at->second.link->watched());
      whose.push_back(at);
    }
    if (watched.empty()) return false;
    ::poll(watched.data(), watched.size(), static_cast<int>(poll_time.count()));
    for (std::size_t i = 0; i < watched.size(); ++i) {
      auto& [node, one] = *whose[i];
      if (watched[i].revents != 0) guarded(node, one, [&] { move(one, watched[i].revents); });
    }
    return true;
  }

  void move(lane& one, short events) {
    one.link->move(events);
    while (!one.done) {
      reply_ptr reply = one.link->next();
      if (reply == nullptr) return;
      if (!one.all_replies()) {
        take_answer(one, std::move(reply));
      } else {
        take_wait(one, *reply);
      }
    }
  }
  void take_answer(lane& one, reply_ptr reply) {
    one.heard = clock::now();
    if (one.asked[one.replies.size()] && !one.asking_answered) {
      one.asking_answered = true;
      return;
    }
    one.asking_answered = false;
    one.replies.push_back(std::move(reply));
    if (one.all_replies() && replicas_ == 0) one.done = one.replicated = true;
  }
  // Until enough replicas have it: `heard` stays what it is, so that this ends.
  void take_wait(lane& one, const redisReply& reply) {
    const bool stored =
        std::any_of(one.replies.begin(), one.replies.end(), [](const reply_ptr& r) { return r->type != REDIS_REPLY_ERROR; });
    if (stored && reply.type == REDIS_REPLY_INTEGER && reply.integer < replicas_) return send_wait(one);
    if (reply.type == REDIS_REPLY_ERROR) of_.trouble_ = one.link->node().text() + ": " + std::string(text_of(reply));
    one.replicated = reply.type == REDIS_REPLY_INTEGER && reply.integer >= replicas_;
    one.done = true;
  }

  cluster& of_;
  std::span<const node_request> requests_;
  unsigned replicas_;
  std::map<node_address, lane> lanes_;
};

// The requests of one call that are still to be answered.
class cluster::delivery {
 public:
  delivery(cluster& of, std::span<const node_request> requests, unsigned replicas, const take_reply& take)
      : of_(of), requests_(requests), replicas_(replicas), take_(take) {
    for (std::size_t i = 0; i < requests.size(); ++i) pending_.push_back({i, std::nullopt});
  }

  bool done() const { return pending_.empty(); }
  // Sends all of them, and keeps those that have to be sent again. Has any of them succeeded?
  bool run(clock::time_point deadline) {
    std::vector<waiting> later;
    later.swap(pending_);
    round now(of_, requests_, replicas_);
    for (const waiting& one : later) place(one, now);
    now.run(deadline);
    bool succeeded = false;
    for (const auto& [node, one] : now.lanes()) {
      for (std::size_t i = 0; i < one.requests.size(); ++i) {
        const redisReply* const reply = i < one.replies.size() ? one.replies[i].get() : nullptr;
        succeeded = settle(node, one.requests[i], reply, one.replicated || replicas_ == 0) || succeeded;
      }
    }
    if (!hopeless_.empty()) throw command_failure(hopeless_);
    return succeeded;
  }

 private:
  struct waiting {
    std::size_t request;
    std::optional<node_address> asked;  // where ASK has sent it, once
  };

  void place(const waiting& one, round& in) {
    const unsigned slot = requests_[one.request].slot;
    const node_address& node = one.asked ? *one.asked : of_.owners_[slot];
    if (node.port != 0) return in.add(one.request, node, one.asked.has_value());
    if (of_.slots_known_) of_.trouble_ = "slot " + std::to_string(slot) + ": no node has it";
    again(one.request);
  }
  // To whomever the cluster says by then.
  void again(std::size_t request) {
    of_.slots_known_ = false;
    pending_.push_back({request, std::nullopt});
  }
  bool settle(const node_address& node, std::size_t request, const redisReply* reply, bool replicated) {
    if (reply == nullptr) return again(request), false;
    if (reply->type == REDIS_REPLY_ERROR && !is_repeated(*reply, requests_[request]))
      return refused(node, request, *reply), false;
    if (!replicated) return again(request), false;
    take_(request, *reply, node);
    return true;
  }
  void refused(const node_address& node, std::size_t request, const redisReply& reply) {
    const std::string text(text_of(reply));
    const error_reply error = understood(text, node);
    if (error.what == advice::hopeless) {
      if (hopeless_.empty()) hopeless_ = node.text() + ": " + requests_[request].key + ": " + text;
      return;
    }
    of_.trouble_ = node.text() + ": " + text;
    if (error.what == advice::later) return again(request);
    if (error.what == advice::moved) of_.owners_[error.slot] = error.node;
    pending_.push_back({request, error.what == advice::ask ? std::optional(error.node) : std::nullopt});
  }

  cluster& of_;
  std::span<const node_request> requests_;
  unsigned replicas_;
  const take_reply& take_;
  std::vector<waiting> pending_;
  std::string hopeless_;  // the first error that no waiting helps against
};

void cluster::run(std::span<const node_request> requests, unsigned replicas, const take_reply& take) {
  delivery all(*this, requests, replicas, take);
  auto deadline = clock::now() + settings_.patience;
  milliseconds break_time = first_pause;
  while (!all.done()) {
    stop_if_interrupted();
    connect();
    if (all.run(deadline)) {
      deadline = clock::now() + settings_.patience;
      break_time = first_pause;
      continue;
    }
    if (all.done()) return;
    if (clock::now() > deadline) {
      const auto seconds = static_cast<std::uint64_t>(settings_.patience.count() / 1000);
      throw command_failure(trouble_ + " (given up after " + counted(seconds, "second") + ")");
    }
    pause(break_time);
    break_time = std::min(2 * break_time, longest_pause);
  }
}

}  // namespace tamis::cli
