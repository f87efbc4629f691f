#pragma once

// Saved filters: opened with their hash, and replaced whole.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "filter_flags.hpp"
#include "json.hpp"
#include "tamis/any_filter.hpp"
#include "tamis/detail/any/known_mistakes.hpp"
#include "tamis/mapped.hpp"

namespace tamis::cli {

struct filter_file {
  any_filter filter;
  hash_identity hash;
  std::uint64_t bytes;
};

filter_file open_filter(const std::string& path, const seed_flag& seed);
// For lookups: nothing is read that need not be.
mapped_filter open_filter_mapped(const std::string& path, const seed_flag& seed);
// For looking at only: works without the secret of a keyed hash, so nothing may be asked of or added to the filter.
filter_file open_filter_unkeyed(const std::string& path);

// In place of the one that was opened.
void replace_filter(const any_filter& filter, const std::string& path);
void write_filter(const any_filter& filter, created_file& file);  // and `file.commit()` is yet to come

// The fields of `info`, which `create` and `merge` show too.
json info_json(const any_filter& filter, hash_family hash);

// {"entries", "in_use", "bits"}; null where there is no list of known mistakes.
json mistakes_json(const std::optional<detail::list_use>& list);

// A note on standard error if the filter holds more than it was made for.
void note_overload(const any_filter& filter, const std::string& path);

double bits_per_key(const any_filter& filter, std::uint64_t keys);  // infinite without keys

}  // namespace tamis::cli
