// A guarded store behind tamis_guard.h.

#include <cinttypes>
#include <vector>

#include "integrations/c/boundary.hpp"
#include "integrations/c/json.hpp"
#include "integrations/c/keys.hpp"
#include "integrations/c/spec.hpp"
#include "tamis/guard/guarded_store.hpp"
#include "tamis/guard/memory_store.hpp"
#include "tamis/guard/rocksdb_store.hpp"
#include "tamis/tamis_guard.h"

struct tamis_store {
  mutable tamis::guarded_store store;
};

struct tamis_batch {
  tamis::write_batch changes;
};

namespace tamis::c {
namespace {

result<byte_view> bytes_given(const void* bytes, size_t size, const char* name) {
  if (size > 0) TAMIS_CHECK(given(bytes, name));
  return byte_view(std::string_view(static_cast<const char*>(bytes), size));
}

struct store_spec {
  guard_options guard;
  rocksdb_options disk;
};

result<store_spec> parse_store_spec(const char* spec, const std::uint8_t* secret) {
  TAMIS_TRY(filter_spec parsed, parse_spec(spec, secret));
  option_list& options = parsed.params.options;
  store_spec made;
  if (const auto text = take_option(options, "sync")) {
    TAMIS_TRY(made.guard.sync, parse_flag("sync", *text));
  }
  if (const auto text = take_option(options, "ordered")) {
    TAMIS_TRY(made.disk.ordered, parse_flag("ordered", *text));
  }
  if (const auto text = take_option(options, "stripes")) {
    TAMIS_TRY(const std::uint64_t stripes, parse_count("stripes", *text, 256));
    made.guard.stripes = static_cast<std::uint32_t>(stripes);
  }
  if (const auto text = take_option(options, "cache")) {
    TAMIS_TRY(made.disk.cache_bytes, parse_count("cache", *text, std::uint64_t{1} << 50));
  }
  made.guard.filter = parsed.id;
  made.guard.params = parsed.params;
  made.guard.hash = parsed.hash;
  return made;
}

result<std::shared_ptr<store>> open_behind(const char* directory, const rocksdb_options& options) {
  if (directory == nullptr) {
    if (options.ordered) return failure{"ordered: a store in memory is not", error_code::unsupported};
    return std::shared_ptr<store>(std::make_shared<memory_store>());
  }
  TAMIS_TRY(auto opened, rocksdb_store::open(directory, options));
  return std::shared_ptr<store>(std::move(opened));
}

// A visit of the store that calls back: what it throws waits until the store's frames are gone.
class safe_visit {
 public:
  template <class Call>
  bool operator()(Call call) {
    const int answer = call();
    if (answer < 0) failed_ = true;
    return answer == 0;
  }
  void check() const {
    if (failed_) throw callback_failed("the callback failed");
  }

 private:
  bool failed_ = false;
};

result<nullable_keys> store_keys(const tamis_keys* keys) {
  TAMIS_TRY(nullable_keys batch, nullable_keys::checked(keys));
  if (batch.size() > 0 && !batch.has_bytes()) return failure{"keys: a store's keys are bytes; give a form that has them"};
  return batch;
}

status get_chunk(guarded_store& store, std::span<const byte_view> keys, std::span<const std::uint64_t> places,
                 tamis_take_value take, void* context) {
  auto found = store.multi_get(keys);
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!found[i]) return std::move(found[i]).take_failure();
    const std::optional<std::string>& value = *found[i];
    const int answer = value ? take(context, places[i], value->data(), value->size()) : take(context, places[i], nullptr, 0);
    if (answer < 0) throw callback_failed("the callback failed");
  }
  return {};
}

std::string stats_text(const guarded_store& store) {
  const guard_stats s = store.stats();
  json_object o;
  o.number("queries", s.queries).number("negatives", s.negatives).number("first_false_positives", s.first_false_positives);
  o.number("repeated_false_positives", s.repeated_false_positives).number("unguarded", s.unguarded);
  o.number("store_reads", s.store_reads).number("adaptations", s.adaptations);
  o.number("known_mistakes", s.known_mistakes).number("unfixable", s.unfixable);
  o.number("adaptations_left", s.adaptations_left).number("rejuvenations", s.rejuvenations);
  o.number("left_behind", s.left_behind).number("rebuilds", s.rebuilds).number("snapshots", s.snapshots);
  o.number("failed_snapshots", s.failed_snapshots).number("records_since_snapshot", s.records_since_snapshot);
  const recovery_report& back = store.recovered();
  o.text("recovered", to_string(back.way)).number("replayed", back.replayed).text("reason", back.reason);
  const memory_bits bits = store.bits();
  o.number("fast_bits", bits.fast).number("slow_bits", bits.slow).number("stripes", store.stripes());
  char rate[32];
  std::snprintf(rate, sizeof rate, "%.9g", store.expected_fpr());
  for (char& c : rate) c = c == ',' ? '.' : c;  // JSON knows no other decimal point, whatever the locale says
  return o.raw("expected_fpr", rate).str();
}

}  // namespace
}  // namespace tamis::c

