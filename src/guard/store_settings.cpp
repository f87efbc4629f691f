// What is settled when a store is made: the number of its stripes and the hash of its keys.

#include <sys/random.h>

#include <cerrno>
#include <cstring>

#include "guarded_parts.hpp"

namespace tamis {
namespace {

result<std::array<std::uint64_t, 2>> draw_words() {
  std::array<std::uint64_t, 2> words{};
  if (::getentropy(words.data(), sizeof words) != 0) {
    return failure{std::string("the system gives no random numbers: ") + std::strerror(errno), error_code::io};
  }
  return words;
}

result<store_settings> settings_of_new(const store& behind, const guard_options& options) {
  bool empty = true;
  TAMIS_CHECK(behind.scan(all_digests, scan_size::few, [&](digest) { return empty = false; }));
  if (!empty) {
    return failure{behind.name() + ": holds entries, but not the settings they need: it was not made by tamis, or is damaged",
                   error_code::damaged};
  }
  store_settings made;
  made.is_new = true;
  made.config.stripes = options.stripes != 0 ? options.stripes : default_stripes(options.params.capacity);
  if (const status valid = made.config.validate(); !valid) return detail::prefixed("stripes: ", valid);
  TAMIS_TRY(made.config.identity, draw_words());
  if (options.hash) {
    made.hash = *options.hash;
  } else {
    made.config.version = store_config::with_secret;
    TAMIS_TRY(made.config.secret, draw_words());
    made.hash = hasher::keyed(made.config.secret);
  }
  made.config.hash = made.hash.identity();
  return made;
}

// Digests are the order of the entries, so another hash would find nothing: not a case for a rebuild.
status check_hash(const store& behind, const store_config& config, const hasher& hash) {
  const hash_identity mine = hash.identity();
  if (config.hash == mine) return {};
  if (config.hash.family != mine.family) {
    return failure{behind.name() + ": was filled through the " + std::string(to_string(config.hash.family)) +
                       " hash, not the " + std::string(to_string(mine.family)) + " one",
                   error_code::wrong_hash};
  }
  return failure{behind.name() + ": was filled through a hash with another seed", error_code::wrong_hash};
}

// The hash that the store itself knows.
result<hasher> kept_hash(const store& behind, const store_config& config) {
  if (config.version >= store_config::with_secret) {
    const hasher kept = hasher::keyed(config.secret);
    if (kept.identity() != config.hash)
      return failure{behind.name() + ": the secret that it keeps is damaged", error_code::damaged};
    return kept;
  }
  if (config.hash.family == hash_family::keyed) {
    return failure{behind.name() + ": was filled through a keyed hash whose secret it does not keep: the secret must be given",
                   error_code::wrong_hash};
  }
  result<hasher> kept = hasher::from(config.hash);
  if (!kept) return detail::prefixed(behind.name() + ": ", kept);
  return kept;
}

}  // namespace

result<store_settings> find_settings(const store& behind, const guard_options& options) {
  TAMIS_TRY(const auto rows, behind.rows(config_row));
  if (rows.empty()) return settings_of_new(behind, options);
  store_settings found;
  auto config = parse_row<store_config>(rows.front().second);
  if (!config) return detail::prefixed(behind.name() + ": ", config);
  found.config = *config;
  if (options.hash) {
    const status same = check_hash(behind, found.config, *options.hash);
    if (!same && !skipped(options.skipped_steps, protocol_step::hash_check)) return detail::prefixed("", same);
    found.hash = *options.hash;
  } else {
    TAMIS_TRY(found.hash, kept_hash(behind, found.config));
  }
  return found;
}

}  // namespace tamis
