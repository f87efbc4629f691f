#include "lab/workload.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "lab/workload/kinds.hpp"
#include "tamis/detail/base/random.hpp"

namespace tamis::lab {

using namespace detail;

namespace {

std::span<const workload_kind* const> kinds() {
  static constexpr std::array all = {
      &firehose_activeset_kind, &firehose_powerlaw_kind, &packets_kind, &uniform_kind, &uniform_repeats_kind, &zipf_kind};
  return all;
}

std::string known_names() {
  std::string list;
  for (const workload_kind* kind : kinds()) list.append(list.empty() ? "" : ", ").append(kind->info.name);
  return list;
}

// Workloads of one seed are independent of each other.
std::uint64_t seed_for(std::string_view name, std::uint64_t seed) {
  for (const char c : name) seed = mix64(seed ^ static_cast<unsigned char>(c)) + 0x9e3779b97f4a7c15u;
  return seed;
}

}  // namespace

std::span<const workload_info> workloads() {
  static const std::vector<workload_info> infos = [] {
    std::vector<workload_info> list;
    for (const workload_kind* kind : kinds()) list.push_back(kind->info);
    return list;
  }();
  return infos;
}

result<std::unique_ptr<workload>> make_workload(std::string_view name, workload_options options, std::uint64_t seed) {
  const auto all = kinds();
  const auto at = std::find_if(all.begin(), all.end(), [&](const workload_kind* kind) { return kind->info.name == name; });
  if (at == all.end()) return failure{"workload '" + std::string(name) + "': not known; the workloads are " + known_names()};
  TAMIS_TRY(const option_values values, option_values::parse((*at)->info, options));
  return (*at)->make(values, seed_for(name, seed));
}

void workload::append_text(std::uint64_t id, std::string& out) const {
  char digits[20];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, id).ptr);
}

std::string workload::text(std::uint64_t id) const {
  std::string line;
  append_text(id, line);
  return line;
}

std::string workload::bytes(std::uint64_t id) const {
  std::string packed(8, '\0');
  for (char& byte : packed) {
    byte = static_cast<char>(id & 0xff);
    id >>= 8;
  }
  return packed;
}

member_split::member_split(std::vector<std::uint64_t> members)
    : members_(std::move(members)), lookup_(members_.begin(), members_.end()) {}

std::size_t member_split::next_queries(workload& stream, std::span<std::uint64_t> ids) const {
  std::size_t kept = 0;
  while (kept < ids.size()) {
    const std::span<std::uint64_t> room = ids.subspan(kept);
    const std::size_t drawn = stream.next(room);
    const auto queries = room.first(drawn);
    const auto end = std::remove_if(queries.begin(), queries.end(), [&](std::uint64_t id) { return is_member(id); });
    kept += static_cast<std::size_t>(end - queries.begin());
    if (drawn < room.size()) break;
  }
  return kept;
}

result<member_split> split_members(workload& stream, std::uint64_t n, std::uint64_t most_draws) {
  const std::string wanted = "members: " + std::to_string(n) + " wanted, but the workload ";
  if (const auto keys = stream.distinct_keys(); keys && n >= *keys) {
    return failure{wanted + "has " + std::to_string(*keys) + " keys, and at least one must be left for the queries"};
  }
  std::vector<std::uint64_t> members;
  std::unordered_set<std::uint64_t> seen;
  std::array<std::uint64_t, 1024> batch{};
  for (std::uint64_t drawn = 0; members.size() < n;) {
    // A batch no larger than what is missing cannot read past the id that completes the set.
    const std::uint64_t ask = std::min<std::uint64_t>({batch.size(), n - members.size(), most_draws - drawn});
    const std::size_t got = stream.next(std::span(batch).first(ask));
    drawn += got;
    for (const std::uint64_t id : std::span(batch).first(got)) {
      if (seen.insert(id).second) members.push_back(id);
    }
    if (members.size() == n) break;
    if (got < ask) return failure{wanted + "ended after " + std::to_string(members.size()) + " different keys"};
    if (drawn == most_draws) {
      return failure{wanted + "showed only " + std::to_string(members.size()) + " different keys in " + std::to_string(drawn) +
                     " draws"};
    }
  }
  return member_split(std::move(members));
}

}  // namespace tamis::lab
