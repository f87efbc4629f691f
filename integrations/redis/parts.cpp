// Values in parts: TAMIS.DUMP and LOAD, RedisBloom's SCANDUMP and LOADCHUNK, and what the append-only file is rewritten with. A
// key appears whole, with its last part, or not at all.

#include <cstring>
#include <functional>
#include <map>

#include "server.hpp"

namespace tamis::redis {
namespace {

constexpr std::uint64_t part_bytes = 16 << 20;
constexpr std::uint64_t most_parts = 1 << 20;

// Before the bytes of a part: the length of all, and where this part begins.
struct part_head {
  std::uint64_t total;
  std::uint64_t offset;
};

std::string part_of(part_head head, std::string_view bytes) {
  std::string part(sizeof(head) + bytes.size(), '\0');
  std::memcpy(part.data(), &head, sizeof(head));
  bytes.copy(part.data() + sizeof(head), bytes.size());
  return part;
}

std::uint64_t parts_in(std::uint64_t bytes) { return (bytes + part_bytes - 1) / part_bytes; }

// Keeps one part of what is written, and counts all of it: a dump takes the memory of a part, not of a value.
class one_part final : public byte_sink {
 public:
  explicit one_part(std::uint64_t number) : offset_(std::min(number, most_parts) * part_bytes) {}
  status write(std::span<const std::byte> bytes) override {
    const std::uint64_t begin = std::max(total_, offset_);
    const std::uint64_t end = std::min(total_ + bytes.size(), offset_ + part_bytes);
    if (begin < end) kept_.append(reinterpret_cast<const char*>(bytes.data()) + (begin - total_), end - begin);
    total_ += bytes.size();
    return {};
  }
  std::uint64_t parts() const { return parts_in(total_); }
  std::string part() const { return part_of({total_, offset_}, kept_); }

 private:
  std::uint64_t offset_;
  std::uint64_t total_ = 0;
  std::string kept_;
};

// Hands on part after part.
class into_parts final : public byte_sink {
 public:
  into_parts(std::uint64_t total, std::function<void(const std::string&)> hand_on)
      : total_(total), hand_on_(std::move(hand_on)) {}
  status write(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const std::size_t size = std::min<std::size_t>(bytes.size(), part_bytes - kept_.size());
      kept_.append(reinterpret_cast<const char*>(bytes.data()), size);
      bytes = bytes.subspan(size);
      if (kept_.size() == part_bytes) flush();
    }
    return {};
  }
  void flush() {
    if (!kept_.empty()) hand_on_(part_of({total_, offset_}, kept_));
    offset_ += kept_.size();
    kept_.clear();
  }