using namespace tamis;     // NOLINT(google-build-using-namespace)
using namespace tamis::c;  // NOLINT(google-build-using-namespace)

extern "C" {

int tamis_store_open(const char* directory, const char* spec, const uint8_t* secret, tamis_store** out, tamis_error* error) {
  return make_handle(out, error, [&]() -> result<tamis_store> {
    TAMIS_TRY(const store_spec parsed, parse_store_spec(spec, secret));
    TAMIS_TRY(std::shared_ptr<store> behind, open_behind(directory, parsed.disk));
    TAMIS_TRY(guarded_store opened, guarded_store::open(std::move(behind), parsed.guard));
    return tamis_store{std::move(opened)};
  });
}

int tamis_store_close(tamis_store* store, tamis_error* error) {
  if (store == nullptr) return TAMIS_OK;
  const int answer = guarded(error, [&]() -> result<int> {
    TAMIS_CHECK(store->store.close());
    return TAMIS_OK;
  });
  delete store;
  return answer;
}

int tamis_store_put(tamis_store* store, const void* key, size_t key_size, const void* value, size_t value_size,
                    tamis_error* error) {
  return guarded(error, [&]() -> result<int> {
    TAMIS_CHECK(given(store, "store"));
    TAMIS_TRY(const byte_view k, bytes_given(key, key_size, "key"));
    TAMIS_TRY(const byte_view v, bytes_given(value, value_size, "value"));
    TAMIS_CHECK(store->store.put(k, v));
    return TAMIS_OK;
  });
}

int tamis_store_erase(tamis_store* store, const void* key, size_t size, tamis_error* error) {
  return guarded(error, [&]() -> result<int> {
    TAMIS_CHECK(given(store, "store"));
    TAMIS_TRY(const byte_view k, bytes_given(key, size, "key"));
    TAMIS_TRY(const bool was_there, store->store.erase(k));
    return was_there ? 1 : 0;
  });
}

int tamis_store_get(tamis_store* store, const void* key, size_t size, tamis_sink sink, void* context, tamis_error* error) {
  return guarded(error, [&]() -> result<int> {
    TAMIS_CHECK(given(store, "store"));
    if (sink == nullptr) return failure{"sink: is NULL"};
    TAMIS_TRY(const byte_view k, bytes_given(key, size, "key"));
    TAMIS_TRY(const std::optional<std::string> value, store->store.get(k));
    if (!value) return 0;
    TAMIS_CHECK(sent(*value, sink, context));
    return 1;
  });
}

int tamis_store_contains(tamis_store* store, const void* key, size_t size, tamis_error* error) {
  return guarded(error, [&]() -> result<int> {
    TAMIS_CHECK(given(store, "store"));
    TAMIS_TRY(const byte_view k, bytes_given(key, size, "key"));
    TAMIS_TRY(const bool is_there, store->store.contains(k));
    return is_there ? 1 : 0;
  });
}

int tamis_store_may_contain(const tamis_store* store, const void* key, size_t size) {
  if (store == nullptr || (key == nullptr && size > 0)) return 1;
  try {
    return store->store.may_contain(std::string_view(static_cast<const char*>(key), size)) ? 1 : 0;
  } catch (...) {
    return 1;
  }
}

int tamis_store_get_many(tamis_store* store, const tamis_keys* keys, tamis_take_value take, void* context, tamis_error* error) {
  return guarded(error, [&]() -> result<int> {
    TAMIS_CHECK(given(store, "store"));
    if (take == nullptr) return failure{"take: is NULL"};
    TAMIS_TRY(const nullable_keys batch, store_keys(keys));
    std::vector<byte_view> views;
    std::vector<std::uint64_t> places;
    for (std::uint64_t i = 0; i < batch.size(); ++i) {
      if (batch.is_null(i)) {
        if (take(context, i, nullptr, 0) < 0) throw callback_failed("the callback failed");
        continue;
      }
      views.emplace_back(batch.bytes(i));
      places.push_back(i);
      if (views.size() < nullable_keys::chunk_size && i + 1 < batch.size()) continue;
      TAMIS_CHECK(get_chunk(store->store, views, places, take, context));
      views.clear(), places.clear();
    }
    if (!views.empty()) TAMIS_CHECK(get_chunk(store->store, views, places, take, context));
    return TAMIS_OK;
  });
}

int tamis_store_contains_many(tamis_store* store, const tamis_keys* keys, uint8_t* out, tamis_error* error) {
  return guarded(error, [&]() -> result<int> {
    TAMIS_CHECK(given(store, "store"));
    TAMIS_TRY(const nullable_keys batch, store_keys(keys));
    if (batch.size() > 0) TAMIS_CHECK(given(out, "out"));
    for (std::uint64_t i = 0; i < batch.size(); ++i) {
      out[i] = 0;
      if (batch.is_null(i)) continue;
      TAMIS_TRY(const bool is_there, store->store.contains(batch.bytes(i)));
      out[i] = is_there ? 1 : 0;
    }
    return TAMIS_OK;
  });
}

int tamis_batch_create(tamis_batch** out, tamis_error* error) {
  return make_handle(out, error, [&]() -> result<tamis_batch> { return tamis_batch{}; });
}

void tamis_batch_free(tamis_batch* batch) { delete batch; }

int tamis_batch_put(tamis_batch* batch, const void* key, size_t key_size, const void* value, size_t value_size,
                    tamis_error* error) {
  return guarded(error, [&]() -> result<int> {
    TAMIS_CHECK(given(batch, "batch"));
    TAMIS_TRY(const byte_view k, bytes_given(key, key_size, "key"));
    TAMIS_TRY(const byte_view v, bytes_given(value, value_size, "value"));
    batch->changes.put(k, v);
    return TAMIS_OK;
  });
}

int tamis_batch_erase(tamis_batch* batch, const void* key, size_t size, tamis_error* error) {
  return guarded(error, [&]() -> result<int> {
    TAMIS_CHECK(given(batch, "batch"));
    TAMIS_TRY(const byte_view k, bytes_given(key, size, "key"));
    batch->changes.erase(k);
    return TAMIS_OK;
  });
}

int tamis_store_write(tamis_store* store, const tamis_batch* batch, tamis_error* error) {
  return guarded(error, [&]() -> result<int> {
    TAMIS_CHECK(given(store, "store"));
    TAMIS_CHECK(given(batch, "batch"));
    TAMIS_CHECK(store->store.write(batch->changes));
    return TAMIS_OK;
  });
}

int tamis_store_load(tamis_store* store, const tamis_batch* puts, tamis_error* error) {
  return guarded(error, [&]() -> result<int> {
    TAMIS_CHECK(given(store, "store"));
    TAMIS_CHECK(given(puts, "puts"));
    TAMIS_CHECK(store->store.load(puts->changes));
    return TAMIS_OK;
  });
}

int tamis_store_scan(const tamis_store* store, const void* first, size_t size, tamis_take_entry take, void* context,
                     tamis_error* error) {
  return guarded(error, [&]() -> result<int> {
    TAMIS_CHECK(given(store, "store"));
    if (take == nullptr) return failure{"take: is NULL"};
    TAMIS_TRY(const byte_view from, bytes_given(first, size, "first"));
    safe_visit visit;
    TAMIS_CHECK(store->store.scan_keys(from, [&](std::string_view key, std::string_view value) {
      return visit([&] { return take(context, key.data(), key.size(), value.data(), value.size()); });
    }));
    visit.check();
    return TAMIS_OK;
  });
}

int tamis_store_snapshot(tamis_store* store, tamis_error* error) {
  return guarded(error, [&]() -> result<int> {
    TAMIS_CHECK(given(store, "store"));
    TAMIS_CHECK(store->store.snapshot());
    return TAMIS_OK;
  });
}

int tamis_store_wait(tamis_store* store, tamis_error* error) {
  return guarded(error, [&]() -> result<int> {
    TAMIS_CHECK(given(store, "store"));
    store->store.wait_until_ready();
    return TAMIS_OK;
  });
}

int tamis_store_stats(const tamis_store* store, tamis_sink sink, void* context, tamis_error* error) {
  return guarded(error, [&]() -> result<int> {
    TAMIS_CHECK(given(store, "store"));
    if (sink == nullptr) return failure{"sink: is NULL"};
    TAMIS_CHECK(sent(stats_text(store->store), sink, context));
    return TAMIS_OK;
  });
}
}
