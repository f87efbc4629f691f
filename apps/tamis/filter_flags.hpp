#pragma once

// The flags that choose a filter, its size and its hash; shared by the commands that make one.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tamis/registry.hpp"

namespace tamis::cli {

// --fpr or --bits-per-key, and --option, as they were typed.
struct size_flags {
  std::string fpr;
  std::string bits_per_key;
  std::vector<std::string> options;  // name=value

  void add_to(CLI::App& command);
  bool any_size() const { return !fpr.empty() || !bits_per_key.empty(); }
  filter_params params(std::uint64_t capacity) const;
  option_list option_pairs() const;
};

option_list parse_options(const std::vector<std::string>& texts);  // name=value each

std::vector<std::string> parse_names(const std::string& text);  // separated by commas; fails for one that is given twice

// The filters of `bloom,bloom1`; all of the registry if the text is empty. Fails for an unknown or repeated id.
std::vector<const registry_entry*> parse_filter_list(const std::string& text);
// The names of `bloom,bloom1+mistakes`, filters with a list of known mistakes among them; likewise.
std::vector<std::string> parse_kinds(const std::string& text);
void must_be_kind(std::string_view name);
// Does the filter of this name take the option?
bool has_option(std::string_view kind, std::string_view option);

// --seed: what a keyed hash needs, and what a fast one may take.
struct seed_flag {
  std::string text;

  CLI::Option* add_to(CLI::App& command, const std::string& help);
  // `--seed random`, for a new filter.
  bool is_random() const { return text == "random"; }
  // Takes a seed that nobody can foresee in its place, and keeps it as `text`.
  void draw(hash_family family);
  // The secret of a keyed hash may also be in the environment variable TAMIS_SEED, which keeps it out of the process list.
  result<hasher> make(hash_family family) const;
  // The hasher of a saved filter.
  result<hasher> matching(const hash_identity& stored) const;
};

}  // namespace tamis::cli
