#pragma once

// What contests at equal memory are played on: members, and a log of queries. A key is kept as a digest under a fixed seed;
// every run hashes it again under its own, so that one set gives as many independent runs as there are seeds.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/digest.hpp"
#include "tamis/memory_remote.hpp"
#include "tamis/result.hpp"

namespace tamis::lab {

struct contest_set {
  std::string name;
  std::vector<digest> members;  // all different; none: half of the log's different keys, chosen by the seed of a run
  std::vector<digest> log;
};

// Streams of the lab, from a hundredth (1) to all (100) of their size. Members are keys that a stream never sends, as many as
// make D/n what the name says, D being the different keys of the log.
result<std::vector<contest_set>> generated_sets(unsigned hundredths, std::uint64_t seed);

// The files of a folder, by name, up to the first dot:
//   P_members…, P_queries…   one set P: the members, and the queries of all such files
//   kmer_…_A, kmer_…_B       reads of DNA: the canonical 27-mers of A are the members, those of B the log
//   every other              a log
// Others than key files (README.md) are passed over. An error names the file.
result<std::vector<contest_set>> sets_of_folder(const std::string& folder);

// Calls use(k-mer) for every canonical 27-mer of a read: the smaller of it and its reverse complement.
void for_each_kmer(std::string_view read, const std::function<void(std::uint64_t)>& use);

// A set as one hash seed sees it.
struct contest_ground {
  std::vector<digest> members;
  std::vector<digest> queries;  // of the log, those for keys that are not members
  memory_remote stored;         // the members
  std::uint64_t distinct = 0;   // queries: how many different keys
};
// `split` chooses the members where the set has none.
contest_ground ground_of(const contest_set& set, std::uint64_t hash_seed, std::uint64_t split);

}  // namespace tamis::lab
