#include <exception>

#include "integrations/c/boundary.hpp"
#include "integrations/c/handles.hpp"

namespace tamis::c {
namespace {

digest from_c(tamis_digest d) { return {d.high, d.low}; }
tamis_digest to_c(digest d) { return {d.high, d.low}; }

// What a visit needs to know. An exception of the filter waits here until the caller's frames are gone.
struct visitor {
  digest_range range;
  const std::function<bool(digest)>& visit;
  digest least = range.first;
  bool is_wrong = false;
  std::exception_ptr thrown = nullptr;
};

int visit_one(void* pointer, tamis_digest given) noexcept {
  auto& v = *static_cast<visitor*>(pointer);
  const digest d = from_c(given);
  if (d < v.least || v.range.last < d) {
    v.is_wrong = true;
    return 1;
  }
  v.least = d;
  try {
    return v.visit(d) ? 0 : 1;
  } catch (...) {
    v.thrown = std::current_exception();
    return 1;
  }
}

result<memory_remote*> in_memory(tamis_remote* remote) {
  TAMIS_CHECK(given(remote, "remote"));
  auto* const kept = std::get_if<memory_remote>(&remote->stored);
  if (kept == nullptr) return failure{"remote: is a scan, not a set in memory", error_code::unsupported};
  return kept;
}

}  // namespace

void callback_remote::for_each_in(digest_range range, const std::function<bool(digest)>& visit) const {
  if (range.last < range.first) return;
  visitor v{range, visit};
  const int answer = scan_(context_, to_c(range.first), to_c(range.last), visit_one, &v);
  if (v.thrown) std::rethrow_exception(v.thrown);
  if (v.is_wrong) throw callback_failed("the scan visited a digest outside of its range or out of order");
  if (answer < 0) throw callback_failed("the scan failed");
}

}  // namespace tamis::c

using namespace tamis;     // NOLINT(google-build-using-namespace)
using namespace tamis::c;  // NOLINT(google-build-using-namespace)

extern "C" {

int tamis_remote_create(tamis_scan scan, void* context, tamis_remote** out, tamis_error* error) {
  return make_handle(out, error, [&]() -> result<tamis_remote> {
    if (scan == nullptr) return failure{"scan: is NULL"};
    return tamis_remote{callback_remote(scan, context)};
  });
}

int tamis_remote_memory(tamis_remote** out, tamis_error* error) {
  return make_handle(out, error, [&]() -> result<tamis_remote> { return tamis_remote{memory_remote()}; });
}

int64_t tamis_remote_insert(tamis_remote* remote, const tamis_digest* digests, size_t count, tamis_error* error) {
  return guarded<std::int64_t>(error, [&]() -> result<std::int64_t> {
    TAMIS_TRY(memory_remote * kept, in_memory(remote));
    if (count > 0) TAMIS_CHECK(given(digests, "digests"));
    std::size_t done = 0;
    try {
      for (; done < count; ++done) kept->insert(from_c(digests[done]));
    } catch (...) {
      while (done > 0) kept->erase(from_c(digests[--done]));
      throw;
    }
    return static_cast<std::int64_t>(count);
  });
}

int64_t tamis_remote_erase(tamis_remote* remote, const tamis_digest* digests, size_t count, tamis_error* error) {
  return guarded<std::int64_t>(error, [&]() -> result<std::int64_t> {
    TAMIS_TRY(memory_remote * kept, in_memory(remote));
    if (count > 0) TAMIS_CHECK(given(digests, "digests"));
    std::int64_t erased = 0;
    for (std::size_t i = 0; i < count; ++i) erased += kept->erase(from_c(digests[i])) ? 1 : 0;
    return erased;
  });
}

int64_t tamis_remote_size(const tamis_remote* remote, tamis_error* error) {
  return guarded<std::int64_t>(error, [&]() -> result<std::int64_t> {
    TAMIS_TRY(const memory_remote* kept, in_memory(const_cast<tamis_remote*>(remote)));
    return static_cast<std::int64_t>(kept->size());
  });
}

void tamis_remote_free(tamis_remote* remote) { delete remote; }
}
