// TAMIS.*: every offered filter by name.

#include <array>
#include <cstring>
#include <map>

#include "server.hpp"

namespace tamis::redis {
namespace {

using outcome = value::add_result;
constexpr std::size_t part_bytes = 16 << 20;
constexpr std::int64_t long_ago = recent_adds::always / 2;

int usable(const call& c, const opened& at) {
  if (at.foreign()) return c.error(wrong_type), failed;
  if (at.missing()) return c.error("ERR not found"), failed;
  return ok;
}

std::optional<std::uint64_t> hex_word(std::string_view text) {
  std::uint64_t word = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), word, 16);
  if (text.empty() || text.size() > 16 || read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return word;
}

failure bad(std::string_view what, std::string_view text) {
  return {"bad " + std::string(what) + " '" + std::string(text) + "'"};
}

status take_number(const call& c, int& i, std::string_view name, std::uint64_t& to) {
  if (i + 1 >= c.count) return failure{"no value for " + std::string(name)};
  const auto number = whole_number(c[++i]);
  if (!number) return bad(name, c[i]);
  to = *number;
  return {};
}

status take_word(const call& c, int& i, request& asked) {
  const std::string_view name = c[i];
  const auto has = [&](int more) { return i + more < c.count; };
  if (equals(name, "NONSCALING")) return asked.scales = false, status{};
  if (equals(name, "MISTAKES")) return take_number(c, i, name, asked.mistakes);
  if (equals(name, "MEMORY")) return take_number(c, i, name, asked.memory);
  if (equals(name, "EXPANSION")) return take_number(c, i, name, asked.expansion);
  if (equals(name, "BUCKETSIZE")) return take_number(c, i, name, asked.bucket_size);
  if (equals(name, "MAXITERATIONS")) return take_number(c, i, name, asked.max_iterations);
  if (equals(name, "KEYED")) {
    asked.hash = hash_family::keyed;
    api.GetRandomBytes(reinterpret_cast<unsigned char*>(asked.secret.data()), sizeof(asked.secret));
    return {};
  }
  if (equals(name, "OPT") && has(2)) {
    asked.options.emplace_back(std::string(c[i + 1]), std::string(c[i + 2]));
    i += 2;
    return {};
  }
  if (!has(1)) return bad("argument", name);
  const std::string_view text = c[++i];
  if (equals(name, "MODE")) {
    asked.mode = equals(text, "MULTI") ? add_mode::multi : add_mode::set;
    return equals(text, "MULTI") || equals(text, "SET") ? status{} : bad("mode", text);
  }
  if (equals(name, "FAMILY")) {
    asked.family = equals(text, "BF") ? family::bloom : equals(text, "CF") ? family::cuckoo : family::tamis;
    return {};
  }
  if (equals(name, "SEED")) {
    const auto seed = hex_word(text);
    if (!seed) return bad("seed", text);
    asked.hash = hash_family::fast;
    asked.secret = {*seed, 0};
    return {};
  }
  if (equals(name, "SECRET") && text.size() == 32) {
    const auto high = hex_word(text.substr(0, 16));
    const auto low = hex_word(text.substr(16));
    if (!high || !low) return bad("secret", "(hidden)");
    asked.hash = hash_family::keyed;
    asked.secret = {*high, *low};
    return {};
  }
  return bad("argument", name);
}

int reserve(const call& c) {
  if (c.count < 5) return api.WrongArity(c.context);
  opened at(c, open_read | open_write);
  if (at.foreign()) return c.error(wrong_type);
  if (!at.missing()) return c.error("ERR item exists");
  request asked;
  asked.filter = std::string(c[2]);
  const auto rate = real_number(c[3]);
  const auto capacity = whole_number(c[4]);
  if (!rate || !(*rate > 0 && *rate < 1)) return c.error("ERR bad error rate");
  if (!capacity || *capacity == 0) return c.error("ERR bad capacity");
  asked.rate = *rate;
  asked.capacity = *capacity;
  for (int i = 5; i < c.count; ++i) {
    if (const status taken = take_word(c, i, asked); !taken) return c.error("ERR " + taken.message());
  }
  if (const status made = create(c, at, asked); !made) return c.error("ERR " + made.message());
  return c.done();
}

int add(const call& c) {
  if (c.count != 3) return api.WrongArity(c.context);
  opened at(c, open_read | open_write);
  if (usable(c, at) != ok) return ok;
  const bool before = at->may_contain(at->digest_of(c[2]));
  const added all = add_items(c, at, 2, 3, false, "tamis.add");
  if (!all.refused.empty()) return c.error(all.refused == "full" ? "ERR filter is full" : "ERR no memory: " + all.refused);
  return c.truth(!before);
}

int madd(const call& c) {
  if (c.count < 3) return api.WrongArity(c.context);
  opened at(c, open_read | open_write);
  if (usable(c, at) != ok) return ok;
  const added all = add_items(c, at, 2, c.count, false, "tamis.add");
  c.array(all.items.size());
  for (const outcome one : all.items) {
    if (one == outcome::full) {
      c.error(all.refused == "full" ? "ERR filter is full" : "ERR no memory: " + all.refused);
    } else {
      c.truth(one == outcome::added);
    }
  }
  return ok;
}

int exists(const call& c) {
  if (c.count != 3) return api.WrongArity(c.context);
  opened at(c, open_read);
  if (at.foreign()) return c.error(wrong_type);
  if (at.missing()) return c.truth(false);
  const bool found = at->may_contain(at->digest_of(c[2]));
  ++at->seen_here.checks;
  at->seen_here.maybes += found ? 1 : 0;
  return c.truth(found);
}

int mexists(const call& c) {
  if (c.count < 3) return api.WrongArity(c.context);
  opened at(c, open_read);
  if (at.foreign()) return c.error(wrong_type);
  c.array(static_cast<std::size_t>(c.count - 2));
  if (!at.missing()) return ask(c, *at, 2, [&](bool found) { c.truth(found); }), ok;
  for (int i = 2; i < c.count; ++i) c.truth(false);
  return ok;
}

// A ticket says when a server was asked, by its own clock: 13 bits that a server draws when it starts, and milliseconds. It
// counts with that server only, and is below 2^53, which every client can hold.
class tickets {
 public:
  static std::uint64_t issue() { return run() << time_bits | (static_cast<std::uint64_t>(now_ms()) & time_mask); }
  // The time of the check, or nothing if it was asked elsewhere or is still to come.
  static std::optional<std::int64_t> time_of(std::uint64_t ticket) {
    const auto time = static_cast<std::int64_t>(ticket & time_mask);
    if (ticket >> time_bits != run() || time > now_ms()) return std::nullopt;
    return time;
  }

