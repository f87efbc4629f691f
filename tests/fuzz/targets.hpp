#pragma once

// What the fuzzers run, as plain functions: libFuzzer drives them (fuzzer.cpp), and so does a replay of all known inputs in
// every test run (replay_test.cpp). A broken contract throws, and a fuzzer takes that for a crash.

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace tamis::fuzz {

using input = std::span<const std::byte>;

void difference(input patch);  // a patch, its frame repaired: it is refused, or makes a file that is sound
void load(input file);         // a saved filter, its frame repaired: it is refused, or it works
void mapped(input bytes);      // fields and tables of filters whose tables are used unread
void operations(input steps);  // any filter of the registry beside a multiset
void keys(input file);         // key files: lines, gzip, zstd, captures
void guard(input forged);      // rows and snapshots of a guarded store
void redis_value(input file);  // a value of the module for Redis, its frames repaired

struct target {
  std::string_view name;
  void (*run)(input);
  // Repairs what a mutation broke and no mutation would find again, such as checksums; nullptr where there is no such thing.
  std::vector<std::byte> (*repaired)(input);
};
std::span<const target> targets();

// A saved filter with lengths and checksums made right; empty if it is too short to have any.
std::vector<std::byte> repaired_file(input file);
// A patch with a right frame around its content; empty if it is too short to have any.
std::vector<std::byte> repaired_patch(input file);
// The same for a snapshot, whose kind and hash are taken from a true one; as it is, if it is too short.
std::vector<std::byte> repaired_snapshot(input file, input true_one);
// The same for a value of the module for Redis, and for the filter in it.
std::vector<std::byte> repaired_value(input file);

}  // namespace tamis::fuzz
