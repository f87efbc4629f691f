// CF.*: a cuckoo filter's commands as RedisBloom's users know them, on evergreen in mode MULTI.

#include "server.hpp"

namespace tamis::redis {
namespace {

using outcome = value::add_result;

constexpr std::uint64_t most_capacity = std::uint64_t{1} << 30;

request cuckoo_request(std::uint64_t capacity) {
  request asked;
  asked.family = family::cuckoo;
  asked.mode = add_mode::multi;
  asked.capacity = capacity;
  asked.expansion = 1;
  return asked;
}

int make(const call& c, opened& at, const request& asked) {
  const status made = create(c, at, asked);
  if (made) return ok;
  c.error(made.code() == error_code::no_memory ? std::string("Insufficient memory to create the filter")
                                               : "ERR " + made.message());
  return failed;
}

int reserve(const call& c) {
  if (c.count < 3 || c.count % 2 == 0) return api.WrongArity(c.context);
  const auto capacity = whole_number(c[2]);
  if (!capacity) return c.error("Bad capacity");
  request asked = cuckoo_request(*capacity);
  struct limits {
    std::string_view name;
    std::uint64_t* to;
    std::uint64_t least;
    std::uint64_t most;
  };
  const limits known[] = {{"BUCKETSIZE", &asked.bucket_size, 1, 255},
                          {"MAXITERATIONS", &asked.max_iterations, 1, 65535},
                          {"EXPANSION", &asked.expansion, 0, 32768}};
  for (int i = 3; i < c.count; i += 2) {
    for (const limits& one : known) {
      if (!equals(c[i], one.name)) continue;
      const auto number = whole_number(c[i + 1]);
      if (!number) return c.error("Couldn't parse " + std::string(one.name));
      if (*number < one.least || *number > one.most) {
        return c.error(std::string(one.name) + ": value must be in the range [" + std::to_string(one.least) + ", " +
                       std::to_string(one.most) + "]");
      }
      *one.to = *number;
    }
  }
  if (asked.capacity < 2 * asked.bucket_size || asked.capacity > most_capacity) {
    return c.error("Capacity must be in the range [2 * BUCKETSIZE, 1073741824]");
  }
  asked.scales = asked.expansion != 0;
  opened at(c, open_read | open_write);
  if (at.foreign()) return c.error(wrong_type);
  if (!at.missing()) return c.error("ERR item exists");
  if (make(c, at, asked) != ok) return ok;
  return c.done();
}

template <bool OnlyAbsent>
int add(const call& c) {
  opened at(c, open_read | open_write);
  if (at.foreign()) return c.error(wrong_type);
  if (at.missing() && make(c, at, cuckoo_request(static_cast<std::uint64_t>(config.cf_capacity))) != ok) return ok;
  const added all = add_items(c, at, 2, 3, OnlyAbsent, "tamis.add");
  if (!all.refused.empty()) return c.error(all.refused == "full" ? "Filter is full" : "ERR no memory: " + all.refused);
  return c.truth(all.items[0] == outcome::added);
}

// A refused item is -1, and the others follow; INSERTNX answers integers in RESP3, too.
template <bool OnlyAbsent>
int insert(const call& c) {
  request asked = cuckoo_request(static_cast<std::uint64_t>(config.cf_capacity));
  bool creates = true;
  int first = 0;
  for (int i = 2; i < c.count && first == 0; ++i) {
    const std::string_view word = c[i];
    const char letter = word.empty() ? '\0' : static_cast<char>(word[0] & ~0x20);
    if (letter == 'I') {
      first = i + 1;
    } else if (letter == 'N') {
      creates = false;
    } else if (letter == 'C') {
      const auto capacity = i + 1 < c.count ? whole_number(c[++i]) : std::nullopt;
      if (!capacity || *capacity < 2 * asked.bucket_size || *capacity > most_capacity) return c.error("Bad capacity");
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
  std::vector<outcome> all;
  for (int from = first; from < c.count;) {
    const added some = add_items(c, at, from, c.count, OnlyAbsent, "tamis.add");
    all.insert(all.end(), some.items.begin(), some.items.end());
    from += static_cast<int>(some.items.size());
  }
  c.array(all.size());
  const bool as_truth = !OnlyAbsent && c.resp3();
  for (const outcome one : all) {
    if (as_truth) {
      c.truth(one == outcome::added);
    } else {
      api.ReplyWithLongLong(c.context, one == outcome::full ? -1 : one == outcome::added ? 1 : 0);
    }
  }
  return ok;
}

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

int count(const call& c) {
  opened at(c, open_read);
  return c.number(at.what() == opened::state::ours ? at->count(at->digest_of(c[2])) : 0);
}

int del(const call& c) {
  opened at(c, open_read | open_write);
  if (at.foreign()) return c.error(wrong_type);
  if (at.missing()) return c.error("Not found");
  if (!at->can_erase()) return c.error("ERR this value cannot delete");
  const bool gone = at->erase(at->digest_of(c[2]), c.change());
  if (gone) {
    api.Replicate(c.context, "TAMIS.DEL", "ss", c.key(), c.arguments[2]);
    changed(c, "tamis.del");
  }
  return c.truth(gone);
}

// Nothing to do: evergreen has one table, which deletes leave compact.
int compact(const call& c) {
  opened at(c, open_read);
  if (at.foreign()) return c.error(wrong_type);
  if (at.missing()) return c.error("Not found");
  return c.done();
}

int info(const call& c) {
  opened at(c, open_read);
  if (at.foreign()) return c.error(wrong_type);
  if (at.missing()) return c.error("ERR not found");
  const request& asked = at->asked();
  const std::pair<std::string_view, std::uint64_t> shown[] = {
      {"Size", at->bytes()},
      {"Number of buckets", std::max<std::uint64_t>(1, at->capacity() / std::max<std::uint64_t>(1, asked.bucket_size))},
      {"Number of filters", 1},
      {"Number of items inserted", at->items()},
      {"Number of items deleted", at->erased()},
      {"Bucket size", asked.bucket_size},
      {"Expansion rate", asked.expansion},
      {"Max iterations", asked.max_iterations}};
  c.resp3() ? api.ReplyWithMap(c.context, 8) : c.array(16);
  for (const auto& [title, number] : shown) {
    c.text(title);
    c.number(number);
  }
  return ok;
}

int debug(const call& c) {
  opened at(c, open_read);
  if (!usable(c, at)) return ok;
  const request& asked = at->asked();
  return c.text("bktsize:" + std::to_string(asked.bucket_size) +
                " buckets:" + std::to_string(at->capacity() / std::max<std::uint64_t>(1, asked.bucket_size)) +
                " items:" + std::to_string(at->items()) + " deletes:" + std::to_string(at->erased()) +
                " filters:1 max_iterations:" + std::to_string(asked.max_iterations) +
                " expansion:" + std::to_string(asked.expansion));
}

}  // namespace

bool register_cuckoo(server_context* context) {
  static constexpr command commands[] = {
      {"cf.reserve", guarded<reserve>, "write deny-oom", -3, "O(N) of the capacity", "Makes a cuckoo filter"},
      {"cf.add", guarded<add<false>>, "write deny-oom fast", 3, "O(1)", "Adds an item, and makes the filter"},
      {"cf.addnx", guarded<add<true>>, "write deny-oom fast", 3, "O(1)", "Adds an item unless it may be in already"},
      {"cf.insert", guarded<insert<false>>, "write deny-oom", -4, "O(N) of the items", "Adds items to a filter made as said"},
      {"cf.insertnx", guarded<insert<true>>, "write deny-oom", -4, "O(N) of the items", "Adds items that are not in already"},
      {"cf.exists", guarded<exists>, "readonly fast", 3, "O(1)", "May the item be in the filter?"},
      {"cf.mexists", guarded<mexists>, "readonly fast", -3, "O(N) of the items", "May the items be in the filter?"},
      {"cf.count", guarded<count>, "readonly fast", 3, "O(1)", "How often an item is in, at most"},
      {"cf.del", guarded<del>, "write fast", 3, "O(1)", "Takes out an item that is in"},
      {"cf.compact", guarded<compact>, "write", 2, "O(1)", "Does nothing: a filter is one table"},
      {"cf.info", guarded<info>, "readonly fast", 2, "O(1)", "Describes a filter"},
      {"cf.debug", guarded<debug>, "readonly fast", 2, "O(1)", "Describes the inside of a filter"},
      {"cf.scandump", guarded<scan_dump>, "readonly", 3, "O(N)", "Answers a part of a saved filter"},
      {"cf.loadchunk", guarded<load_chunk>, "write deny-oom", 4, "O(N)", "Takes a part of a saved filter"},
  };
  return add_commands(context, commands);
}

}  // namespace tamis::redis