 private:
  static constexpr unsigned time_bits = 40;
  static constexpr std::uint64_t time_mask = (std::uint64_t{1} << time_bits) - 1;
  static std::uint64_t run() {
    static const std::uint64_t drawn = [] {
      std::uint16_t random = 0;
      api.GetRandomBytes(reinterpret_cast<unsigned char*>(&random), sizeof(random));
      return std::uint64_t{1} + random % 8191;
    }();
    return drawn;
  }
};

int check(const call& c) {
  if (c.count < 3) return api.WrongArity(c.context);
  opened at(c, open_read);
  if (usable(c, at) != ok) return ok;
  const std::uint64_t ticket = tickets::issue();
  c.array(static_cast<std::size_t>(c.count - 2));
  ask(c, *at, 2, [&](bool found) { c.number(found ? ticket : 0); });
  return ok;
}

int mistake(const call& c) {
  if (c.count < 3) return api.WrongArity(c.context);
  opened at(c, open_read | open_write);
  if (usable(c, at) != ok) return ok;
  const value::change how = c.change();
  int first = 2;
  // Without a ticket the report counts as one of a check at most a grace time ago.
  std::int64_t checked = how.now - config.grace_ms;
  if (c.count > 4 && equals(c[2], "TICKET")) {
    const auto ticket = whole_number(c[3]);
    if (!ticket || *ticket == 0) return c.error("ERR bad ticket");
    checked = tickets::time_of(*ticket).value_or(long_ago);
    first = 4;
  }
  static constexpr const char* words[] = {"fixed", "negative", "member", "recent", "unfixable"};
  std::vector<server_string*> fixed;
  std::vector<report_result> results;
  for (int i = first; i < c.count; ++i) {
    const report_result one = at->report(at->digest_of(c[i]), checked, config.grace_ms, how);
    ++at->seen_here.reports;
    at->seen_here.refused += one == report_result::recent ? 1 : 0;
    if (one == report_result::fixed) fixed.push_back(c.arguments[i]);
    results.push_back(one);
  }
  if (!fixed.empty()) {
    api.Replicate(c.context, "TAMIS.MISTAKE", "sv", c.key(), fixed.data(), fixed.size());
    changed(c, "tamis.mistake");
  }
  c.array(results.size());
  for (const report_result one : results) c.text(words[static_cast<int>(one)]);
  return ok;
}

int del(const call& c) {
  if (c.count < 3) return api.WrongArity(c.context);
  opened at(c, open_read | open_write);
  if (usable(c, at) != ok) return ok;
  if (at->asked().mode == add_mode::set) return c.error("ERR a value of mode SET cannot delete");
  if (!at->can_erase()) return c.error("ERR " + at->asked().filter + " cannot delete");
  const bool gone = at->erase(at->digest_of(c[2]), c.change());
  if (gone) {
    api.Replicate(c.context, "TAMIS.DEL", "ss", c.key(), c.arguments[2]);
    changed(c, "tamis.del");
  }
  return c.truth(gone);
}

int count(const call& c) {
  if (c.count != 3) return api.WrongArity(c.context);
  opened at(c, open_read);
  if (at.foreign()) return c.error(wrong_type);
  return c.number(at.missing() ? 0 : at->count(at->digest_of(c[2])));
}

int card(const call& c) {
  if (c.count != 2) return api.WrongArity(c.context);
  opened at(c, open_read);
  if (at.foreign()) return c.error(wrong_type);
  return c.number(at.missing() ? 0 : at->items());
}

int merge(const call& c) {
  if (c.count < 3) return api.WrongArity(c.context);
  opened to(c, open_read | open_write);
  if (usable(c, to) != ok) return ok;
  // Into a copy: either all sources are in, or nothing has changed.
  std::unique_ptr<value> both = to->clone();
  for (int i = 2; i < c.count; ++i) {
    if (c[i] == c[1]) continue;
    opened source(c, open_read, i);
    if (usable(c, source) != ok) return ok;
    if (const status merged = both->merge(*source, c.change()); !merged) return c.error("ERR " + merged.message());
  }
  to.set(std::move(both));
  api.ReplicateVerbatim(c.context);
  changed(c, "tamis.merge");
  return c.done();
}

int info(const call& c) {
  if (c.count != 2) return api.WrongArity(c.context);
  opened at(c, open_read);
  if (usable(c, at) != ok) return ok;
  const value::seen& seen = at->seen_here;
  const auto field = [&](std::string_view name, auto reply) {
    c.text(name);
    reply();
  };
  c.resp3() ? api.ReplyWithMap(c.context, 14) : c.array(28);
  field("filter", [&] { c.text(at->filter().kind()); });
  field("mode", [&] { c.text(at->asked().mode == add_mode::set ? "SET" : "MULTI"); });
  field("capacity", [&] { c.number(at->capacity()); });
  field("keys", [&] { c.number(at->items()); });
  field("bytes", [&] { c.number(at->bytes()); });
  field("rate asked", [&] { api.ReplyWithDouble(c.context, at->asked().rate); });
  field("rate expected", [&] { api.ReplyWithDouble(c.context, at->filter().expected_fpr()); });
  field("checks seen", [&] { c.number(seen.checks); });
  field("maybes seen", [&] { c.number(seen.maybes); });
  field("reports seen", [&] { c.number(seen.reports); });
  field("reports refused", [&] { c.number(seen.refused); });
  field("known mistakes", [&] { c.number(at->filter().known_mistakes()); });
  field("known mistakes limit", [&] { c.number(at->asked().mistakes); });
  field("version", [&] { c.number(at->version()); });
  return ok;
}

// A part of a saved value: the length of all, where this part begins, and its bytes.
struct part_head {
  std::uint64_t total;
  std::uint64_t offset;
};
std::string part_of(std::span<const std::byte> all, std::uint64_t offset) {
  const part_head head{all.size(), offset};
  const auto bytes = all.subspan(offset, std::min<std::size_t>(part_bytes, all.size() - offset));
  std::string part(sizeof(head) + bytes.size(), '\0');
  std::memcpy(part.data(), &head, sizeof(head));
  std::memcpy(part.data() + sizeof(head), bytes.data(), bytes.size());
  return part;
}

struct waiting {
  std::vector<std::byte> bytes;
  std::uint64_t total = 0;
};
// Values that are being loaded, beside the keyspace: a key appears whole or not at all.
std::map<std::pair<int, std::string>, waiting>& arriving() {
  static std::map<std::pair<int, std::string>, waiting> all;
  return all;
}
constexpr std::size_t most_arriving = 8;

int dump(const call& c) {
  if (c.count != 3) return api.WrongArity(c.context);
  opened at(c, open_read);
  if (usable(c, at) != ok) return ok;
  memory_sink sink;
  at->save(sink).value();
  const auto part = whole_number(c[2]);
  const std::uint64_t parts = (sink.bytes().size() + part_bytes - 1) / part_bytes;
  if (!part || *part >= parts) return c.error("ERR no such part");
  c.array(2);
  c.number(parts);
  return c.text(part_of(sink.bytes(), *part * part_bytes));
}

// Takes one part; answers how many are missing, or nothing after it has replied with an error.
std::optional<std::uint64_t> take_part(const call& c, std::string_view part) {
  opened at(c, open_read | open_write);
  const auto refuse = [&](const std::string& why) {
    c.error(why);
    return std::nullopt;
  };
  if (at.foreign()) return refuse(wrong_type);
  if (!at.missing()) return refuse("ERR item exists");
  part_head head{};
  if (part.size() < sizeof(head)) return refuse("ERR received bad data");
  std::memcpy(&head, part.data(), sizeof(head));
  const std::uint64_t limit = c.must_obey() ? 0 : static_cast<std::uint64_t>(config.memory_limit);
  if (limit != 0 && head.total > limit) return refuse("ERR no memory: the value is larger than tamis.memory-limit");
  auto& all = arriving();
  const auto name = std::pair(api.GetSelectedDb(c.context), std::string(c[1]));
  if (head.offset == 0) {
    all.erase(name);
    if (all.size() >= most_arriving) return refuse("ERR too many values are being loaded");
    all[name].total = head.total;
  }
  const auto found = all.find(name);
  const auto bytes = std::as_bytes(std::span(part.substr(sizeof(head))));
  if (found == all.end() || found->second.total != head.total || found->second.bytes.size() != head.offset ||
      bytes.size() > head.total - head.offset) {
    if (found != all.end()) all.erase(found);
    return refuse("ERR received bad data: parts have to come in order");
  }
  waiting& here = found->second;
  here.bytes.insert(here.bytes.end(), bytes.begin(), bytes.end());
  if (here.bytes.size() < here.total) return (here.total - here.bytes.size() + part_bytes - 1) / part_bytes;
  const waiting whole = std::move(here);
  all.erase(found);
  memory_source source(whole.bytes);
  auto made = value::load(source, limit, now_ms());
  if (!made) return refuse("ERR received bad data: " + made.message());
  at.set(*std::move(made));
  // All parts together: a replica that came in between has not seen the earlier ones.
  for (std::uint64_t offset = 0; offset < whole.bytes.size(); offset += part_bytes) {
    const std::string one = part_of(whole.bytes, offset);
    api.Replicate(c.context, "TAMIS.LOAD", "sb", c.key(), one.data(), one.size());
  }
  changed(c, "tamis.load");
  return 0;
}

int load(const call& c) {
  if (c.count != 3) return api.WrongArity(c.context);
  const auto missing = take_part(c, c[2]);
  return missing ? c.number(*missing) : ok;
}

}  // namespace