 private:
  std::uint64_t total_;
  std::uint64_t offset_ = 0;
  std::function<void(const std::string&)> hand_on_;
  std::string kept_;
};

// Values that are being loaded, beside the keyspace.
struct waiting {
  std::vector<std::byte> bytes;
  std::uint64_t total = 0;
  std::int64_t touched = 0;
};
using place = std::pair<int, std::string>;  // database and key
std::map<place, waiting>& arriving() {
  static std::map<place, waiting> all;
  return all;
}
constexpr std::size_t most_arriving = 8;

int dump(const call& c) {
  opened at(c, open_read);
  if (!usable(c, at)) return ok;
  const auto number = whole_number(c[2]);
  one_part sink(number.value_or(most_parts));
  at->save(sink).value();
  if (!number || *number >= sink.parts()) return c.error("ERR no such part");
  c.array(2);
  c.number(sink.parts());
  return c.text(sink.part());
}

// Appends a part to those that are here. Answers why not, or nothing.
std::string append_part(const call& c, const place& name, part_head head, std::span<const std::byte> bytes) {
  auto& all = arriving();
  if (head.offset == 0) {
    all.erase(name);
    if (all.size() >= most_arriving && !c.must_obey()) return "ERR too many values are being loaded";
    all[name].total = head.total;
  }
  const auto found = all.find(name);
  if (found == all.end() || found->second.total != head.total || found->second.bytes.size() != head.offset || bytes.empty() ||
      bytes.size() > head.total - head.offset) {
    if (found != all.end()) all.erase(found);
    return "ERR received bad data: parts have to come in order";
  }
  waiting& here = found->second;
  here.bytes.insert(here.bytes.end(), bytes.begin(), bytes.end());
  here.touched = now_ms();
  return {};
}

// All parts together: a replica that came in between has not seen the earlier ones.
void replicate_parts(const call& c, std::span<const std::byte> bytes) {
  into_parts sink(bytes.size(), [&](const std::string& part) {
    api.Replicate(c.context, "TAMIS.LOAD", "sb", c.key(), part.data(), part.size());
  });
  sink.write(bytes).value();
  sink.flush();
}

// Takes one part; answers how many are missing, or nothing after it has replied with an error.
std::optional<std::uint64_t> take_part(const call& c, std::string_view part) {
  opened at(c, open_read | open_write);
  const auto refuse = [&](const std::string& why) {
    ++seen_in_all.load_failures;
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
  const place name(api.GetSelectedDb(c.context), std::string(c[1]));
  const std::string wrong = append_part(c, name, head, std::as_bytes(std::span(part.substr(sizeof(head)))));
  if (!wrong.empty()) return refuse(wrong);
  const auto found = arriving().find(name);
  if (const std::uint64_t here = found->second.bytes.size(); here < head.total) return parts_in(head.total - here);
  const waiting whole = std::move(found->second);
  arriving().erase(found);
  memory_source source(whole.bytes);
  auto made = value::load(source, limit, now_ms());
  if (!made) return refuse("ERR received bad data: " + made.message());
  if (beyond_maxmemory(c)) return refuse("ERR no memory: the value does not fit into maxmemory");
  at.set(*std::move(made));
  replicate_parts(c, whole.bytes);
  changed(c, "tamis.load");
  return 0;
}

int load(const call& c) {
  const auto missing = take_part(c, c[2]);
  return missing ? c.number(*missing) : ok;
}

}  // namespace

void drop_abandoned_parts() {
  if (arriving().empty()) return;
  const std::int64_t now = now_ms();
  std::erase_if(arriving(), [now](const auto& one) { return now - one.second.touched > config.load_timeout_ms; });
}

// The same parts under the names of RedisBloom: an iterator is the number of the next part.
int scan_dump(const call& c) {
  opened at(c, open_read);
  if (!usable(c, at)) return ok;
  const auto number = whole_number(c[2]);
  if (!number) return c.error("Second argument must be numeric");
  one_part sink(*number);
  at->save(sink).value();
  c.array(2);
  if (*number >= sink.parts()) {
    c.number(0);
    return at->asked().family == family::cuckoo ? api.ReplyWithNull(c.context) : c.text("");
  }
  c.number(*number + 1);
  return c.text(sink.part());
}

int load_chunk(const call& c) {
  if (!whole_number(c[2])) return c.error("Second argument must be numeric");
  return take_part(c, c[3]) ? c.done() : ok;
}

void emit_parts(server_io* io, server_string* key, const value& v) {
  const value::saved whole(v);
  into_parts sink(whole.bytes(),
                  [&](const std::string& part) { api.EmitAOF(io, "TAMIS.LOAD", "sb", key, part.data(), part.size()); });
  whole.write(sink).value();
  sink.flush();
}

bool register_parts(server_context* context) {
  static constexpr command commands[] = {
      {"tamis.dump", guarded<dump>, "readonly", 3, "O(N)", "Answers the number of parts of a saved value, and one of them"},
      {"tamis.load", guarded<load>, "write deny-oom", 3, "O(N)",
       "Takes one part of a saved value; the key appears with the last"},
  };
  return add_commands(context, commands);
}

}  // namespace tamis::redis
