// The module's entry, its type and its settings.

#include <algorithm>

#include "server.hpp"
#include "tamis/registry.hpp"

namespace tamis::redis {

void emit_parts(server_io* io, server_string* key, const value& v);

namespace {

constexpr int encoding_version = 1;
constexpr std::size_t piece_bytes = 1 << 20;

// A saved value in the server's database file: its length, then strings of at most 1 MiB.
class into_rdb final : public byte_sink {
 public:
  explicit into_rdb(server_io* io) : io_(io) {}
  status write(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const std::size_t size = std::min(bytes.size(), piece_bytes - piece_.size());
      piece_.append(reinterpret_cast<const char*>(bytes.data()), size);
      bytes = bytes.subspan(size);
      if (piece_.size() == piece_bytes) flush();
    }
    return {};
  }
  void flush() {
    if (!piece_.empty()) api.SaveStringBuffer(io_, piece_.data(), piece_.size());
    piece_.clear();
  }

 private:
  server_io* io_;
  std::string piece_;
};

class from_rdb final : public byte_source {
 public:
  from_rdb(server_io* io, std::uint64_t total) : io_(io), remaining_(total) {}
  from_rdb(const from_rdb&) = delete;
  from_rdb& operator=(const from_rdb&) = delete;
  ~from_rdb() override { drop(); }

  status read(std::span<std::byte> bytes) override {
    if (bytes.size() > remaining_) return failure{"it ends too early", error_code::damaged};
    while (!bytes.empty()) {
      if (used_ == size_) TAMIS_CHECK(next());
      const std::size_t size = std::min(bytes.size(), size_ - used_);
      std::copy_n(reinterpret_cast<const std::byte*>(piece_) + used_, size, bytes.data());
      used_ += size;
      remaining_ -= size;
      bytes = bytes.subspan(size);
    }
    return {};
  }
  std::uint64_t remaining() const override { return remaining_; }

 private:
  status next() {
    drop();
    piece_ = api.LoadStringBuffer(io_, &size_);
    used_ = 0;
    if (piece_ == nullptr || api.IsIOError(io_) != 0) return failure{"it cannot be read", error_code::io};
    if (size_ == 0 || size_ > remaining_) return failure{"a piece of it has a wrong length", error_code::damaged};
    return {};
  }
  void drop() {
    if (piece_ != nullptr) api.Free(piece_);
    piece_ = nullptr;
    size_ = 0;
  }

