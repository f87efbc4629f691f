#pragma once

// Filters by name. The ones that tamis comes with are listed in src/filters.def, one line each; from that line follow the
// command line, the conformance tests, the benchmark and the saved format. A program may add filters of its own:
//
//   tamis::registry mine = tamis::registry::builtin();
//   mine.add(tamis::detail::entry_of<my_filter>());            // detail/any/model.hpp

#include <memory>
#include <string_view>
#include <vector>

#include "tamis/any_filter.hpp"
#include "tamis/cpu.hpp"

namespace tamis {

// Options that every filter has beside its own; any_filter sees to them.
inline constexpr option_info shared_options[] = {{"mistakes", "entries, or bits per key as in 0.5b", "0",
                                                  "a list of false positives that were reported, so that it adapts"}};

struct registry_entry {
  const filter_info* info;
  capabilities can;
  result<std::unique_ptr<any_model>> (*create)(const filter_params&);
  result<std::unique_ptr<any_model>> (*load)(detail::reader&);
};

class registry {
 public:
  registry() = default;

  // The filters of tamis, compiled for the CPU level in use (cpu.hpp), or for a given available one.
  static const registry& builtin();
  static result<registry> builtin(cpu_level level);

  // Requires: no entry has this id yet.
  void add(const registry_entry& entry);

  // In the order in which they were added.
  const std::vector<registry_entry>& entries() const { return entries_; }
  // The error names the ids there are.
  result<const registry_entry*> find(std::string_view id) const;

 private:
  std::vector<registry_entry> entries_;
};

}  // namespace tamis
