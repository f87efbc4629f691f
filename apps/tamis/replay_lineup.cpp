#include "replay_lineup.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "failure.hpp"
#include "filter_flags.hpp"
#include "lab/contenders.hpp"
#include "numbers.hpp"
#include "replay_rivals.hpp"
#include "tamis/detail/any/known_mistakes.hpp"
#include "tamis/memory_remote.hpp"
#include "tamis/registry.hpp"

namespace tamis::cli {
namespace {

// No filter, filters that do not adapt and a model of the smallest ones, the best of them with a memory for their mistakes, and
// those that adapt by themselves.
constexpr const char* usual[] = {no_filter,  "bloom",          "bloom1",        "rsqf", "fuse-model",      "rsqf+mistakes",
                                 "rsqf+lru", "fuse-model+lru", "acf-cuckooing", "taf",  "evergreen-fixed", "evergreen"};

const registry_entry* entry_of(std::string_view name) { return must(registry::builtin().find(detail::parse_kind(name).id)); }

bool is_known(std::string_view name) {
  if (name == no_filter) return true;
  return is_rival(name) ? check_rival(name).ok() : registry::builtin().find(detail::parse_kind(name).id).ok();
}

bool takes(std::string_view name, std::string_view option) {
  return name != no_filter && !is_rival(name) && has_option(name, option);
}

class loader {
 public:
  loader(const lineup_terms& terms, std::span<const digest> members, const lineup_trial& tried)
      : terms_(terms), members_(members), trial_(tried), tried_(tried.members) {
    if (!wants_trial(terms)) return;
    for (const digest d : tried.members) stored_.insert(d);
    for (const digest d : tried.queries) {
      if (!stored_.contains(d)) absent_.push_back(d);
    }
  }

  lineup load() {
    lineup made;
    find_budget(made);
    for (const std::string& name : terms_.names) {
      if (name == no_filter) {
        made.loaded.emplace_back(contestant::without_filter());
        continue;
      }
      result<contestant> filter = is_rival(name) ? rival(name, made.bits_per_key) : filled(name, made.bits_per_key);
      if (filter) {
        made.loaded.push_back(std::move(*filter));
      } else {
        made.others.push_back({name, filter.message()});
      }
    }
    if (made.loaded.empty()) fail(made.others.front().name, made.others.front().reason);
    return made;
  }

 private:
  // An option goes to every filter that knows it.
  filter_params params_for(std::string_view name) const {
    filter_params params = terms_.params;
    std::erase_if(params.options, [&](const auto& option) { return !takes(name, option.first); });
    if (terms_.first_keys != 0 && entry_of(name)->can.expand) params.capacity = terms_.first_keys;
    return params;
  }

  void find_budget(lineup& made) const {
    if (terms_.at == comparison::rate) return;
    if (terms_.params.bits_per_key) {
      made.bits_per_key = *terms_.params.bits_per_key;
      return;
    }
    const auto first =
        std::find_if(terms_.names.begin(), terms_.names.end(), [](const std::string& name) { return name != no_filter; });
    if (first == terms_.names.end()) return;
    const std::string name = is_rival(*first) ? "bloom" : *first;  // a rival has no rate to be made for
    const any_filter filter = must(name, any_filter::create(name, params_for(name)));
    made.bits_per_key = static_cast<double>(filter.bits().fast) / static_cast<double>(params_for(name).capacity);
    made.budget_of = name;
  }

  result<contestant> rival(const std::string& name, double bits_per_key) const {
    if (terms_.first_keys != 0) return failure{"is for members that do not change"};
    filter_params params = terms_.params;
    params.options.clear();
    TAMIS_TRY(auto made, make_rival({name, params, bits_per_key}, members_, trial_));
    return contestant(std::move(made));
  }

  // With the memory, or with the rate if that is 0.
  result<contestant> filled(const std::string& name, double bits_per_key) const {
    filter_params params = params_for(name);
    const auto memory = std::make_shared<lab::counted_memory>();
    params.memory = memory.get();
    if (bits_per_key > 0) {
      params.fpr.reset();
      params.bits_per_key = bits_per_key;
      TAMIS_CHECK(share_with_list(name, params));
    }
    TAMIS_TRY(any_filter filter, any_filter::create(name, params));
    const std::size_t in = filter.insert_many(members_);
    if (in != members_.size()) {
      return failure{"full after " + grouped(in) + " of " + counted(members_.size(), "member")};
    }
    const double keys = static_cast<double>(params.capacity);
    const auto taken = static_cast<double>(filter.bits().fast);
    if (bits_per_key > 0 && taken > memory_tolerance * bits_per_key * keys + spare_bits) {
      return failure{fmt::format("takes {:.2f} bits per key", taken / keys)};
    }
    return contestant(std::move(filter), memory);
  }

  status share_with_list(const std::string& name, filter_params& params) const {
    const auto [id, has_list] = detail::parse_kind(name);
    const auto is_size = [](const auto& option) { return option.first == "mistakes"; };
    if (!has_list || absent_.empty() || tried_.empty() || std::any_of(params.options.begin(), params.options.end(), is_size))
      return {};
    const lab::contest_terms terms{std::string(id), tried_.size(), *params.bits_per_key, params.options};
    TAMIS_TRY(const double share, lab::choose_share_on<lab::known_mistakes>(terms, tried_, absent_, stored_));
    // Where they have no use for one, the list is as short as a list can be.
    params.options.emplace_back("mistakes", share > 0 ? std::to_string(share * *params.bits_per_key) + "b" : "1");
    return {};
  }

  const lineup_terms& terms_;
  std::span<const digest> members_;
  const lineup_trial& trial_;
  std::span<const digest> tried_;  // members, too
  memory_remote stored_;           // which holds them
  std::vector<digest> absent_;
};

}  // namespace

std::vector<std::string> parse_lineup(const std::string& text) {
  std::vector<std::string> names;
  if (text.empty()) {
    std::copy_if(std::begin(usual), std::end(usual), std::back_inserter(names), is_known);
    return names;
  }
  if (text == "all") {
    names.emplace_back(no_filter);
    for (const registry_entry& entry : registry::builtin().entries()) names.emplace_back(entry.info->id);
    return names;
  }
  names = parse_names(text);
  for (const std::string& name : names) {
    if (is_rival(name)) {
      must("--filter '" + name + "'", check_rival(name));
    } else if (name != no_filter) {
      must_be_kind(name);
    }
  }
  return names;
}

void refuse_unknown_options(const lineup_terms& terms) {
  for (const auto& [option, value] : terms.params.options) {
    const auto knows = [&asked = option](const std::string& name) { return takes(name, asked); };
    if (std::none_of(terms.names.begin(), terms.names.end(), knows)) {
      fail("--option '" + option + "'", "none of the filters has it");
    }
  }
}

bool wants_trial(const lineup_terms& terms) {
  return std::any_of(terms.names.begin(), terms.names.end(),
                     [](const std::string& name) { return is_rival(name) || detail::parse_kind(name).has_list; });
}

lineup line_up(const lineup_terms& terms, std::span<const digest> members, const lineup_trial& tried) {
  return loader(terms, members, tried).load();
}

}  // namespace tamis::cli
