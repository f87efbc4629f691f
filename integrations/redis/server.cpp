#include "server.hpp"

#include <algorithm>
#include <cstdio>

namespace tamis::redis {

settings config;
activity seen_in_all;
server_type* type = nullptr;
std::int64_t master_since = recent_adds::always;

value::change call::change() const {
  return {now_ms(), static_cast<std::uint64_t>(config.memory_limit), static_cast<std::size_t>(config.recent_adds), master_since,
          must_obey()};
}

opened::opened(const call& c, int mode, int argument) : key_(api.OpenKey(c.context, c.arguments[argument], mode)) {
  if (key_ == nullptr || api.KeyType(key_) == key_is_empty) return;
  if (api.ModuleTypeGetType(key_) != type) {
    state_ = state::foreign;
    return;
  }
  state_ = state::ours;
  value_ = static_cast<value*>(api.ModuleTypeGetValue(key_));
}

opened::~opened() {
  if (key_ != nullptr) api.CloseKey(key_);
}

void opened::set(std::unique_ptr<value> made) {
  value_ = made.release();
  state_ = state::ours;
  api.ModuleTypeSetValue(key_, type, value_);
}

namespace {

// The words of a TAMIS.RESERVE that makes the same value anywhere.
std::vector<std::string> spelled_out(const request& asked) {
  char rate[32];
  std::snprintf(rate, sizeof(rate), "%.17g", asked.rate);
  const char* const families[] = {"TAMIS", "BF", "CF"};
  std::vector<std::string> words{asked.filter,
                                 rate,
                                 std::to_string(asked.capacity),
                                 "MODE",
                                 asked.mode == add_mode::set ? "SET" : "MULTI",
                                 "FAMILY",
                                 families[static_cast<int>(asked.family)],
                                 "EXPANSION",
                                 std::to_string(asked.expansion),
                                 "BUCKETSIZE",
                                 std::to_string(asked.bucket_size),
                                 "MAXITERATIONS",
                                 std::to_string(asked.max_iterations),
                                 "MISTAKES",
                                 std::to_string(asked.mistakes),
                                 "MEMORY",
                                 std::to_string(asked.memory)};
  if (!asked.scales) words.emplace_back("NONSCALING");
  words.emplace_back(asked.hash == hash_family::fast ? "SEED" : "SECRET");
  words.push_back(asked.hash == hash_family::fast ? hex_of(asked.secret[0])
                                                  : hex_of(asked.secret[0]) + hex_of(asked.secret[1]));
  for (const auto& [name, text] : asked.options) words.insert(words.end(), {"OPT", name, text});
  return words;
}

void replicate_creation(const call& c, const request& asked) {
  std::vector<server_string*> words;
  for (const std::string& word : spelled_out(asked)) words.push_back(api.CreateString(c.context, word.data(), word.size()));
  api.Replicate(c.context, "TAMIS.RESERVE", "sv", c.key(), words.data(), words.size());
  for (server_string* word : words) api.FreeString(c.context, word);
}

}  // namespace

status create(const call& c, opened& at, const request& asked) {
  std::uint64_t limit = 0;
  if (!c.must_obey()) {
    limit = static_cast<std::uint64_t>(config.memory_limit);
    if (asked.memory != 0) limit = limit == 0 ? asked.memory : std::min(limit, asked.memory);
  }
  TAMIS_TRY(std::unique_ptr<value> made, value::create(asked, limit));
  if (beyond_maxmemory(c)) return failure{"the value does not fit into maxmemory", error_code::no_memory};
  at.set(std::move(made));
  replicate_creation(c, asked);
  changed(c, "tamis.reserve");
  return {};
}

bool usable(const call& c, const opened& at) {
  if (at.foreign()) return c.error(wrong_type), false;
  if (at.missing()) return c.error("ERR not found"), false;
  return true;
}

bool beyond_maxmemory(const call& c) {
  return !c.must_obey() && (c.flags() & server_may_evict) == 0 && api.GetUsedMemoryRatio() > 1;
}

void changed(const call& c, const char* event) {
  api.SignalModifiedKey(c.context, c.key());
  api.NotifyKeyspaceEvent(c.context, event_of_module, event, c.key());
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<double> real_number(std::string_view text) {
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::uint64_t> hex_word(std::string_view text) {
  std::uint64_t word = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), word, 16);
  if (text.empty() || text.size() > 16 || read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return word;
}

std::string hex_of(std::uint64_t word) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(word));
  return text;
}

bool equals(std::string_view text, std::string_view upper_case) {
  return std::equal(text.begin(), text.end(), upper_case.begin(), upper_case.end(),
                    [](char a, char b) { return (a >= 'a' && a <= 'z' ? a - 'a' + 'A' : a) == b; });
}

bool add_commands(server_context* context, std::span<const command> commands) {
  static constexpr command_info_version version;
  return std::all_of(commands.begin(), commands.end(), [context](const command& one) {
    if (api.CreateCommand(context, one.name, one.run, one.flags, 1, one.last_key, 1) != ok) return false;
    const command_info shown{.version = &version, .summary = one.summary, .complexity = one.complexity, .arity = one.arity};
    return api.SetCommandInfo(api.GetCommand(context, one.name), &shown) == ok;
  });
}

added add_items(const call& c, opened& at, int first, int last, bool only_absent, const char* event) {
  const value::change how = c.change();
  const std::uint64_t start = api.MonotonicMicroseconds();
  added all;
  std::vector<server_string*> stored;
  for (int i = first; i < last && all.refused.empty(); ++i) {
    const digest d = at->digest_of(c[i]);
    value::add_result one = value::add_result::present;
    try {
      if (!only_absent || at->asked().mode == add_mode::set || !at->may_contain(d)) one = at->add(d, how);
      if (one == value::add_result::full) all.refused = "full";
    } catch (const std::bad_alloc& no_memory) {
      one = value::add_result::full;
      all.refused = no_memory.what();
    }
    all.items.push_back(one);
    if (one == value::add_result::added) stored.push_back(c.arguments[i]);
  }
  seen_in_all.adds += stored.size();
  seen_in_all.longest_add_us = std::max(seen_in_all.longest_add_us, api.MonotonicMicroseconds() - start);
  if (!stored.empty()) {
    api.Replicate(c.context, "TAMIS.MADD", "sv", c.key(), stored.data(), stored.size());
    changed(c, event);
  }
  return all;
}

}  // namespace tamis::redis
