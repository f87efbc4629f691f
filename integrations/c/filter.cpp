// A filter's life, one key at a time, and whole filters.

#include <vector>

#include "integrations/c/boundary.hpp"
#include "integrations/c/handles.hpp"
#include "integrations/c/json.hpp"
#include "integrations/c/needs.hpp"
#include "integrations/c/spec.hpp"
#include "tamis/detail/io/file.hpp"

namespace tamis::c {
namespace {

class callback_sink final : public byte_sink {
 public:
  callback_sink(tamis_sink sink, void* context) : sink_(sink), context_(context) {}
  status write(std::span<const std::byte> bytes) override {
    if (sink_(context_, bytes.data(), bytes.size()) < 0) throw callback_failed("the sink failed");
    return {};
  }

 private:
  tamis_sink sink_;
  void* context_;
};

// All that a source has, however long that is: nobody said so before.
std::vector<std::byte> read_all(tamis_source source, void* context) {
  constexpr std::size_t part = std::size_t{1} << 16;
  std::vector<std::byte> bytes;
  for (;;) {
    const std::size_t before = bytes.size();
    bytes.resize(before + part);
    const std::int64_t got = source(context, bytes.data() + before, part);
    if (got < 0) throw callback_failed("the source failed");
    if (static_cast<std::uint64_t>(got) > part) throw callback_failed("the source answered more bytes than there is room for");
    bytes.resize(before + static_cast<std::size_t>(got));
    if (got == 0) return bytes;
  }
}

// concurrent=1, and how many stripes there are then. Nothing for a filter that is used by one thread at a time.
result<std::optional<concurrent_options>> take_concurrent_options(option_list& options) {
  const auto flag = take_option(options, "concurrent");
  if (!flag) return std::optional<concurrent_options>();
  TAMIS_TRY(const bool is_concurrent, parse_flag("concurrent", *flag));
  if (!is_concurrent) return std::optional<concurrent_options>();
  concurrent_options shared;
  if (const auto text = take_option(options, "stripes")) {
    TAMIS_TRY(const std::uint64_t stripes, parse_count("stripes", *text, 256));
    shared.stripes = static_cast<std::uint32_t>(stripes);
  }
  return std::optional(shared);
}

std::span<const std::byte> key_bytes(const void* key, size_t size) { return {static_cast<const std::byte*>(key), size}; }

template <class Filter>
result<filter_owner> owned(result<Filter> made) {
  if (!made) return std::move(made).take_failure();
  return filter_owner(std::move(*made));
}

bool is_concurrent(byte_source& saved) {
  const auto index = detail::read_index(saved);
  return index && index->header.kind == concurrent_filter::saved_kind;
}
// What cannot be read is left to loading, which says why.
result<bool> holds_concurrent(const char* path) {
  TAMIS_TRY(detail::file_source file, detail::file_source::open(path));
  return is_concurrent(file);
}

result<filter_owner> loaded(std::span<const std::byte> bytes, const std::uint8_t* secret) {
  memory_source source(bytes);
  if (is_concurrent(source)) return owned(concurrent_filter::load_bytes(bytes, {.hash = hasher_of(secret)}));
  return owned(load_bytes(bytes, {.hash = hasher_of(secret)}));
}

status is_alone(const tamis_filter& filter, const char* what) {
  if (filter.shared == nullptr) return {};
  return failure{std::string("a concurrent filter cannot ") + what, error_code::unsupported};
}

status merged(tamis_filter& into, const tamis_filter& other, const tamis_remote* remote) {
  if ((into.shared == nullptr) != (other.shared == nullptr))
    return failure{"one of the filters is concurrent, and the other is not", error_code::mismatch};
  if (remote == nullptr) return into.shared == nullptr ? into.alone->merge(*other.alone) : into.shared->merge(*other.shared);
  TAMIS_CHECK(is_alone(into, "merge with a remote"));
  return into.alone->merge(*other.alone, remote->ref());
}

template <class Key>
int insert_one(tamis_filter* filter, const Key& key, tamis_error* error) noexcept {
  return guarded(error, [&]() -> result<int> {
    TAMIS_CHECK(given(filter, "filter"));
    if (filter->visit([&](auto& f) { return f.insert(key); }) == insert_result::inserted) return 1;
    return failure{"the " + filter->kind + " filter is full", error_code::full};
  });
}

template <class Key>
int erase_one(tamis_filter* filter, const Key& key, tamis_error* error) noexcept {
  return guarded(error, [&]() -> result<int> {
    TAMIS_CHECK(needs(filter, &capabilities::erase, "erase"));
    return filter->visit([&](auto& f) { return f.erase(key); }) == erase_result::erased ? 1 : 0;
  });
}

template <class Key>
std::int64_t count_one(const tamis_filter* filter, const Key& key, tamis_error* error) noexcept {
  return guarded<std::int64_t>(error, [&]() -> result<std::int64_t> {
    TAMIS_CHECK(needs(filter, &capabilities::count, "count"));
    TAMIS_TRY(const std::uint64_t copies, filter->visit([&](const auto& f) { return f.count(key); }));
    return static_cast<std::int64_t>(copies);
  });
}

// Out of line, so that asking other filters does not pay for it.
template <class Key>
TAMIS_NOINLINE bool may_share(const tamis_filter& filter, const Key& key) {
  return filter.shared->may_contain(key);
}

// In doubt a filter says "maybe".
template <class Key>
int may_contain_one(const tamis_filter* filter, const Key& key) noexcept {
  try {
    if (filter == nullptr) return 1;
    return (filter->shared == nullptr ? filter->alone->may_contain(key) : may_share(*filter, key)) ? 1 : 0;
  } catch (...) {
    return 1;
  }
}

// What a question about a filter answers; `otherwise` if it cannot.
template <class Answer, class Ask>
Answer asked(const tamis_filter* filter, Answer otherwise, Ask ask) noexcept {
  try {
    return filter == nullptr ? otherwise : filter->visit(ask);
  } catch (...) {
    return otherwise;
  }
}

}  // namespace
}  // namespace tamis::c

