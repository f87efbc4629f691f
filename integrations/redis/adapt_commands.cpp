// Reports of mistakes: TAMIS.CHECK and MISTAKE for the list of known mistakes and for filters that adapt by themselves, RANGE
// and ADAPT for those who keep an ordered index of the digests themselves.

#include "server.hpp"

namespace tamis::redis {
namespace {

constexpr std::int64_t long_ago = recent_adds::always / 2;
constexpr const char* words[] = {"fixed", "negative", "member", "recent", "unfixable"};  // by report_result

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
  opened at(c, open_read);
  if (!usable(c, at)) return ok;
  const std::uint64_t ticket = tickets::issue();
  c.array(static_cast<std::size_t>(c.count - 2));
  ask(c, *at, 2, [&](bool found) { c.number(found ? ticket : 0); });
  return ok;
}

int mistake(const call& c) {
  opened at(c, open_read | open_write);
  if (!usable(c, at)) return ok;
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
  std::vector<server_string*> fixed;
  std::vector<report_result> results;
  for (int i = first; i < c.count; ++i) {
    const report_result one = at->report(at->digest_of(c[i]), checked, config.grace_ms, how);
    ++at->seen_here.reports;
    at->seen_here.refused += one == report_result::recent ? 1 : 0;
    seen_in_all.refused += one == report_result::recent ? 1 : 0;
    if (one == report_result::fixed) fixed.push_back(c.arguments[i]);
    results.push_back(one);
  }
  seen_in_all.reports += results.size();
  seen_in_all.fixed += fixed.size();
  if (!fixed.empty()) {
    api.Replicate(c.context, "TAMIS.MISTAKE", "sv", c.key(), fixed.data(), fixed.size());
    changed(c, "tamis.mistake");
  }
  c.array(results.size());
  for (const report_result one : results) c.text(words[static_cast<int>(one)]);
  return ok;
}

std::optional<digest> digest_in(std::string_view text) {
  if (text.size() != 32) return std::nullopt;
  const auto high = hex_word(text.substr(0, 16));
  const auto low = hex_word(text.substr(16));
  if (!high || !low) return std::nullopt;
  return digest{*high, *low};
}

int reply(const call& c, digest d) { return c.text(hex_of(d.high) + hex_of(d.low)); }

// The digests that somebody else keeps, as far as they were sent.
struct sent_digests {
  std::vector<digest> sorted;
  template <class Visit>
  void for_each_in(digest_range range, Visit&& visit) const {
    for (auto at = std::lower_bound(sorted.begin(), sorted.end(), range.first); at != sorted.end() && *at <= range.last; ++at) {
      if (!wants_more_after(visit, *at)) return;
    }
  }
};

bool takes_digests(const call& c, const opened& at) {
  if (!usable(c, at)) return false;
  if (at->can_adapt_in_table() && adapts_with_digests(at->asked().filter)) return true;
  c.error("ERR this value does not adapt with digests: a taf, utaf or exaf in MODE MULTI without MISTAKES does");
  return false;
}

// The version of the value, the digest of the item, and first and last digest of each range that an adapt has to know.
int range(const call& c) {
  opened at(c, open_read);
  if (!takes_digests(c, at)) return ok;
  const digest d = at->digest_of(c[2]);
  std::vector<digest_range> ranges;
  if (at->may_contain(d)) ranges = at->ranges_to_adapt(d);
  c.array(2 + 2 * ranges.size());
  c.number(at->version());
  reply(c, d);
  for (const digest_range& one : ranges) {
    reply(c, one.first);
    reply(c, one.last);
  }
  return ok;
}

int adapt(const call& c) {
  opened at(c, open_read | open_write);
  if (!takes_digests(c, at)) return ok;
  const auto version = whole_number(c[4]);
  if (!equals(c[3], "VERSION") || !version || !equals(c[5], "DIGESTS")) {
    return c.error("ERR syntax: TAMIS.ADAPT key item VERSION v DIGESTS digest...");
  }
  if (*version != at->version()) return c.error("ERR the value has changed: ask TAMIS.RANGE again");
  sent_digests sent;
  for (int i = 6; i < c.count; ++i) {
    const auto one = digest_in(c[i]);
    if (!one) return c.error("ERR bad digest '" + std::string(c[i]) + "'");
    sent.sorted.push_back(*one);
  }
  std::sort(sent.sorted.begin(), sent.sorted.end());
  const report_result done = at->adapt(at->digest_of(c[2]), remote_ref(sent), c.change());
  if (done == report_result::fixed) {
    ++seen_in_all.fixed;
    api.ReplicateVerbatim(c.context);
    changed(c, "tamis.mistake");
  }
  ++seen_in_all.reports;
  return c.text(words[static_cast<int>(done)]);
}

}  // namespace

bool register_adapting(server_context* context) {
  static constexpr command commands[] = {
      {"tamis.check", guarded<check>, "readonly fast", -3, "O(N) of the items", "Per item 0, or a ticket for a report"},
      {"tamis.mistake", guarded<mistake>, "write deny-oom", -3, "O(N) of the items", "Reports items that are not stored"},
      {"tamis.range", guarded<range>, "readonly", 3, "O(1)", "The digests that an adapt has to know"},
      {"tamis.adapt", guarded<adapt>, "write deny-oom", -6, "O(N) of the digests", "Fixes a mistake with the stored digests"},
  };
  return add_commands(context, commands);
}

}  // namespace tamis::redis
