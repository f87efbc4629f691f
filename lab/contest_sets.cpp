#include "lab/contest_sets.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <unordered_set>

#include "lab/key_file.hpp"
#include "lab/workload.hpp"
#include "tamis/detail/base/random.hpp"
#include "tamis/hasher.hpp"

namespace tamis::lab {

using namespace detail;

namespace {

namespace fs = std::filesystem;

struct digest_hash {
  std::size_t operator()(digest d) const { return mix64(d.high ^ d.low); }
};
using digest_set = std::unordered_set<digest, digest_hash>;

struct stream_terms {
  const char* name;
  const char* workload;
  std::vector<std::pair<std::string, std::string>> options;
  std::uint64_t queries;
  double distinct_per_member;
};

std::string scaled(std::uint64_t count, unsigned hundredths) { return std::to_string(count * hundredths / 100); }

std::vector<stream_terms> streams(unsigned hundredths) {
  return {{"zipf D/n=2", "zipf", {{"keys", scaled(1'000'000, hundredths)}, {"s", "1"}}, 2'000'000, 2},
          {"activeset D/n=1", "firehose-activeset", {{"active", scaled(131'000, hundredths)}}, 2'000'000, 1},
          {"powerlaw D/n=1", "firehose-powerlaw", {{"keys", scaled(400'000, hundredths)}}, 4'000'000, 1},
          {"packets D/n=1", "packets", {{"flows", scaled(200'000, hundredths)}}, 4'000'000, 1},
          {"repeats D/n=3", "uniform-repeats", {{"keys", scaled(300'000, hundredths)}}, 1'500'000, 3}};
}

result<contest_set> generated(const stream_terms& terms, unsigned hundredths, std::uint64_t seed) {
  TAMIS_TRY(const auto stream, make_workload(terms.workload, terms.options, seed));
  std::vector<std::uint64_t> ids(terms.queries * hundredths / 100);
  ids.resize(stream->next(ids));
  const std::unordered_set<std::uint64_t> distinct(ids.begin(), ids.end());
  const hasher hash;
  contest_set made{terms.name, {}, {}};
  made.log.reserve(ids.size());
  for (const std::uint64_t id : ids) made.log.push_back(hash(id));
  const auto members = static_cast<std::uint64_t>(static_cast<double>(distinct.size()) / terms.distinct_per_member);
  for (std::uint64_t i = 0; i < members; ++i) made.members.push_back(hash(stream->outsider(i)));
  return made;
}

std::vector<digest> without_copies(const std::vector<digest>& keys) {
  digest_set seen;
  std::vector<digest> once;
  for (const digest d : keys) {
    if (seen.insert(d).second) once.push_back(d);
  }
  return once;
}

enum class content { keys, reads };

status read_keys(const std::string& path, content holds, std::vector<digest>& into) {
  const hasher hash;
  return for_each_line(path, [&](std::string_view line) {
    if (holds == content::reads) {
      for_each_kmer(line, [&](std::uint64_t kmer) { into.push_back(hash(kmer)); });
    } else {
      into.push_back(hash(line));
    }
  });
}

// What a file is to the set that its name says.
struct part {
  std::string set;
  enum { members, log } is;
  content holds;
};
std::optional<part> part_of(const fs::path& file) {
  const std::string name = file.filename().string();
  const std::string stem = name.substr(0, name.find('.'));
  if (stem.empty() || name.ends_with(".md") || name.ends_with(".json")) return std::nullopt;
  for (const auto& [word, is] : {std::pair{"_members", part::members}, std::pair{"_queries", part::log}}) {
    const std::size_t at = stem.find(word);
    if (at != std::string::npos && at != 0) return part{stem.substr(0, at), is, content::keys};
  }
  if (stem.starts_with("kmer_") && (stem.ends_with("_A") || stem.ends_with("_B"))) {
    return part{stem.substr(0, stem.size() - 2), stem.back() == 'A' ? part::members : part::log, content::reads};
  }
  return part{stem, part::log, content::keys};
}

}  // namespace

void for_each_kmer(std::string_view read, const std::function<void(std::uint64_t)>& use) {
  constexpr unsigned k = 27;
  constexpr std::uint64_t mask = (std::uint64_t{1} << 2 * k) - 1;
  constexpr std::string_view bases = "ACGT";  // the complement of base b is base 3 - b
  std::uint64_t forward = 0;
  std::uint64_t backward = 0;
  unsigned known = 0;  // bases since the last that could not be read
  for (const char c : read) {
    const std::size_t base = bases.find(c);
    if (base == std::string_view::npos) {
      known = 0;
      continue;
    }
    forward = (forward << 2 | base) & mask;
    backward = backward >> 2 | std::uint64_t{3 - base} << 2 * (k - 1);
    if (++known >= k) use(std::min(forward, backward));
  }
}

result<std::vector<contest_set>> generated_sets(unsigned hundredths, std::uint64_t seed) {
  std::vector<contest_set> made;
  for (const stream_terms& terms : streams(hundredths)) {
    TAMIS_TRY(contest_set set, generated(terms, hundredths, seed));
    made.push_back(std::move(set));
  }
  return made;
}

result<std::vector<contest_set>> sets_of_folder(const std::string& folder) {
  std::error_code failed;
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, failed)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  if (failed) return failure{folder + ": cannot be read: " + failed.message()};
  std::sort(files.begin(), files.end());
  std::map<std::string, contest_set> sets;
  for (const fs::path& file : files) {
    const std::optional<part> of = part_of(file);
    if (!of) continue;
    contest_set& set = sets[of->set];
    set.name = of->set;
    TAMIS_CHECK(read_keys(file.string(), of->holds, of->is == part::members ? set.members : set.log));
  }
  std::vector<contest_set> made;
  for (auto& [name, set] : sets) {
    if (set.log.empty()) return failure{folder + ": " + name + " has members and no queries"};
    set.members = without_copies(set.members);
    made.push_back(std::move(set));
  }
  return made;
}

contest_ground ground_of(const contest_set& set, std::uint64_t hash_seed, std::uint64_t split) {
  const hasher hash = hasher::fast(hash_seed);
  const auto seen_as = [&hash](digest d) { return hash(std::as_bytes(std::span(&d, 1))); };
  const auto is_chosen = [split](digest d) { return (mix64(d.high ^ mix64(split)) & 1) != 0; };
  contest_ground made;
  digest_set members(set.members.begin(), set.members.end());
  digest_set others;
  if (set.members.empty()) {
    for (const digest d : set.log) {
      if (is_chosen(d) && members.insert(d).second) made.members.push_back(seen_as(d));
    }
  }
  for (const digest d : set.members) made.members.push_back(seen_as(d));
  for (const digest d : set.log) {
    if (members.contains(d)) continue;
    others.insert(d);
    made.queries.push_back(seen_as(d));
  }
  made.distinct = others.size();
  for (const digest d : made.members) made.stored.insert(d);
  return made;
}

}  // namespace tamis::lab
