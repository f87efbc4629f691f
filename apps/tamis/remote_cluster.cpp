#include "remote_cluster.hpp"

#include <hiredis/hiredis.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "failure.hpp"
#include "interrupt.hpp"
#include "numbers.hpp"
#include "remote_link.hpp"
#include "remote_shards.hpp"

namespace tamis::cli {

using std::chrono::milliseconds;

namespace {

constexpr milliseconds connect_time{2000};
constexpr milliseconds silence{5000};      // a node that says nothing so long is asked again, or another one
constexpr milliseconds poll_time{200};     // between two looks at signals and the clock
constexpr const char* wait_time = "1000";  // ms that one WAIT waits for replicas
constexpr milliseconds first_pause{10};
constexpr milliseconds longest_pause{500};

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

// What an error asks for.
enum class advice { moved, ask, later, hopeless };
struct error_reply {
  advice what = advice::hopeless;
  unsigned slot = 0;
  node_address node = {};
};

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

bool is_repeated(const redisReply& error, const node_request& request) {
  return !request.repeated.empty() && text_of(error) == request.repeated;
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
        of_.trouble_ = one.all_replies() ? short_of_replicas(node, one) : node.text() + ": no answer";
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
  std::string short_of_replicas(const node_address& node, const lane& one) const {
    return node.text() + ": " + (one.link == nullptr ? "lost" : "has not " + counted(replicas_, "replica") + " in sync") +
           "; --replicas 0 counts what the master has";
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

void cluster::run(std::span<const node_request> requests, unsigned replicas, const take_reply& take) {
  struct waiting {
    std::size_t request;
    std::optional<node_address> asked;  // where ASK has sent it, once
  };
  std::vector<waiting> pending(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) pending[i].request = i;
  auto deadline = clock::now() + settings_.patience;
  milliseconds break_time = first_pause;
  std::string hopeless;
  while (!pending.empty()) {
    stop_if_interrupted();
    connect();
    round now(*this, requests, replicas);
    std::vector<waiting> later;
    for (const waiting& one : pending) {
      const node_address& node = one.asked ? *one.asked : owners_[requests[one.request].slot];
      if (node.port != 0) {
        now.add(one.request, node, one.asked.has_value());
      } else {
        if (slots_known_) trouble_ = "slot " + std::to_string(requests[one.request].slot) + ": no node has it";
        slots_known_ = false;
        later.push_back({one.request, std::nullopt});
      }
    }
    now.run(deadline);

    bool succeeded = false;
    for (const auto& [node, one] : now.lanes()) {
      for (std::size_t i = 0; i < one.requests.size(); ++i) {
        const std::size_t request = one.requests[i];
        const redisReply* const reply = i < one.replies.size() ? one.replies[i].get() : nullptr;
        const bool fine = reply != nullptr && (reply->type != REDIS_REPLY_ERROR || is_repeated(*reply, requests[request]));
        if (reply == nullptr || (fine && !one.replicated && replicas != 0)) {
          slots_known_ = false;
          later.push_back({request, std::nullopt});
          continue;
        }
        if (fine) {
          take(request, *reply, node);
          succeeded = true;
          continue;
        }
        const std::string text(text_of(*reply));
        const error_reply error = understood(text, node);
        if (error.what == advice::hopeless) {
          if (hopeless.empty()) hopeless = node.text() + ": " + requests[request].key + ": " + text;
          continue;
        }
        trouble_ = node.text() + ": " + text;
        later.push_back({request, error.what == advice::ask ? std::optional(error.node) : std::nullopt});
        if (error.what == advice::moved) owners_[error.slot] = error.node;
        if (error.what != advice::ask) slots_known_ = error.what == advice::moved && slots_known_;
      }
    }
    if (!hopeless.empty()) throw command_failure(hopeless);
    pending = std::move(later);
    if (pending.empty()) break;
    if (succeeded) {
      deadline = clock::now() + settings_.patience;
      break_time = first_pause;
      continue;
    }
    if (clock::now() > deadline)
      throw command_failure(trouble_ + " (given up after " +
                            counted(static_cast<std::uint64_t>(settings_.patience.count() / 1000), "second") + ")");
    pause(break_time);
    break_time = std::min(2 * break_time, longest_pause);
  }
}

}  // namespace tamis::cli
