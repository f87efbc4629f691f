#include "tamis/any_filter.hpp"

#include <cassert>

#include "tamis/detail/any/known_mistakes.hpp"
#include "tamis/detail/any/saved.hpp"
#include "tamis/registry.hpp"

namespace tamis {

using namespace detail;

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
  return insert_many(hasher(), std::span(&d, 1), {}) == 1 ? insert_result::inserted : insert_result::full;
}

bool any_model::may_contain(digest d) const {
  bool found = false;
  may_contain_many(hasher(), std::span(&d, 1), std::span(&found, 1));
  return found;
}

erase_result any_model::erase(digest d) {
  if (!can().erase) return erase_result::unsupported;
  return erase_many(hasher(), std::span(&d, 1), {}) == 1 ? erase_result::erased : erase_result::absent;
}

result<std::unique_ptr<any_model>> any_model::emptied() const {
  return failure{std::string(info().id) + " filters cannot be cleared", error_code::unsupported};
}

result<any_filter> any_filter::emptied() const {
  TAMIS_TRY(std::unique_ptr<any_model> empty, model_->emptied());
  return any_filter(std::move(empty), hash_);
}

status any_filter::clear() {
  TAMIS_TRY(model_, model_->emptied());
  return {};
}

result<std::uint64_t> any_model::fold(double) {
  return failure{std::string(info().id) + " filters cannot be folded", error_code::unsupported};
}

result<std::uint64_t> any_filter::fold(double fpr) {
  if (!(fpr > 0.0 && fpr < 1.0)) return failure{"a rate to fold to lies between 0 and 1", error_code::out_of_range};
  return model_->fold(fpr);
}

std::string any_filter::kind() const { return kind_of(*model_); }

failure any_filter::unable(const char* what) const {
  return {"a " + kind() + " filter cannot " + what, error_code::unsupported};
}

insert_result any_filter::insert_if_absent(digest d) {
  const capabilities all = can();
  if (all.erase || all.adapt) return insert_result::unsupported;
  return may_contain(d) ? insert_result::present : insert(d);
}

result<std::uint64_t> any_filter::count(digest d) const {
  if (!can().count) return unable("count");
  return model_->count(d);
}

result<std::size_t> any_filter::erase_many(const key_batch& keys, std::span<bool> out) {
  if (!can().erase) return unable("erase");
  return model_->erase_many(hash_, keys, out);
}

status any_filter::count_many(const key_batch& keys, std::span<std::uint64_t> out) const {
  assert(out.size() >= keys.size());
  if (!can().count) return unable("count");
  for (std::size_t i = 0; i < keys.size(); ++i) out[i] = model_->count(keys.hash_one(hash_, i));
  return {};
}

status any_filter::rejuvenate_many(const key_batch& keys) {
  if (!can().rejuvenate) return unable("rejuvenate");
  model_->rejuvenate_many(hash_, keys);
  return {};
}

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
  return detail::save_file(path, [this](byte_sink& sink) { return save(sink); });
}

std::vector<std::byte> any_filter::save_bytes() const {
  return detail::save_bytes([this](byte_sink& sink) { return save(sink); });
}

result<any_filter> load(byte_source& source, const load_options& options) {
  return load_frame(options, [&](const payload_reader& payload) { return read_frame(source, payload); });
}

result<any_filter> load_file(const std::string& path, const load_options& options) {
  return load_file_with<any_filter>(path, [&](byte_source& source) { return load(source, options); });
}

result<any_filter> load_bytes(std::span<const std::byte> bytes, const load_options& options) {
  memory_source source(bytes);
  return load(source, options);
}

}  // namespace tamis
