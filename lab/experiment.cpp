#include "lab/experiment.hpp"

#include <algorithm>

namespace tamis::lab {
namespace {

std::vector<experiment>& all() {
  static std::vector<experiment> known;
  return known;
}

}  // namespace

registered::registered(experiment e) {
  const auto place = std::lower_bound(all().begin(), all().end(), e.name,
                                      [](const experiment& known, const std::string& name) { return known.name < name; });
  all().insert(place, std::move(e));
}

const std::vector<experiment>& experiments() { return all(); }

const experiment* find_experiment(std::string_view name) {
  const auto found = std::find_if(all().begin(), all().end(), [name](const experiment& e) { return e.name == name; });
  return found == all().end() ? nullptr : &*found;
}

}  // namespace tamis::lab
