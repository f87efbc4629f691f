// BF.*: a Bloom filter's commands as RedisBloom's users know them, on evergreen in mode SET.

#include "server.hpp"

namespace tamis::redis {
namespace {

using outcome = value::add_result;

constexpr std::uint64_t most_capacity = std::uint64_t{1} << 30;
constexpr double highest_rate = 0.25;

request bloom_request(double rate, std::uint64_t capacity) {
  request asked;
  asked.family = family::bloom;
  asked.rate = std::min(rate, highest_rate);
  asked.capacity = capacity;
  asked.expansion = static_cast<std::uint64_t>(config.bf_expansion);
  return asked;
}

request default_request() { return bloom_request(config.bf_error_rate, static_cast<std::uint64_t>(config.bf_capacity)); }

int make(const call& c, opened& at, const request& asked) {
  const status made = create(c, at, asked);
  if (made) return ok;
  c.error(made.code() == error_code::no_memory ? std::string("ERR Insufficient memory to create filter")
                                               : "ERR " + made.message());
  return failed;
}

int reserve(const call& c) {
  if (c.count < 4 || c.count > 7) return api.WrongArity(c.context);
  const auto rate = real_number(c[2]);
  if (!rate) return c.error("ERR bad error rate");
  if (!(*rate > 0 && *rate < 1)) return c.error("ERR error rate must be in the range (0.000000, 1.000000)");
  const auto capacity = whole_number(c[3]);
  if (!capacity) return c.error("ERR bad capacity");
  if (*capacity < 1 || *capacity > most_capacity) return c.error("ERR capacity must be in the range [1, 1073741824]");
  request asked = bloom_request(*rate, *capacity);
  bool expands = false;
  for (int i = 4; i < c.count; ++i) {
    if (equals(c[i], "NONSCALING")) {
      asked.scales = false;
    } else if (equals(c[i], "EXPANSION")) {
      if (i + 1 == c.count) return c.error("ERR no expansion");
      const auto expansion = whole_number(c[++i]);
      if (!expansion || *expansion > 32768) return c.error("ERR bad expansion");
      asked.expansion = *expansion;
      expands = *expansion != 0;
      if (*expansion == 0) asked.scales = false;
    }
  }
  if (!asked.scales && expands) return c.error("Nonscaling filters cannot expand");
  opened at(c, open_read | open_write);
  if (at.foreign()) return c.error(wrong_type);
  if (!at.missing()) return c.error("ERR item exists");
  if (make(c, at, asked) != ok) return ok;
  return c.done();
}

std::string refusal(const added& all) {
  return all.refused == "full" ? "ERR non scaling filter is full" : "ERR no memory: " + all.refused;
}

int reply_all(const call& c, const added& all) {
  c.array(all.items.size());
  for (const outcome one : all.items) one == outcome::full ? c.error(refusal(all)) : c.truth(one == outcome::added);
  return ok;
}

int add(const call& c) {
  opened at(c, open_read | open_write);
  if (at.foreign()) return c.error(wrong_type);
  if (at.missing() && make(c, at, default_request()) != ok) return ok;
  const added all = add_items(c, at, 2, 3, true, "bloom.add");
  if (!all.refused.empty()) return c.error(refusal(all));
  return c.truth(all.items[0] == outcome::added);
}

int madd(const call& c) {
  opened at(c, open_read | open_write);
  if (at.foreign()) return c.error(wrong_type);
  if (at.missing() && make(c, at, default_request()) != ok) return ok;
  return reply_all(c, add_items(c, at, 2, c.count, true, "bloom.add"));
}

// Arguments are told by their first letter, and EXPANSION from ERROR by the second.
int insert(const call& c) {
  request asked = default_request();
  bool creates = true;
  int first = 0;
  for (int i = 2; i < c.count && first == 0; ++i) {
    const std::string_view word = c[i];
    const char letter = word.empty() ? '\0' : static_cast<char>(word[0] & ~0x20);
    const bool has_value = i + 1 < c.count;
    if (letter == 'I') {
      first = i + 1;
    } else if (letter == 'N') {
      if (equals(word, "NONSCALING")) {
        asked.scales = false;
      } else {
        creates = false;
      }
    } else if (letter == 'E' && word.size() > 1 && (word[1] & ~0x20) == 'X') {
      const auto expansion = has_value ? whole_number(c[++i]) : std::nullopt;
      if (!expansion || *expansion > 32768) return c.error("Bad expansion");
      asked.expansion = *expansion;
      if (*expansion == 0) asked.scales = false;
    } else if (letter == 'E') {
      const auto rate = has_value ? real_number(c[++i]) : std::nullopt;
      if (!rate || !(*rate > 0 && *rate < 1)) return c.error("Bad error rate");
      asked.rate = std::min(*rate, highest_rate);
    } else if (letter == 'C') {
      const auto capacity = has_value ? whole_number(c[++i]) : std::nullopt;
      if (!capacity || *capacity < 1 || *capacity > most_capacity) return c.error("Bad capacity");
      asked.capacity = *capacity;
    } else {
      return c.error("Unknown argument received");
    }
  }
  if (first == 0 || first == c.count) return api.WrongArity(c.context);
  opened at(c, open_read | open_write);
  if (at.foreign()) return c.error(wrong_type);
  if (at.missing() && !creates) return c.error("ERR not found");
  if (at.missing() && make(c, at, asked) != ok) return ok;
  return reply_all(c, add_items(c, at, first, c.count, true, "bloom.add"));
}

// RedisBloom answers 0 for a key of another type, too.
int exists(const call& c) {
  opened at(c, open_read);
  return c.truth(at.what() == opened::state::ours && ask(c, *at));
}

int mexists(const call& c) {
  opened at(c, open_read);
  c.array(static_cast<std::size_t>(c.count - 2));
  if (at.what() == opened::state::ours) return ask(c, *at, 2, [&](bool found) { c.truth(found); }), ok;
  for (int i = 2; i < c.count; ++i) c.truth(false);
  return ok;
}

int card(const call& c) {
  opened at(c, open_read);
  if (at.foreign()) return c.error(wrong_type);
  return c.number(at.missing() ? 0 : at->items());
}

struct info_field {
  std::string_view word;
  std::string_view title;
};
constexpr info_field fields[] = {{"CAPACITY", "Capacity"},
                                 {"SIZE", "Size"},
                                 {"FILTERS", "Number of filters"},
                                 {"ITEMS", "Number of items inserted"},
                                 {"EXPANSION", "Expansion rate"}};

int reply_field(const call& c, const value& v, std::size_t field) {
  switch (field) {
    case 0: return c.number(v.capacity());
    case 1: return c.number(v.bytes());
    case 2: return c.number(1);
    case 3: return c.number(v.items());
    default: return v.asked().scales ? c.number(v.asked().expansion) : api.ReplyWithNull(c.context);
  }
}

int info(const call& c) {
  if (c.count != 2 && c.count != 3) return api.WrongArity(c.context);
  opened at(c, open_read);
  if (at.foreign()) return c.error(wrong_type);
  if (at.missing()) return c.error("ERR not found");
  if (c.count == 2) {
    c.resp3() ? api.ReplyWithMap(c.context, 5) : c.array(10);
    for (std::size_t i = 0; i < std::size(fields); ++i) {
      c.text(fields[i].title);
      reply_field(c, *at, i);
    }
    return ok;
  }
  for (std::size_t i = 0; i < std::size(fields); ++i) {
    if (!equals(c[2], fields[i].word)) continue;
    c.resp3() ? api.ReplyWithMap(c.context, 1) : c.array(1);
    if (c.resp3()) c.text(fields[i].title);
    return reply_field(c, *at, i);
  }
  return c.error("Invalid information value");
}

// What RedisBloom's tests look at, of the one filter that there is.
int debug(const call& c) {
  opened at(c, open_read);
  if (!usable(c, at)) return ok;
  const auto bits = at->filter().bits().fast;
  c.array(2);
  c.text("size:" + std::to_string(at->items()));
  return c.text("bytes:" + std::to_string(at->bytes()) + " bits:" + std::to_string(bits) +
                " hashes:1 hashwidth:64 capacity:" + std::to_string(at->capacity()) + " size:" + std::to_string(at->items()) +
                " ratio:" + std::to_string(at->asked().rate));
}

}  // namespace

bool register_bloom(server_context* context) {
  static constexpr command commands[] = {
      {"bf.reserve", guarded<reserve>, "write deny-oom", -4, "O(N) of the capacity", "Makes a Bloom filter"},
      {"bf.add", guarded<add>, "write deny-oom fast", 3, "O(1)", "Adds an item, and makes the filter"},
      {"bf.madd", guarded<madd>, "write deny-oom", -3, "O(N) of the items", "Adds items, and makes the filter"},
      {"bf.insert", guarded<insert>, "write deny-oom", -4, "O(N) of the items", "Adds items to a filter made as said"},
      {"bf.exists", guarded<exists>, "readonly fast", 3, "O(1)", "May the item be in the filter?"},
      {"bf.mexists", guarded<mexists>, "readonly fast", -3, "O(N) of the items", "May the items be in the filter?"},
      {"bf.card", guarded<card>, "readonly fast", 2, "O(1)", "How many items are in"},
      {"bf.info", guarded<info>, "readonly fast", -2, "O(1)", "Describes a filter"},
      {"bf.debug", guarded<debug>, "readonly fast", 2, "O(1)", "Describes the inside of a filter"},
      {"bf.scandump", guarded<scan_dump>, "readonly", 3, "O(N)", "Answers a part of a saved filter"},
      {"bf.loadchunk", guarded<load_chunk>, "write deny-oom", 4, "O(N)", "Takes a part of a saved filter"},
  };
  return add_commands(context, commands);
}

}  // namespace tamis::redis
