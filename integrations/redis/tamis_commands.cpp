// TAMIS.*: every offered filter by name.

#include "server.hpp"

namespace tamis::redis {
namespace {

using outcome = value::add_result;

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
  opened at(c, open_read | open_write);
  if (!usable(c, at)) return ok;
  const bool before = at->may_contain(at->digest_of(c[2]));
  const added all = add_items(c, at, 2, 3, false, "tamis.add");
  if (!all.refused.empty()) return c.error(all.refused == "full" ? "ERR filter is full" : "ERR no memory: " + all.refused);
  return c.truth(!before);
}

int madd(const call& c) {
  opened at(c, open_read | open_write);
  if (!usable(c, at)) return ok;
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
  opened at(c, open_read);
  if (at.foreign()) return c.error(wrong_type);
  if (at.missing()) return c.truth(false);
  return c.truth(ask(c, *at));
}

int mexists(const call& c) {
  opened at(c, open_read);
  if (at.foreign()) return c.error(wrong_type);
  c.array(static_cast<std::size_t>(c.count - 2));
  if (!at.missing()) return ask(c, *at, 2, [&](bool found) { c.truth(found); }), ok;
  for (int i = 2; i < c.count; ++i) c.truth(false);
  return ok;
}

int del(const call& c) {
  opened at(c, open_read | open_write);
  if (!usable(c, at)) return ok;
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
  opened at(c, open_read);
  if (at.foreign()) return c.error(wrong_type);
  return c.number(at.missing() ? 0 : at->count(at->digest_of(c[2])));
}

int card(const call& c) {
  opened at(c, open_read);
  if (at.foreign()) return c.error(wrong_type);
  return c.number(at.missing() ? 0 : at->items());
}

int merge(const call& c) {
  opened to(c, open_read | open_write);
  if (!usable(c, to)) return ok;
  // Into a copy: either all sources are in, or nothing has changed.
  std::unique_ptr<value> both = to->clone();
  for (int i = 2; i < c.count; ++i) {
    if (c[i] == c[1]) continue;
    opened source(c, open_read, i);
    if (!usable(c, source)) return ok;
    if (const status merged = both->merge(*source, c.change()); !merged) return c.error("ERR " + merged.message());
  }
  if (beyond_maxmemory(c)) return c.error("ERR no memory: the merged value does not fit into maxmemory");
  to.set(std::move(both));
  api.ReplicateVerbatim(c.context);
  changed(c, "tamis.merge");
  return c.done();
}

int info(const call& c) {
  opened at(c, open_read);
  if (!usable(c, at)) return ok;
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

}  // namespace

bool register_tamis(server_context* context) {
  static constexpr command commands[] = {
      {"tamis.reserve", guarded<reserve>, "write deny-oom", -5, "O(N) of the capacity", "Makes a filter"},
      {"tamis.add", guarded<add>, "write deny-oom fast", 3, "O(1)", "Adds an item"},
      {"tamis.madd", guarded<madd>, "write deny-oom", -3, "O(N) of the items", "Adds items"},
      {"tamis.exists", guarded<exists>, "readonly fast", 3, "O(1)", "May the item be in the filter?"},
      {"tamis.mexists", guarded<mexists>, "readonly fast", -3, "O(N) of the items", "May the items be in the filter?"},
      {"tamis.del", guarded<del>, "write fast", 3, "O(1)", "Takes out an item that is in (mode MULTI)"},
      {"tamis.count", guarded<count>, "readonly fast", 3, "O(1)", "How often an item is in, at most"},
      {"tamis.card", guarded<card>, "readonly fast", 2, "O(1)", "How many items are in"},
      {"tamis.merge", guarded<merge>, "write deny-oom", -3, "O(N)", "Adds everything in the sources to the first key", -1},
      {"tamis.info", guarded<info>, "readonly", 2, "O(1)", "Describes a filter"},
  };
  return add_commands(context, commands) && register_adapting(context) && register_parts(context);
}

}  // namespace tamis::redis
