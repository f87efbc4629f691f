#include "api.hpp"

namespace tamis::redis {

api_table api;

std::string_view load_api(server_context* context) {
  using lookup = int(const char*, void*);
  lookup* const find = *reinterpret_cast<lookup**>(context);
#define TAMIS_REDIS_API(name, ...) \
  if (find("RedisModule_" #name, static_cast<void*>(&api.name)) != ok) return #name;
  TAMIS_REDIS_API_LIST
#undef TAMIS_REDIS_API
  if (find("RedisModule_TryCalloc", static_cast<void*>(&api.TryCalloc)) != ok) api.TryCalloc = nullptr;
  return {};
}

}  // namespace tamis::redis
