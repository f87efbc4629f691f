#include "filter_flags.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "failure.hpp"
#include "numbers.hpp"
#include "tamis/detail/any/known_mistakes.hpp"

namespace tamis::cli {
namespace {

const registry_entry* entry_of(const detail::filter_kind& kind) { return must(registry::builtin().find(kind.id)); }

std::vector<std::string> all_ids() {
  std::vector<std::string> ids;
  for (const registry_entry& entry : registry::builtin().entries()) ids.emplace_back(entry.info->id);
  return ids;
}

}  // namespace

void size_flags::add_to(CLI::App& command) {
  CLI::Option* rate = command.add_option("--fpr", fpr, "false-positive rate to keep, above 0 and below 1")->type_name("RATE");
  command.add_option("--bits-per-key", bits_per_key, "or: memory to use, in bits for each key of the capacity")
      ->type_name("BITS")
      ->excludes(rate);
  command.add_option("--option", options, "option of the filter, see `tamis filters`; may be given several times")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
}

filter_params size_flags::params(std::uint64_t capacity) const {
  filter_params made{.capacity = capacity, .options = option_pairs()};
  if (!fpr.empty()) made.fpr = parse_real("--fpr", fpr, 0, 1);
  if (!bits_per_key.empty()) made.bits_per_key = parse_real("--bits-per-key", bits_per_key, 0, 4096, true);
  return made;
}

option_list size_flags::option_pairs() const { return parse_options(options); }

option_list parse_options(const std::vector<std::string>& texts) {
  option_list pairs;
  for (const std::string& text : texts) {
    const std::size_t sign = text.find('=');
    if (sign == 0 || sign == std::string::npos) fail("--option '" + text + "'", "must be NAME=VALUE");
    pairs.emplace_back(text.substr(0, sign), text.substr(sign + 1));
  }
  return pairs;
}

std::vector<std::string> parse_names(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t first = 0; first <= text.size();) {
    const std::size_t end = std::min(text.find(',', first), text.size());
    std::string name = text.substr(first, end - first);
    if (std::find(names.begin(), names.end(), name) != names.end()) fail("--filter '" + name + "'", "given twice");
    names.push_back(std::move(name));
    first = end + 1;
  }
  return names;
}

std::vector<const registry_entry*> parse_filter_list(const std::string& text) {
  std::vector<const registry_entry*> chosen;
  for (const std::string& id : text.empty() ? all_ids() : parse_names(text)) chosen.push_back(entry_of({id}));
  return chosen;
}

std::vector<std::string> parse_kinds(const std::string& text) {
  if (text.empty()) return all_ids();
  std::vector<std::string> kinds = parse_names(text);
  for (const std::string& kind : kinds) must_be_kind(kind);
  return kinds;
}

void must_be_kind(std::string_view name) { entry_of(detail::parse_kind(name)); }

bool has_option(std::string_view kind, std::string_view option) {
  const detail::filter_kind parts = detail::parse_kind(kind);
  const auto same = [option](const option_info& known) { return known.name == option; };
  const auto& own = entry_of(parts)->info->options;
  return std::any_of(own.begin(), own.end(), same) ||
         (parts.has_list && std::any_of(std::begin(shared_options), std::end(shared_options), same));
}

CLI::Option* seed_flag::add_to(CLI::App& command, const std::string& help) {
  return command.add_option("--seed", text, help)->type_name("HEX");
}

void seed_flag::draw(hash_family family) {
  std::array<unsigned char, 16> bytes{};
  const std::size_t wanted = family == hash_family::fast ? 8 : 16;
  if (::getentropy(bytes.data(), wanted) != 0) {
    fail("--seed random", std::string("the system has no random numbers: ") + std::strerror(errno));
  }
  text.clear();
  for (std::size_t i = 0; i < wanted; ++i) text += fmt::format("{:02x}", bytes[i]);
}

result<hasher> seed_flag::make(hash_family family) const {
  if (family == hash_family::fast || !text.empty()) return hasher::parse(family, text);
  const char* secret = std::getenv("TAMIS_SEED");
  if (secret == nullptr || *secret == '\0') {
    return failure{"the keyed hash needs its secret, 32 hexadecimal digits: in the environment variable TAMIS_SEED, or --seed"};
  }
  return hasher::parse(family, secret);
}

result<hasher> seed_flag::matching(const hash_identity& stored) const {
  if (is_random()) return failure{"it has a seed already; --seed random is for `tamis create`"};
  if (stored.family == hash_family::custom || (stored.family == hash_family::fast && text.empty())) return hasher::from(stored);
  TAMIS_TRY(const hasher mine, make(stored.family));
  if (mine.identity() != stored) return failure{"it was filled through the hash of another seed than the one given"};
  return mine;
}

}  // namespace tamis::cli
