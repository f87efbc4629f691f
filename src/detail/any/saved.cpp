#include "tamis/detail/any/saved.hpp"

#include "tamis/detail/any/known_mistakes.hpp"
#include "tamis/detail/io/file.hpp"
#include "tamis/registry.hpp"

namespace tamis::detail {
namespace {

std::string hash_text(const hash_identity& hash) {
  if (hash.family == hash_family::custom) return "the hash '" + hash.name + "'";
  return "the " + std::string(to_string(hash.family)) + " hash";
}

}  // namespace

status same_hash(const hash_identity& stored, const hash_identity& mine) {
  if (stored.family != mine.family || stored.name != mine.name) {
    return failure{"it was filled through " + hash_text(stored) + ", not through " + hash_text(mine), error_code::wrong_hash};
  }
  if (stored != mine) return failure{"it was filled through a hash with another seed", error_code::wrong_hash};
  return {};
}

result<hasher> hasher_for(const hash_identity& stored, const std::optional<hasher>& given) {
  if (!given) return hasher::from(stored);
  TAMIS_CHECK(same_hash(stored, given->identity()));
  return *given;
}

status save_file(const std::string& path, const save_function& save) {
  TAMIS_TRY(file_replacement file, file_replacement::create(path));
  TAMIS_CHECK(save(file));
  return file.commit();
}

std::vector<std::byte> save_bytes(const save_function& save) {
  memory_sink sink;
  save(sink).value();  // memory has no errors but std::bad_alloc
  return std::move(sink).take();
}

status with_file(const std::string& path, const std::function<status(byte_source&)>& read) {
  TAMIS_TRY(file_source source, file_source::open(path));
  status done = read(source);
  if (!done) return prefixed(path + ": ", done);
  return done;
}

result<std::unique_ptr<any_model>> load_builtin(const frame_header& header, reader& in) {
  try {
    return load_model(registry::builtin(), header, in);
  } catch (const memory_refused& refused) {
    return failure{refused.what(), error_code::no_memory};
  }
}

result<any_filter> load_frame(const load_options& options, const std::function<status(const payload_reader&)>& read) {
  const registry& known = options.known != nullptr ? *options.known : registry::builtin();
  std::unique_ptr<any_model> model;
  hasher hash;
  const memory_scope from(options.memory);
  TAMIS_CHECK(read([&](const frame_header& header, reader& in) -> status {
    TAMIS_TRY(hash, hasher_for(header.hash, options.hash));
    try {
      TAMIS_TRY(model, load_model(known, header, in));
    } catch (const memory_refused& refused) {
      return failure{refused.what(), error_code::no_memory};
    }
    return {};
  }));
  return any_filter(std::move(model), hash);
}

status check_kind(const frame_header& header, const filter_info& info) {
  if (header.kind != info.id) {
    return failure{"it holds a filter of the kind " + header.kind + ", not " + std::string(info.id), error_code::mismatch};
  }
  return check_version(header, info);
}

status check_version(const frame_header& header, const filter_info& info) {
  if (header.kind_version == info.version) return {};
  return failure{"it holds version " + std::to_string(header.kind_version) + " of " + std::string(info.id) +
                     ", this tamis reads version " + std::to_string(info.version),
                 error_code::newer_version};
}

}  // namespace tamis::detail
