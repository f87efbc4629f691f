#include "tamis/mapped.hpp"

#include "tamis/detail/any/known_mistakes.hpp"
#include "tamis/detail/any/saved.hpp"
#include "tamis/registry.hpp"

namespace tamis {

using namespace detail;

result<mapped_filter> open_mapped(const std::string& path, const load_options& options) {
  const registry& known = options.known != nullptr ? *options.known : registry::builtin();
  TAMIS_TRY(mapped_frame frame, mapped_frame::open(path));
  std::unique_ptr<any_model> model;
  hasher hash;
  const memory_scope from(options.memory);
  const status read = frame.read([&](const frame_header& header, reader& in) -> status {
    TAMIS_TRY(hash, hasher_for(header.hash, options.hash));
    try {
      TAMIS_TRY(model, load_model(known, header, in));
    } catch (const memory_refused& refused) {
      return failure{refused.what(), error_code::no_memory};
    }
    return {};
  });
  if (!read) return prefixed(path + ": ", read);
  return mapped_filter(path, std::move(frame), any_filter(std::move(model), hash));
}

status mapped_filter::verify() {
  status checked = frame_.verify();
  if (checked) checked = filter_.validate();
  if (!checked) return prefixed(path_ + ": ", checked);
  is_verified_ = true;
  return {};
}

}  // namespace tamis
