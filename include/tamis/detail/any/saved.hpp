#pragma once

// Saving and loading in the documented frame, for filters of a static type and for those whose type is erased.

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tamis/any_filter.hpp"
#include "tamis/detail/io/archive.hpp"
#include "tamis/detail/io/frame.hpp"

namespace tamis::detail {

// The hasher that a file was filled through: the caller's, if it is the right one, or the stored seed's.
result<hasher> hasher_for(const hash_identity& stored, const std::optional<hasher>& given);
// An error that names both hashes if they differ.
status same_hash(const hash_identity& stored, const hash_identity& mine);

using save_function = std::function<status(byte_sink&)>;
status save_file(const std::string& path, const save_function& save);
std::vector<std::byte> save_bytes(const save_function& save);

// Opens the file and puts its path before every error.
status with_file(const std::string& path, const std::function<status(byte_source&)>& read);
template <class T, class Load>
result<T> load_file_with(const std::string& path, Load load) {
  std::optional<T> made;
  TAMIS_CHECK(with_file(path, [&](byte_source& source) -> status {
    TAMIS_TRY(made, load(source));
    return {};
  }));
  return *std::move(made);
}

// The filter of a frame that `read` reads: from a source, or where it is mapped.
using payload_reader = std::function<status(const frame_header&, reader&)>;
result<any_filter> load_frame(const load_options& options, const std::function<status(const payload_reader&)>& read);

// The model of a frame, of the filters that tamis comes with.
result<std::unique_ptr<any_model>> load_builtin(const frame_header& header, reader& in);

// An error if the frame holds another kind, or another version of this one than is read here.
status check_version(const frame_header& header, const filter_info& info);
status check_kind(const frame_header& header, const filter_info& info);

template <filter_type F>
status save_static(byte_sink& sink, const F& filter, const hash_identity& hash) {
  const frame_header header{std::string(F::info.id), F::info.version, hash};
  return write_frame(sink, header, [&filter](writer& out) { out(filter); });
}

template <filter_type F>
result<F> load_static(const frame_header& header, reader& in) {
  TAMIS_CHECK(check_kind(header, F::info));
  try {
    F filter = stored_access::blank<F>();
    in(filter);
    if (!in.ok()) return prefixed("", in.state());
    return filter;
  } catch (const memory_refused& refused) {
    return failure{refused.what(), error_code::no_memory};
  }
}

}  // namespace tamis::detail