// The same parts under the names of RedisBloom: an iterator is the number of the next part.
int scan_dump(const call& c) {
  if (c.count != 3) return api.WrongArity(c.context);
  opened at(c, open_read);
  if (usable(c, at) != ok) return ok;
  const auto part = whole_number(c[2]);
  if (!part) return c.error("Second argument must be numeric");
  memory_sink sink;
  at->save(sink).value();
  c.array(2);
  if (*part >= (sink.bytes().size() + part_bytes - 1) / part_bytes) {
    c.number(0);
    return at->asked().family == family::cuckoo ? api.ReplyWithNull(c.context) : c.text("");
  }
  c.number(*part + 1);
  return c.text(part_of(sink.bytes(), *part * part_bytes));
}

int load_chunk(const call& c) {
  if (c.count != 4) return api.WrongArity(c.context);
  if (!whole_number(c[2])) return c.error("Second argument must be numeric");
  return take_part(c, c[3]) ? c.done() : ok;
}

// What the append-only file is rewritten with.
void emit_parts(server_io* io, server_string* key, const value& v) {
  memory_sink sink;
  v.save(sink).value();
  for (std::uint64_t offset = 0; offset < sink.bytes().size(); offset += part_bytes) {
    const std::string part = part_of(sink.bytes(), offset);
    api.EmitAOF(io, "TAMIS.LOAD", "sb", key, part.data(), part.size());
  }
}

bool register_tamis(server_context* context) {
  return add_command(context, "tamis.reserve", guarded<reserve>, "write deny-oom") &&
         add_command(context, "tamis.add", guarded<add>, "write deny-oom fast") &&
         add_command(context, "tamis.madd", guarded<madd>, "write deny-oom") &&
         add_command(context, "tamis.exists", guarded<exists>, "readonly fast") &&
         add_command(context, "tamis.mexists", guarded<mexists>, "readonly fast") &&
         add_command(context, "tamis.check", guarded<check>, "readonly fast") &&
         add_command(context, "tamis.mistake", guarded<mistake>, "write deny-oom") &&
         add_command(context, "tamis.del", guarded<del>, "write fast") &&
         add_command(context, "tamis.count", guarded<count>, "readonly fast") &&
         add_command(context, "tamis.card", guarded<card>, "readonly fast") &&
         add_command(context, "tamis.merge", guarded<merge>, "write deny-oom", -1) &&
         add_command(context, "tamis.info", guarded<info>, "readonly") &&
         add_command(context, "tamis.dump", guarded<dump>, "readonly") &&
         add_command(context, "tamis.load", guarded<load>, "write deny-oom");
}

}  // namespace tamis::redis
