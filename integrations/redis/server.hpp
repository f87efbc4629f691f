#pragma once

// What the commands share: settings, the type, the key of a call, arguments, and what goes to replicas.

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api.hpp"
#include "value.hpp"

namespace tamis::redis {

struct settings {
  long long memory_limit = 128 << 20;  // bytes of a value; 0: none
  long long grace_ms = 10'000;         // a writer commits within this time after its ADD
  long long recent_adds = 4096;        // that a value with known mistakes remembers
  long long load_timeout_ms = 60'000;  // parts of a value whose next one does not come are dropped
  long long bf_capacity = 100;         // of what BF.ADD makes, and so on
  long long bf_expansion = 2;
  double bf_error_rate = 0.01;
  long long cf_capacity = 1024;
  int compat = 0;  // compat_auto, yes, no: are BF and CF commands registered?
};
inline constexpr int compat_auto = 0;
inline constexpr int compat_yes = 1;
inline constexpr int compat_no = 2;
extern settings config;

// Since the server started, for INFO.
struct activity {
  std::uint64_t adds = 0;
  std::uint64_t checks = 0;
  std::uint64_t maybes = 0;
  std::uint64_t reports = 0;
  std::uint64_t fixed = 0;
  std::uint64_t refused = 0;
  std::uint64_t load_failures = 0;
  std::uint64_t longest_add_us = 0;  // of a call that adds
};
extern activity seen_in_all;
extern server_type* type;
extern std::int64_t master_since;  // always, if this server has never changed its role

inline constexpr const char* wrong_type = "WRONGTYPE Operation against a key holding the wrong kind of value";
inline std::int64_t now_ms() { return static_cast<std::int64_t>(api.MonotonicMicroseconds() / 1000); }

// One call of a command.
struct call {
  server_context* context;
  server_string** arguments;
  int count;

  std::string_view operator[](int i) const { return view(arguments[i]); }
  server_string* key() const { return arguments[1]; }
  int flags() const { return api.GetContextFlags(context); }
  bool resp3() const { return (flags() & client_speaks_resp3) != 0; }
  // A master or the append-only file speaks: what it says has happened, and is not questioned.
  bool must_obey() const { return (flags() & (sent_by_master | server_is_loading)) != 0; }
  value::change change() const;

  int error(const char* text) const { return api.ReplyWithError(context, text); }
  int error(const std::string& text) const { return error(text.c_str()); }
  int done() const { return api.ReplyWithSimpleString(context, "OK"); }
  int number(std::uint64_t n) const { return api.ReplyWithLongLong(context, static_cast<long long>(n)); }
  int truth(bool yes) const { return api.ReplyWithBool(context, yes ? 1 : 0); }
  int text(std::string_view s) const { return api.ReplyWithStringBuffer(context, s.data(), s.size()); }
  int array(std::size_t n) const { return api.ReplyWithArray(context, static_cast<long>(n)); }
};

// The value behind the key of a call.
class opened {
 public:
  enum class state { missing, ours, foreign };

  opened(const call& c, int mode, int argument = 1);
  opened(const opened&) = delete;
  opened& operator=(const opened&) = delete;
  ~opened();

  state what() const { return state_; }
  bool missing() const { return state_ == state::missing; }
  bool foreign() const { return state_ == state::foreign; }
  value* operator->() const { return value_; }
  value& operator*() const { return *value_; }
  void set(std::unique_ptr<value> made);

 private:
  server_key* key_;
  value* value_ = nullptr;
  state state_ = state::missing;
};

// Replies with an error, and answers false, where there is no value of ours.
bool usable(const call& c, const opened& at);

// Does the server hold more than maxmemory, and cannot help itself? It looks before a command only.
bool beyond_maxmemory(const call& c);

// Makes the value of a request under the key, tells replicas every parameter, and says what went wrong otherwise.
status create(const call& c, opened& at, const request& asked);
// The key has changed: watchers, and the named event.
void changed(const call& c, const char* event);

std::optional<std::uint64_t> whole_number(std::string_view text);
std::optional<double> real_number(std::string_view text);
bool equals(std::string_view text, std::string_view upper_case);
std::optional<std::uint64_t> hex_word(std::string_view text);
std::string hex_of(std::uint64_t word);  // 16 digits

// Parts of a saved value, under RedisBloom's names.
int scan_dump(const call& c);
int load_chunk(const call& c);
void drop_abandoned_parts();

struct command {
  const char* name;
  command_function* run;
  const char* flags;
  int arity;
  const char* complexity;
  const char* summary;
  int last_key = 1;
};
bool add_commands(server_context* context, std::span<const command> commands);

bool register_parts(server_context* context);
bool register_adapting(server_context* context);
bool register_tamis(server_context* context);
bool register_bloom(server_context* context);
bool register_cuckoo(server_context* context);

// Every command runs inside: no exception may reach the server.
template <int (*Run)(const call&)>
int guarded(server_context* context, server_string** arguments, int count) {
  const call c{context, arguments, count};
  try {
    return Run(c);
  } catch (const std::bad_alloc& refused) {
    return c.error(std::string("ERR no memory: ") + refused.what());
  } catch (const std::exception& thrown) {
    return c.error(std::string("ERR ") + thrown.what());
  }
}

// Asks for one item.
inline bool ask(const call& c, const value& v) {
  const bool found = v.may_contain(v.digest_of(c[2]));
  ++v.seen_here.checks;
  ++seen_in_all.checks;
  v.seen_here.maybes += found ? 1 : 0;
  seen_in_all.maybes += found ? 1 : 0;
  return found;
}

// Asks for all items at once, in groups, and hands the answers on in order.
template <class Answer>
void ask(const call& c, const value& v, int first, Answer answer) {
  constexpr std::size_t group = 256;
  std::array<digest, group> digests;
  std::array<bool, group> found;
  while (first < c.count) {
    const auto size = std::min(group, static_cast<std::size_t>(c.count - first));
    for (std::size_t i = 0; i < size; ++i) digests[i] = v.digest_of(c[first + static_cast<int>(i)]);
    v.may_contain_many(std::span(digests).first(size), std::span(found).first(size));
    for (std::size_t i = 0; i < size; ++i) {
      v.seen_here.maybes += found[i] ? 1 : 0;
      seen_in_all.maybes += found[i] ? 1 : 0;
      answer(found[i]);
    }
    v.seen_here.checks += size;
    seen_in_all.checks += size;
    first += static_cast<int>(size);
  }
}

// Adds items from argument `first` on. Answers per item; ends at the first that is refused, whose error follows.
struct added {
  std::vector<value::add_result> items;
  std::string refused;  // "full", or why there was no memory
};
added add_items(const call& c, opened& at, int first, int last, bool only_absent, const char* event);

}  // namespace tamis::redis
