#include "tests/conformance/cases.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <stdexcept>

#include "tests/support/toy_filter.hpp"

namespace tamis::test {

using namespace detail;

namespace {

struct named_registry {
  std::string name;
  registry known;
};

const std::vector<named_registry>& registries() {
  static const std::vector<named_registry> made = [] {
    std::vector<named_registry> all;
    for (const cpu_level level : available_cpu_levels()) {
      all.push_back({std::string(to_string(level)), registry::builtin(level).value()});
    }
    registry toys;
    toys.add(entry_of<toy_everything>());
    toys.add(entry_of<toy_minimal>());
    all.push_back({"added", std::move(toys)});
    return all;
  }();
  return made;
}

std::string as_name(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return text;
}

// The values that an option's description lists: "a, b or c", or the ends of "1 to 9".
std::vector<std::string> listed_values(std::string_view description) {
  std::vector<std::string> values;
  while (true) {
    std::size_t end = std::string_view::npos;
    std::size_t skip = 0;
    for (const std::string_view separator : {", ", " or ", " to "}) {
      if (const std::size_t at = description.find(separator); at < end) {
        end = at;
        skip = separator.size();
      }
    }
    values.emplace_back(description.substr(0, end));
    if (end == std::string_view::npos) return values;
    description.remove_prefix(end + skip);
  }
}

// A level that has nothing of its own for a filter takes the code of the level below, which is tested already.
std::vector<conformance_case> plain_cases() {
  std::vector<conformance_case> cases;
  for (const auto& [name, known] : registries()) {
    for (const registry_entry& entry : known.entries()) {
      const bool is_known = std::any_of(cases.begin(), cases.end(),
                                        [&entry](const conformance_case& c) { return c.entry->create == entry.create; });
      if (!is_known) cases.push_back({name + "_" + as_name(std::string(entry.info->id)), &known, &entry});
    }
  }
  return cases;
}

// Lists so long that what the tests report is hardly ever forgotten, and so short that it nearly always is.
constexpr std::uint64_t long_list = 1000;
constexpr std::uint64_t short_list = 3;

void append(std::vector<conformance_case>& cases, const std::vector<conformance_case>& more) {
  cases.insert(cases.end(), more.begin(), more.end());
}

}  // namespace

std::vector<conformance_case> all_cases() {
  std::vector<conformance_case> cases = plain_cases();
  append(cases, cases_with_list(long_list));
  return cases;
}

std::vector<conformance_case> cases_with_list(std::uint64_t entries) {
  std::vector<conformance_case> cases = cases_of_best_level();
  for (conformance_case& c : cases) {
    c.name += "_mistakes_" + std::to_string(entries);
    c.options = {{"mistakes", std::to_string(entries)}};
  }
  return cases;
}

std::vector<conformance_case> all_variants() {
  std::vector<conformance_case> variants = cases_with_list(long_list);
  append(variants, cases_with_list(short_list));
  for (const conformance_case& plain : plain_cases()) {
    variants.push_back(plain);
    for (const option_info& option : plain.entry->info->options) {
      for (const std::string& value : listed_values(option.values)) {
        conformance_case variant = plain;
        variant.name.append("_").append(as_name(std::string(option.name))).append("_").append(as_name(value));
        variant.options = {{std::string(option.name), value}};
        variants.push_back(variant);
      }
    }
  }
  return variants;
}

std::vector<conformance_case> cases_that_can(bool capabilities::*ability, std::vector<conformance_case> cases, bool wanted) {
  std::erase_if(cases, [&](const conformance_case& c) { return c.can().*ability != wanted; });
  return cases;
}

std::vector<conformance_case> cases_of_best_level() {
  const registry best = registry::builtin(available_cpu_levels().back()).value();
  std::vector<conformance_case> cases = plain_cases();
  std::erase_if(cases, [&best](const conformance_case& c) {
    const auto entry = best.find(c.id());
    return !entry || (*entry)->create != c.entry->create;
  });
  return cases;
}

std::vector<conformance_case> named(std::vector<conformance_case> cases, std::string_view beginning, bool wanted) {
  std::erase_if(cases, [&](const conformance_case& c) { return c.name.starts_with(beginning) != wanted; });
  return cases;
}

result<any_filter> conformance::create(filter_params params, hasher hash) const {
  const option_list& options = GetParam().options;
  params.options.insert(params.options.begin(), options.begin(), options.end());
  return any_filter::create(known(), id(), params, hash);
}

any_filter conformance::make(std::uint64_t capacity, double fpr, hasher hash) const {
  constexpr std::uint64_t tries = 8;
  std::string reason;
  for (const double rate : {fpr, 0.1, 0.5}) {
    for (std::uint64_t size = capacity; size <= capacity << tries; size *= 2) {
      filter_params params{.capacity = size, .fpr = rate};
      // With all its quotients at once: a small segment would be wrong less often than it was asked for.
      const auto is_segment = [](const auto& option) { return option.first == "segment"; };
      const bool has_segment = std::ranges::any_of(GetParam().options, is_segment);
      if (id() == "evergreen" && rate >= 0.05 && !has_segment) params.options = {{"segment", "64"}};
      result<any_filter> made = create(params, hash);
      if (made) return *std::move(made);
      if (made.message().empty()) throw std::runtime_error("no filter, and no reason");
      reason = made.message();
    }
    if (GetParam().options.empty()) break;  // only an unusual option may need an unusual rate
  }
  throw std::runtime_error(GetParam().name + " cannot be made at all: " + reason);
}

any_filter conformance::make_full(std::uint64_t capacity, double fpr) const {
  any_filter f = make(capacity, fpr);
  const std::vector<digest> all = keys(capacity);
  if (f.insert_many(all) != all.size()) throw std::runtime_error(GetParam().name + " does not hold its capacity");
  return f;
}

any_filter conformance::tiny() const {
  if (GetParam().has_list()) return tiny_with_list();
  any_filter f = make(20, 0.1);
  insert_all(f, keys(20));
  return f;
}

any_filter conformance::tiny_with_list() const {
  filter_params params{.capacity = 20, .fpr = 0.1, .options = {{"mistakes", "4"}}};
  auto made = any_filter::create(known(), id(), params, test_hash());
  for (; !made && params.capacity < 1000; params.capacity *= 2) made = any_filter::create(known(), id(), params, test_hash());
  any_filter f = std::move(made).value();
  insert_all(f, keys(20));
  for (const digest d : strangers(1000)) {
    if (f.known_mistakes() < 2 && f.may_contain(d)) f.adapt(d);
  }
  return f;
}

int times_as_many() {
  const char* given = std::getenv("TAMIS_SOAK");
  return given == nullptr ? 1 : std::max(1, std::atoi(given));
}

std::uint64_t count_positives(const any_filter& f, std::span<const digest> digests) {
  const auto answers = std::make_unique<bool[]>(digests.size());
  const std::span<bool> out(answers.get(), digests.size());
  f.may_contain_many(digests, out);
  return static_cast<std::uint64_t>(std::count(out.begin(), out.end(), true));
}

TEST(cases, every_filter_of_every_level_is_tested) {
  for (const cpu_level level : available_cpu_levels()) {
    const registry known = registry::builtin(level).value();
    for (const registry_entry& entry : known.entries()) {
      EXPECT_EQ(std::ranges::count(plain_cases(), entry.create, [](const conformance_case& c) { return c.entry->create; }), 1)
          << to_string(level) << ' ' << entry.info->id;
    }
  }
  EXPECT_EQ(named(all_cases(), "added_").size(), 2u);
  EXPECT_EQ(cases_of_best_level().size(), registry::builtin().entries().size());
  EXPECT_EQ(cases_with_list(1).size(), registry::builtin().entries().size());
  EXPECT_EQ(all_cases().size(), plain_cases().size() + registry::builtin().entries().size());
}

TEST(cases, options_give_variants) {
  EXPECT_EQ(listed_values("32, 64 or 128"), (std::vector<std::string>{"32", "64", "128"}));
  EXPECT_EQ(listed_values("1 to 16"), (std::vector<std::string>{"1", "16"}));
  EXPECT_GT(all_variants().size(), all_cases().size());
}

}  // namespace tamis::test
