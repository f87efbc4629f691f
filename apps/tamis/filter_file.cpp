#include "filter_file.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "failure.hpp"
#include "interrupt.hpp"
#include "numbers.hpp"
#include "tamis/detail/io/file.hpp"
#include "tamis/registry.hpp"

namespace tamis::cli {

using namespace detail;

namespace {

// As tamis::load_file, but which hasher is right is decided when the header is known, and a signal stops it.
template <class HasherFor>
filter_file read_filter(const std::string& path, HasherFor hasher_for) {
  file_source file = must(file_source::open(path));
  const std::uint64_t bytes = file.remaining();
  watched_source source(file);
  std::unique_ptr<any_model> model;
  hasher hash;
  hash_identity identity;
  must(path, read_frame(source, [&](const frame_header& header, reader& in) -> status {
         identity = header.hash;
         TAMIS_TRY(hash, hasher_for(header.hash));
         TAMIS_TRY(model, load_model(registry::builtin(), header, in));
         return {};
       }));
  return {any_filter(std::move(model), hash), identity, bytes};
}

}  // namespace

filter_file open_filter(const std::string& path, const seed_flag& seed) {
  return read_filter(path, [&](const hash_identity& stored) { return seed.matching(stored); });
}

mapped_filter open_filter_mapped(const std::string& path, const seed_flag& seed) {
  const hash_identity stored = must(mapped_frame::open(path)).index().header.hash;
  return must(open_mapped(path, {must(path, seed.matching(stored))}));
}

filter_file open_filter_unkeyed(const std::string& path) {
  return read_filter(path, [](const hash_identity& stored) -> result<hasher> {
    return stored.family == hash_family::fast ? hasher::from(stored) : hasher();
  });
}

void replace_filter(const any_filter& filter, const std::string& path) {
  file_replacement file = must(file_replacement::create(path));
  watched_sink sink(file);
  must(filter.save(sink));
  stop_if_interrupted();
  must(file.commit());
}

void write_filter(const any_filter& filter, created_file& file) {
  watched_sink sink(file);
  must(filter.save(sink));
  stop_if_interrupted();
}

json info_json(const any_filter& filter, hash_family hash) {
  const double load = static_cast<double>(filter.keys()) / static_cast<double>(filter.capacity());
  json options = json::object();
  for (const auto& [name, value] : filter.settings()) options[name] = value;
  return {{"filter", filter.info().id},
          {"keys", filter.keys()},
          {"capacity", filter.capacity()},
          {"load", number_or_null(load)},
          {"bits_per_key", number_or_null(bits_per_key(filter, filter.keys()))},
          {"expected_fpr", number_or_null(filter.expected_fpr())},
          {"hash", to_string(hash)},
          {"format_version", format_version},
          {"options", std::move(options)},
          {"known_mistakes", mistakes_json(list_of(filter.model()))}};
}

json mistakes_json(const std::optional<list_use>& list) {
  if (!list) return nullptr;
  return {{"entries", list->entries}, {"in_use", list->in_use}, {"bits", list->bits}};
}

void note_overload(const any_filter& filter, const std::string& path) {
  if (filter.keys() <= filter.capacity()) return;
  say(fmt::format("{}: note: {} in a filter made for {}; the expected false-positive rate is now {}", path,
                  counted(filter.keys(), "key"), grouped(filter.capacity()), percent(filter.expected_fpr())));
}

double bits_per_key(const any_filter& filter, std::uint64_t keys) {
  if (keys == 0) return std::numeric_limits<double>::infinity();
  return static_cast<double>(filter.bits().fast) / static_cast<double>(keys);
}

}  // namespace tamis::cli
