#include "tamis/any_filter.hpp"

#include "tamis/detail/any/known_mistakes.hpp"
#include "tamis/detail/io/file.hpp"
#include "tamis/registry.hpp"

namespace tamis {

using namespace detail;

namespace {

// The hasher that the file was filled through: the caller's, if it is the right one, or the stored seed's.
result<hasher> hasher_for(const hash_identity& stored, const std::optional<hasher>& given) {
  if (!given) return hasher::from(stored);
  const hash_identity mine = given->identity();
  if (mine.family != stored.family) {
    return failure{"it was filled through the " + std::string(to_string(stored.family)) + " hash, not the " +
                       std::string(to_string(mine.family)) + " one",
                   error_code::wrong_hash};
  }
  if (mine != stored) return failure{"it was filled through a hash with another seed", error_code::wrong_hash};
  return *given;
}

}  // namespace

any_model::~any_model() = default;

result<any_filter> any_filter::create(std::string_view id, const filter_params& params, hasher hash) {
  return create(registry::builtin(), id, params, hash);
}

result<any_filter> any_filter::create(const registry& known, std::string_view id, const filter_params& params, hasher hash) {
  try {
    TAMIS_TRY(std::unique_ptr<any_model> model, make_model(known, id, params));
    return any_filter(std::move(model), hash);
  } catch (const memory_refused& refused) {
    return failure{refused.what(), error_code::no_memory};
  }
}

insert_result any_model::insert(digest d) {
  return insert_many(std::span(&d, 1), {}) == 1 ? insert_result::inserted : insert_result::full;
}

bool any_model::may_contain(digest d) const {
  bool found = false;
  may_contain_many(std::span(&d, 1), std::span(&found, 1));
  return found;
}

erase_result any_model::erase(digest d) {
  return erase_many(std::span(&d, 1), {}) == 1 ? erase_result::erased : erase_result::absent;
}

std::string any_filter::kind() const { return kind_of(*model_); }

std::uint64_t any_filter::count(digest d) const { return model_->count(d); }

status any_filter::may_merge(const any_filter& other) const {
  if (info().id != other.info().id) {
    return failure{"a " + std::string(info().id) + " filter and a " + std::string(other.info().id) + " filter cannot be merged",
                   error_code::mismatch};
  }
  if (hash_.identity() != other.hash_.identity())
    return failure{"the two filters use different hash functions or seeds", error_code::wrong_hash};
  return {};
}

status any_filter::merge(const any_filter& other) {
  TAMIS_CHECK(may_merge(other));
  return model_->merge(*other.model_);
}

status any_filter::merge(const any_filter& other, const remote_ref& stored) {
  TAMIS_CHECK(may_merge(other));
  return model_->merge(*other.model_, stored);
}

status any_filter::save(byte_sink& sink) const {
  const frame_header header{kind(), info().version, hash_.identity()};
  return write_frame(sink, header, [this](writer& out) { model_->save(out); });
}

status any_filter::save_file(const std::string& path) const {
  TAMIS_TRY(file_replacement file, file_replacement::create(path));
  TAMIS_CHECK(save(file));
  return file.commit();
}

std::vector<std::byte> any_filter::save_bytes() const {
  memory_sink sink;
  save(sink).value();  // memory has no errors but std::bad_alloc
  return std::move(sink).take();
}

result<any_filter> load(byte_source& source, const load_options& options) {
  const registry& known = options.known != nullptr ? *options.known : registry::builtin();
  std::unique_ptr<any_model> model;
  hasher hash;
  const memory_scope from(options.memory);
  TAMIS_CHECK(read_frame(source, [&](const frame_header& header, reader& in) -> status {
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

result<any_filter> load_file(const std::string& path, const load_options& options) {
  TAMIS_TRY(file_source source, file_source::open(path));
  auto loaded = load(source, options);
  if (!loaded) return prefixed(path + ": ", loaded);
  return loaded;
}

result<any_filter> load_bytes(std::span<const std::byte> bytes, const load_options& options) {
  memory_source source(bytes);
  return load(source, options);
}

}  // namespace tamis
