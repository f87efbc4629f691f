#include "tamis/mapped.hpp"

#include "tamis/detail/any/saved.hpp"

namespace tamis {

using namespace detail;

result<mapped_filter> open_mapped(const std::string& path, const load_options& options) {
  TAMIS_TRY(mapped_frame frame, mapped_frame::open(path));
  auto filter = load_frame(options, [&](const payload_reader& payload) { return frame.read(payload); });
  if (!filter) return prefixed(path + ": ", filter);
  return mapped_filter(path, std::move(frame), *std::move(filter));
}

status mapped_filter::verify() {
  status checked = frame_.verify();
  if (checked) checked = filter_.validate();
  if (!checked) return prefixed(path_ + ": ", checked);
  is_verified_ = true;
  return {};
}

}  // namespace tamis
