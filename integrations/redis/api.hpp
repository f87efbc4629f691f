#pragma once

// The module API of Redis 7.0 and Valkey, as far as this module uses it. A server hands out its functions by name: the first
// word of the context that it gives to RedisModule_OnLoad is the function to ask. Each line below is a name and a type; the
// table holds one typed pointer per line, so that a wrong argument does not compile.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace tamis::redis {

// The server's own types: only their addresses are known here.
struct server_context;
struct server_string;
struct server_key;
struct server_io;
struct server_type;
struct server_digest;
struct server_info;
struct server_command;
struct server_options;  // what the callbacks of a type are told about their key

inline constexpr int ok = 0;
inline constexpr int failed = 1;
inline constexpr int api_version = 1;

inline constexpr int open_read = 1;
inline constexpr int open_write = 2;
inline constexpr int key_is_empty = 0;

inline constexpr std::uint64_t handles_io_errors = 1 << 0;
inline constexpr std::uint64_t signals_changes_itself = 1 << 1;
inline constexpr std::uint64_t handles_async_loading = 1 << 2;

// Of the context: on whose behalf, and in what state of the server, a command runs.
inline constexpr int server_is_replica = 1 << 3;
inline constexpr int server_may_evict = 1 << 9;
inline constexpr int sent_by_master = 1 << 12;
inline constexpr int server_is_loading = 1 << 13;
inline constexpr int client_speaks_resp3 = 1 << 22;

inline constexpr int event_of_module = 1 << 13;
inline constexpr unsigned config_is_immutable = 1 << 0;
inline constexpr unsigned config_is_memory = 1 << 7;
inline constexpr long length_follows = -1;

using command_function = int(server_context*, server_string**, int);
using info_function = void(server_info*, int);
using get_number = long long(const char*, void*);
using set_number = int(const char*, long long, void*, server_string**);
using get_string = server_string*(const char*, void*);
using set_string = int(const char*, server_string*, void*, server_string**);
using get_int = int(const char*, void*);
using set_int = int(const char*, int, void*, server_string**);
// Of the events of the server: its number, and the version of its data.
struct server_event {
  std::uint64_t id;
  std::uint64_t version;
};
inline constexpr server_event role_changed{0, 1};
inline constexpr server_event cron_loop{8, 1};
using event_function = void(server_context*, server_event, std::uint64_t, void*);

// What COMMAND DOCS shows. The server reads as far as the version says; the sizes are those of tables that are not given here.
struct command_info_version {
  int version = 1;
  std::size_t history_entry = 16;
  std::size_t key_spec = 64;
  std::size_t argument = 72;
};
struct command_info {
  const command_info_version* version;
  const char* summary;
  const char* complexity;
  const char* since = nullptr;
  const void* history = nullptr;
  const char* tips = nullptr;
  int arity;
  const void* key_specs = nullptr;
  const void* arguments = nullptr;
};

using apply_config = int(server_context*, void*, server_string**);

// What the server calls for values of a type. The order of the fields is the server's.
struct type_methods {
  std::uint64_t version = 4;
  void* (*rdb_load)(server_io*, int) = nullptr;
  void (*rdb_save)(server_io*, void*) = nullptr;
  void (*aof_rewrite)(server_io*, server_string*, void*) = nullptr;
  std::size_t (*mem_usage)(const void*) = nullptr;
  void (*digest)(server_digest*, void*) = nullptr;
  void (*free)(void*) = nullptr;
  int (*aux_load)(server_io*, int, int) = nullptr;
  void (*aux_save)(server_io*, int) = nullptr;
  int aux_save_triggers = 0;
  std::size_t (*free_effort)(server_string*, const void*) = nullptr;
  void (*unlink)(server_string*, const void*) = nullptr;
  void* (*copy)(server_string*, server_string*, const void*) = nullptr;
  int (*defrag)(void*, server_string*, void**) = nullptr;
  std::size_t (*mem_usage2)(server_options*, const void*, std::size_t) = nullptr;
  std::size_t (*free_effort2)(server_options*, const void*) = nullptr;
  void (*unlink2)(server_options*, const void*) = nullptr;
  void* (*copy2)(server_options*, const void*) = nullptr;
};