using namespace tamis;     // NOLINT(google-build-using-namespace)
using namespace tamis::c;  // NOLINT(google-build-using-namespace)

extern "C" {

int tamis_filter_create(const char* spec, const uint8_t* secret, tamis_filter** out, tamis_error* error) {
  return make_handle(out, error, [&]() -> result<filter_owner> {
    TAMIS_TRY(filter_spec parsed, parse_spec(spec, secret));
    TAMIS_TRY(const std::optional<concurrent_options> shared, take_concurrent_options(parsed.params.options));
    const hasher hash = parsed.hash.value_or(hasher());
    if (shared) return owned(concurrent_filter::create(parsed.id, parsed.params, hash, *shared));
    return owned(any_filter::create(parsed.id, parsed.params, hash));
  });
}

int tamis_filter_copy(const tamis_filter* filter, tamis_filter** out, tamis_error* error) {
  return make_handle(out, error, [&]() -> result<filter_owner> {
    TAMIS_CHECK(given(filter, "filter"));
    if (filter->shared == nullptr) return filter_owner(any_filter(*filter->alone));
    return owned(concurrent_filter::load_bytes(filter->shared->save_bytes(), {.hash = filter->hash()}));
  });
}

void tamis_filter_free(tamis_filter* filter) { delete filter; }

int tamis_filter_load_file(const char* path, const uint8_t* secret, tamis_filter** out, tamis_error* error) {
  return make_handle(out, error, [&]() -> result<filter_owner> {
    TAMIS_CHECK(given(path, "path"));
    TAMIS_TRY(const bool is_shared, holds_concurrent(path));
    if (is_shared) return owned(concurrent_filter::load_file(path, {.hash = hasher_of(secret)}));
    return owned(load_file(path, {.hash = hasher_of(secret)}));
  });
}

int tamis_filter_load_bytes(const void* bytes, size_t size, const uint8_t* secret, tamis_filter** out, tamis_error* error) {
  return make_handle(out, error, [&]() -> result<filter_owner> {
    if (size > 0) TAMIS_CHECK(given(bytes, "bytes"));
    return loaded(key_bytes(bytes, size), secret);
  });
}

int tamis_filter_load(tamis_source source, void* context, const uint8_t* secret, tamis_filter** out, tamis_error* error) {
  return make_handle(out, error, [&]() -> result<filter_owner> {
    if (source == nullptr) return failure{"source: is NULL"};
    return loaded(read_all(source, context), secret);
  });
}

int tamis_filter_open_mapped(const char* path, const uint8_t* secret, tamis_filter** out, tamis_error* error) {
  return make_handle(out, error, [&]() -> result<filter_owner> {
    TAMIS_CHECK(given(path, "path"));
    return owned(open_mapped(path, {.hash = hasher_of(secret)}));
  });
}

int tamis_filter_verify(tamis_filter* filter, tamis_error* error) {
  return guarded(error, [&]() -> result<int> {
    TAMIS_CHECK(given(filter, "filter"));
    if (auto* const mapped = std::get_if<mapped_filter>(&filter->owner)) TAMIS_CHECK(mapped->verify());
    return TAMIS_OK;
  });
}

int tamis_filter_is_verified(const tamis_filter* filter) {
  if (filter == nullptr) return 0;
  const auto* const mapped = std::get_if<mapped_filter>(&filter->owner);
  return mapped == nullptr || mapped->is_verified() ? 1 : 0;
}

int tamis_filter_save_file(const tamis_filter* filter, const char* path, tamis_error* error) {
  return guarded(error, [&]() -> result<int> {
    TAMIS_CHECK(given(filter, "filter"));
    TAMIS_CHECK(given(path, "path"));
    TAMIS_CHECK(filter->visit([&](const auto& f) { return f.save_file(path); }));
    return TAMIS_OK;
  });
}

int tamis_filter_save(const tamis_filter* filter, tamis_sink sink, void* context, tamis_error* error) {
  return guarded(error, [&]() -> result<int> {
    TAMIS_CHECK(given(filter, "filter"));
    if (sink == nullptr) return failure{"sink: is NULL"};
    callback_sink out(sink, context);
    TAMIS_CHECK(filter->visit([&](const auto& f) { return f.save(out); }));
    return TAMIS_OK;
  });
}

int64_t tamis_filter_saved_size(const tamis_filter* filter, tamis_error* error) {
  return guarded<std::int64_t>(error, [&]() -> result<std::int64_t> {
    TAMIS_CHECK(given(filter, "filter"));
    counting_sink counted;
    TAMIS_CHECK(filter->visit([&](const auto& f) { return f.save(counted); }));
    return static_cast<std::int64_t>(counted.count());
  });
}

int tamis_may_contain_u64(const tamis_filter* filter, uint64_t key) { return may_contain_one(filter, key); }
int tamis_may_contain_bytes(const tamis_filter* filter, const void* key, size_t size) {
  return may_contain_one(filter, key_bytes(key, size));
}
int tamis_insert_u64(tamis_filter* filter, uint64_t key, tamis_error* error) { return insert_one(filter, key, error); }
int tamis_insert_bytes(tamis_filter* filter, const void* key, size_t size, tamis_error* error) {
  return insert_one(filter, key_bytes(key, size), error);
}
int tamis_erase_u64(tamis_filter* filter, uint64_t key, tamis_error* error) { return erase_one(filter, key, error); }
int tamis_erase_bytes(tamis_filter* filter, const void* key, size_t size, tamis_error* error) {
  return erase_one(filter, key_bytes(key, size), error);
}
int64_t tamis_count_u64(const tamis_filter* filter, uint64_t key, tamis_error* error) { return count_one(filter, key, error); }
int64_t tamis_count_bytes(const tamis_filter* filter, const void* key, size_t size, tamis_error* error) {
  return count_one(filter, key_bytes(key, size), error);
}

int tamis_merge(tamis_filter* filter, const tamis_filter* other, const tamis_remote* remote, tamis_error* error) {
  return guarded(error, [&]() -> result<int> {
    TAMIS_CHECK(needs(filter, &capabilities::merge, "merge"));
    TAMIS_CHECK(given(other, "other"));
    TAMIS_CHECK(merged(*filter, *other, remote));
    return TAMIS_OK;
  });
}

int tamis_expand(tamis_filter* filter, tamis_error* error) {
  return guarded(error, [&]() -> result<int> {
    TAMIS_CHECK(needs(filter, &capabilities::expand, "expand"));
    TAMIS_CHECK(filter->visit([](auto& f) { return f.expand(); }));
    return TAMIS_OK;
  });
}

int64_t tamis_fold(tamis_filter* filter, double fpr, tamis_error* error) {
  return guarded<std::int64_t>(error, [&]() -> result<std::int64_t> {
    TAMIS_CHECK(given(filter, "filter"));
    TAMIS_CHECK(is_alone(*filter, "be folded"));
    TAMIS_TRY(const std::uint64_t by, filter->alone->fold(fpr));
    return static_cast<std::int64_t>(by);
  });
}

uint32_t tamis_filter_can(const tamis_filter* filter) {
  return asked(filter, std::uint32_t{0}, [](const auto& f) {
    const capabilities can = f.can();
    return (can.erase ? std::uint32_t{TAMIS_CAN_ERASE} : 0) | (can.count ? std::uint32_t{TAMIS_CAN_COUNT} : 0) |
           (can.adapt ? std::uint32_t{TAMIS_CAN_ADAPT} : 0) | (can.expand ? std::uint32_t{TAMIS_CAN_EXPAND} : 0) |
           (can.merge ? std::uint32_t{TAMIS_CAN_MERGE} : 0) | (can.rejuvenate ? std::uint32_t{TAMIS_CAN_REJUVENATE} : 0);
  });
}

const char* tamis_filter_kind(const tamis_filter* filter) { return filter == nullptr ? "" : filter->kind.c_str(); }

uint64_t tamis_filter_keys(const tamis_filter* filter) {
  return asked(filter, std::uint64_t{0}, [](const auto& f) { return f.keys(); });
}
uint64_t tamis_filter_capacity(const tamis_filter* filter) {
  return asked(filter, std::uint64_t{0}, [](const auto& f) { return f.capacity(); });
}
uint64_t tamis_filter_known_mistakes(const tamis_filter* filter) {
  return asked(filter, std::uint64_t{0}, [](const auto& f) {
    if constexpr (requires { f.known_mistakes(); })
      return f.known_mistakes();
    else
      return f.stats().known_mistakes;
  });
}
double tamis_filter_expected_fpr(const tamis_filter* filter) {
  return asked(filter, 1.0, [](const auto& f) { return f.expected_fpr(); });
}
void tamis_filter_bits(const tamis_filter* filter, uint64_t* fast, uint64_t* slow) {
  const memory_bits bits = asked(filter, memory_bits{}, [](const auto& f) { return f.bits(); });
  if (fast != nullptr) *fast = bits.fast;
  if (slow != nullptr) *slow = bits.slow;
}
int tamis_filter_is_keyed(const tamis_filter* filter) {
  return filter != nullptr && filter->hash().family() == hash_family::keyed ? 1 : 0;
}
int tamis_filter_same_hash(const tamis_filter* filter, const tamis_filter* other) {
  if (other == nullptr) return 0;
  return asked(filter, 0, [&](const auto& f) { return f.hash().identity() == other->hash().identity() ? 1 : 0; });
}
uint32_t tamis_filter_stripes(const tamis_filter* filter) {
  return filter == nullptr || filter->shared == nullptr ? 0 : filter->shared->stripes();
}

int tamis_filter_settings(const tamis_filter* filter, tamis_sink sink, void* context, tamis_error* error) {
  return guarded(error, [&]() -> result<int> {
    TAMIS_CHECK(given(filter, "filter"));
    if (sink == nullptr) return failure{"sink: is NULL"};
    json_object object;
    for (const auto& [name, value] : filter->visit([](const auto& f) { return f.settings(); })) object.text(name, value);
    TAMIS_CHECK(sent(object.str(), sink, context));
    return TAMIS_OK;
  });
}
}