  server_io* io_;
  std::uint64_t remaining_;
  char* piece_ = nullptr;
  std::size_t size_ = 0;
  std::size_t used_ = 0;
};

// A value from outside may not be larger than what may be made here. The server's own file and a master's values are as they
// are.
std::uint64_t limit_of_load(server_io* io) {
  const int flags = api.GetContextFlags(api.GetContextFromIO(io));
  return (flags & (server_is_loading | server_is_replica)) != 0 ? 0 : static_cast<std::uint64_t>(config.memory_limit);
}

void* rdb_load(server_io* io, int version) {
  try {
    if (version != encoding_version) {
      api.LogIOError(io, "warning", "tamis: a value has encoding version %d, this module reads version %d", version,
                     encoding_version);
      return nullptr;
    }
    const std::uint64_t total = api.LoadUnsigned(io);
    if (api.IsIOError(io) != 0) return nullptr;
    const std::uint64_t limit = limit_of_load(io);
    if (limit != 0 && total > limit) {
      api.LogIOError(io, "warning", "tamis: a value of %llu bytes is larger than tamis.memory-limit",
                     static_cast<unsigned long long>(total));
      return nullptr;
    }
    from_rdb source(io, total);
    auto made = value::load(source, limit, now_ms());
    if (made) return std::move(*made).release();
    ++seen_in_all.load_failures;
    api.LogIOError(io, "warning", "tamis: a value cannot be loaded: %s", made.message().c_str());
  } catch (const std::exception& thrown) {
    api.LogIOError(io, "warning", "tamis: a value cannot be loaded: %s", thrown.what());
  }
  return nullptr;
}

void rdb_save(server_io* io, void* held) {
  const auto& v = *static_cast<const value*>(held);
  try {
    const value::saved whole(v);
    api.SaveUnsigned(io, whole.bytes());
    into_rdb sink(io);
    whole.write(sink).value();
    sink.flush();
  } catch (const std::exception& thrown) {
    api.LogIOError(io, "warning", "tamis: a value cannot be saved: %s", thrown.what());
  }
}

void aof_rewrite(server_io* io, server_string* key, void* held) {
  try {
    emit_parts(io, key, *static_cast<const value*>(held));
  } catch (const std::exception& thrown) {
    api.LogIOError(io, "warning", "tamis: a value cannot be written: %s", thrown.what());
  }
}

class into_digest final : public byte_sink {
 public:
  explicit into_digest(server_digest* to) : to_(to) {}
  status write(std::span<const std::byte> bytes) override {
    api.DigestAddStringBuffer(to_, reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return {};
  }

 private:
  server_digest* to_;
};

void digest_value(server_digest* to, void* held) {
  into_digest sink(to);
  (void)static_cast<const value*>(held)->save(sink);
  api.DigestEndSequence(to);
}

std::size_t mem_usage(server_options*, const void* held, std::size_t) { return static_cast<const value*>(held)->bytes(); }

// Above 64 elements of effort the server frees a value in its own thread.
std::size_t free_effort(server_options*, const void* held) { return 1 + static_cast<const value*>(held)->bytes() / 1024; }

void free_value(void* held) { delete static_cast<value*>(held); }

void* copy(server_options*, const void* held) {
  try {
    return static_cast<const value*>(held)->clone().release();
  } catch (const std::exception&) {
    return nullptr;
  }
}

long long get_setting(const char*, void* at) { return *static_cast<long long*>(at); }
int set_setting(const char*, long long to, void* at, server_string**) {
  *static_cast<long long*>(at) = to;
  return ok;
}

int get_choice(const char*, void* at) { return *static_cast<int*>(at); }
int set_choice(const char*, int to, void* at, server_string**) {
  *static_cast<int*>(at) = to;
  return ok;
}

server_string* shown_rate = nullptr;
server_string* get_rate(const char*, void*) { return shown_rate; }
int set_rate(const char*, server_string* text, void* at, server_string** wrong) {
  const auto rate = real_number(view(text));
  if (!rate || !(*rate > 0 && *rate < 1)) {
    constexpr std::string_view why = "an error rate is above 0 and below 1";
    *wrong = api.CreateString(nullptr, why.data(), why.size());
    return failed;
  }
  *static_cast<double*>(at) = *rate;
  if (shown_rate != nullptr) api.FreeString(nullptr, shown_rate);
  const std::string_view kept = view(text);
  shown_rate = api.CreateString(nullptr, kept.data(), kept.size());
  return ok;
}

bool register_choices(server_context* context) {
  static const char* names[] = {"auto", "yes", "no"};
  static constexpr int values[] = {compat_auto, compat_yes, compat_no};
  return api.RegisterEnumConfig(context, "compat", compat_auto, config_is_immutable, names, values, 3, get_choice, set_choice,
                                nullptr, &config.compat) == ok &&
         api.RegisterStringConfig(context, "bf-error-rate", "0.01", 0, get_rate, set_rate, nullptr, &config.bf_error_rate) ==
             ok;
}

bool register_settings(server_context* context) {
  const auto number = [&](const char* name, long long& at, long long least, long long most, unsigned flags) {
    return api.RegisterNumericConfig(context, name, at, flags, least, most, get_setting, set_setting, nullptr, &at) == ok;
  };
  return number("memory-limit", config.memory_limit, 0, 1LL << 46, config_is_memory) &&
         number("adapt-grace-ms", config.grace_ms, 0, 86'400'000, 0) &&
         number("recent-adds", config.recent_adds, 0, 1 << 24, 0) &&
         number("load-timeout-ms", config.load_timeout_ms, 1, 86'400'000, 0) &&
         number("bf-capacity", config.bf_capacity, 1, 1 << 30, 0) &&
         number("bf-expansion", config.bf_expansion, 1, 32'768, 0) &&
         number("cf-capacity", config.cf_capacity, 4, 1 << 30, 0) && register_choices(context) &&
         api.LoadConfigs(context) == ok;
}

void* zeroed(std::size_t bytes) {
  if (api.TryCalloc != nullptr) return api.TryCalloc(1, bytes);
  // Fresh pages of large blocks are zero already, which calloc knows. It ends the server where there is none, as any large
  // value of its own would.
  if (bytes >= 1 << 20) return api.Calloc(1, bytes);
  void* const block = api.TryAlloc(bytes);
  if (block != nullptr) std::fill_n(static_cast<std::byte*>(block), bytes, std::byte{0});
  return block;
}

void show(server_info* to, int) {
  if (api.InfoAddSection(to, "") != ok) return;
  const std::pair<const char*, std::uint64_t> fields[] = {{"values", all_values.count.load()},
                                                          {"bytes", all_values.bytes.load()},
                                                          {"keys", all_values.keys.load()},
                                                          {"adds", seen_in_all.adds},
                                                          {"checks", seen_in_all.checks},
                                                          {"maybes", seen_in_all.maybes},
                                                          {"mistakes_reported", seen_in_all.reports},
                                                          {"mistakes_fixed", seen_in_all.fixed},
                                                          {"mistakes_refused", seen_in_all.refused},
                                                          {"load_failures", seen_in_all.load_failures},
                                                          {"longest_add_us", seen_in_all.longest_add_us}};
  for (const auto& [name, number] : fields) api.InfoAddFieldULongLong(to, name, number);
}

// Where RedisBloom is loaded, its commands stay its own.
bool register_compatible(server_context* context, bool (*add)(server_context*), const char* family) {
  if (config.compat == compat_no || add(context)) return true;
  api.Log(context, "notice", "tamis: %s commands exist already and are left alone", family);
  return config.compat == compat_auto;
}

void drop_old(server_context*, server_event, std::uint64_t, void*) { drop_abandoned_parts(); }
void note_role(server_context*, server_event, std::uint64_t, void*) { master_since = now_ms(); }

int start(server_context* context) {
  if (const std::string_view missing = load_api(context); !missing.empty()) {
    if (api.Log != nullptr)
      api.Log(context, "warning", "tamis: this server has no RedisModule_%s: 7.0 or later is needed", missing.data());
    return failed;
  }
  if (api.IsModuleNameBusy("tamis") != 0) return failed;
  api.SetModuleAttribs(context, "tamis", 1, api_version);
  set_allocator({api.TryAlloc, zeroed, api.Free, api.MallocSize});
  set_default_memory(&server_memory());
  (void)registry::builtin();  // here, so that no value pays for it
  api.SetModuleOptions(context, handles_io_errors | signals_changes_itself | handles_async_loading);
  static type_methods methods;
  methods.rdb_load = rdb_load;
  methods.rdb_save = rdb_save;
  methods.aof_rewrite = aof_rewrite;
  methods.digest = digest_value;
  methods.free = free_value;
  methods.mem_usage2 = mem_usage;
  methods.free_effort2 = free_effort;
  methods.copy2 = copy;
  type = api.CreateDataType(context, "tamisfltr", encoding_version, &methods);
  if (type == nullptr || !register_settings(context) || !register_tamis(context)) return failed;
  if (api.SubscribeToServerEvent(context, role_changed, note_role) != ok) return failed;
  if (api.SubscribeToServerEvent(context, cron_loop, drop_old) != ok) return failed;
  if (api.RegisterInfoFunc(context, show) != ok) return failed;
  if (!register_compatible(context, register_bloom, "BF") || !register_compatible(context, register_cuckoo, "CF"))
    return failed;
  return ok;
}

}  // namespace
}  // namespace tamis::redis

extern "C" [[gnu::visibility("default")]] int RedisModule_OnLoad(tamis::redis::server_context* context, void**, int) {
  try {
    return tamis::redis::start(context);
  } catch (...) {
    return tamis::redis::failed;
  }
}