// TAMIS_REDIS_API(name, type of the function)
#define TAMIS_REDIS_API_LIST                                                                                                \
  TAMIS_REDIS_API(TryAlloc, void*(std::size_t))                                                                             \
  TAMIS_REDIS_API(Calloc, void*(std::size_t, std::size_t))                                                                  \
  TAMIS_REDIS_API(Free, void(void*))                                                                                        \
  TAMIS_REDIS_API(MallocSize, std::size_t(void*))                                                                           \
  TAMIS_REDIS_API(SetModuleAttribs, void(server_context*, const char*, int, int))                                           \
  TAMIS_REDIS_API(IsModuleNameBusy, int(const char*))                                                                       \
  TAMIS_REDIS_API(SetModuleOptions, void(server_context*, int))                                                             \
  TAMIS_REDIS_API(CreateCommand, int(server_context*, const char*, command_function*, const char*, int, int, int))          \
  TAMIS_REDIS_API(GetCommand, server_command*(server_context*, const char*))                                                \
  TAMIS_REDIS_API(SetCommandInfo, int(server_command*, const command_info*))                                                \
  TAMIS_REDIS_API(CreateDataType, server_type*(server_context*, const char*, int, type_methods*))                           \
  TAMIS_REDIS_API(WrongArity, int(server_context*))                                                                         \
  TAMIS_REDIS_API(GetContextFlags, int(server_context*))                                                                    \
  TAMIS_REDIS_API(GetSelectedDb, int(server_context*))                                                                      \
  TAMIS_REDIS_API(OpenKey, server_key*(server_context*, server_string*, int))                                               \
  TAMIS_REDIS_API(CloseKey, void(server_key*))                                                                              \
  TAMIS_REDIS_API(KeyType, int(server_key*))                                                                                \
  TAMIS_REDIS_API(ModuleTypeGetType, server_type*(server_key*))                                                             \
  TAMIS_REDIS_API(ModuleTypeGetValue, void*(server_key*))                                                                   \
  TAMIS_REDIS_API(ModuleTypeSetValue, int(server_key*, server_type*, void*))                                                \
  TAMIS_REDIS_API(SignalModifiedKey, int(server_context*, server_string*))                                                  \
  TAMIS_REDIS_API(NotifyKeyspaceEvent, int(server_context*, int, const char*, server_string*))                              \
  TAMIS_REDIS_API(Replicate, int(server_context*, const char*, const char*, ...))                                           \
  TAMIS_REDIS_API(ReplicateVerbatim, int(server_context*))                                                                  \
  TAMIS_REDIS_API(CreateString, server_string*(server_context*, const char*, std::size_t))                                  \
  TAMIS_REDIS_API(FreeString, void(server_context*, server_string*))                                                        \
  TAMIS_REDIS_API(StringPtrLen, const char*(const server_string*, std::size_t*))                                            \
  TAMIS_REDIS_API(ReplyWithError, int(server_context*, const char*))                                                        \
  TAMIS_REDIS_API(ReplyWithSimpleString, int(server_context*, const char*))                                                 \
  TAMIS_REDIS_API(ReplyWithStringBuffer, int(server_context*, const char*, std::size_t))                                    \
  TAMIS_REDIS_API(ReplyWithLongLong, int(server_context*, long long))                                                       \
  TAMIS_REDIS_API(ReplyWithDouble, int(server_context*, double))                                                            \
  TAMIS_REDIS_API(ReplyWithBool, int(server_context*, int))                                                                 \
  TAMIS_REDIS_API(ReplyWithNull, int(server_context*))                                                                      \
  TAMIS_REDIS_API(ReplyWithArray, int(server_context*, long))                                                               \
  TAMIS_REDIS_API(ReplyWithMap, int(server_context*, long))                                                                 \
  TAMIS_REDIS_API(Log, void(server_context*, const char*, const char*, ...))                                                \
  TAMIS_REDIS_API(LogIOError, void(server_io*, const char*, const char*, ...))                                              \
  TAMIS_REDIS_API(SaveUnsigned, void(server_io*, std::uint64_t))                                                            \
  TAMIS_REDIS_API(LoadUnsigned, std::uint64_t(server_io*))                                                                  \
  TAMIS_REDIS_API(SaveStringBuffer, void(server_io*, const char*, std::size_t))                                             \
  TAMIS_REDIS_API(LoadStringBuffer, char*(server_io*, std::size_t*))                                                        \
  TAMIS_REDIS_API(IsIOError, int(server_io*))                                                                               \
  TAMIS_REDIS_API(GetContextFromIO, server_context*(server_io*))                                                            \
  TAMIS_REDIS_API(EmitAOF, void(server_io*, const char*, const char*, ...))                                                 \
  TAMIS_REDIS_API(DigestAddStringBuffer, void(server_digest*, const char*, std::size_t))                                    \
  TAMIS_REDIS_API(DigestEndSequence, void(server_digest*))                                                                  \
  TAMIS_REDIS_API(MonotonicMicroseconds, std::uint64_t())                                                                   \
  TAMIS_REDIS_API(GetRandomBytes, void(unsigned char*, std::size_t))                                                        \
  TAMIS_REDIS_API(GetUsedMemoryRatio, float())                                                                              \
  TAMIS_REDIS_API(RegisterInfoFunc, int(server_context*, info_function*))                                                   \
  TAMIS_REDIS_API(InfoAddSection, int(server_info*, const char*))                                                           \
  TAMIS_REDIS_API(InfoAddFieldULongLong, int(server_info*, const char*, unsigned long long))                                \
  TAMIS_REDIS_API(InfoAddFieldCString, int(server_info*, const char*, const char*))                                         \
  TAMIS_REDIS_API(RegisterNumericConfig, int(server_context*, const char*, long long, unsigned, long long, long long,       \
                                             get_number*, set_number*, apply_config*, void*))                               \
  TAMIS_REDIS_API(RegisterStringConfig,                                                                                     \
                  int(server_context*, const char*, const char*, unsigned, get_string*, set_string*, apply_config*, void*)) \
  TAMIS_REDIS_API(RegisterEnumConfig, int(server_context*, const char*, int, unsigned, const char**, const int*, int,       \
                                          get_int*, set_int*, apply_config*, void*))                                        \
  TAMIS_REDIS_API(RegisterBoolConfig,                                                                                       \
                  int(server_context*, const char*, int, unsigned, get_int*, set_int*, apply_config*, void*))               \
  TAMIS_REDIS_API(SubscribeToServerEvent, int(server_context*, server_event, event_function*))                              \
  TAMIS_REDIS_API(LoadConfigs, int(server_context*))

struct api_table {
#define TAMIS_REDIS_API(name, ...) std::add_pointer_t<__VA_ARGS__> name = nullptr;
  TAMIS_REDIS_API_LIST
#undef TAMIS_REDIS_API
  // Only in later servers: nullptr where there is none.
  std::add_pointer_t<void*(std::size_t, std::size_t)> TryCalloc = nullptr;
};

// Filled by load_api, before anything else is called.
extern api_table api;

// Fills the table. Answers the name of the first function that the server does not have, or nothing.
std::string_view load_api(server_context* context);

inline std::string_view view(const server_string* text) {
  std::size_t length = 0;
  const char* bytes = api.StringPtrLen(text, &length);
  return {bytes, length};
}

}  // namespace tamis::redis
