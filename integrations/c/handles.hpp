#pragma once

// What is behind the opaque types of tamis.h.

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "tamis/any_filter.hpp"
#include "tamis/concurrent.hpp"
#include "tamis/mapped.hpp"
#include "tamis/memory_remote.hpp"
#include "tamis/tamis.h"

namespace tamis::c {

// A remote behind a callback. A scan that fails, or visits what it must not, ends the operation with an exception; filters
// promise that nothing has changed then (concepts.hpp).
class callback_remote {
 public:
  callback_remote(tamis_scan scan, void* context) : scan_(scan), context_(context) {}

  void for_each_in(digest_range range, const std::function<bool(digest)>& visit) const;

 private:
  tamis_scan scan_;
  void* context_;
};

using filter_owner = std::variant<any_filter, mapped_filter, concurrent_filter>;

}  // namespace tamis::c

// Made in place and never moved: `alone` and `shared` are the owner's.
struct tamis_filter {
  explicit tamis_filter(tamis::c::filter_owner made)
      : owner(std::move(made)),
        alone(std::get_if<tamis::any_filter>(&owner)),
        shared(std::get_if<tamis::concurrent_filter>(&owner)) {
    if (auto* const mapped = std::get_if<tamis::mapped_filter>(&owner)) alone = &mapped->filter();
    kind = shared == nullptr ? alone->kind() : shared->kind();
  }
  tamis_filter(const tamis_filter&) = delete;
  tamis_filter& operator=(const tamis_filter&) = delete;

  // Calls `use` with the filter, which is an any_filter or a concurrent_filter: they have the same functions.
  template <class Use>
  decltype(auto) visit(Use use) {
    if (shared == nullptr) [[likely]]
      return use(*alone);
    return use(*shared);
  }
  template <class Use>
  decltype(auto) visit(Use use) const {
    if (shared == nullptr) [[likely]]
      return use(std::as_const(*alone));
    return use(std::as_const(*shared));
  }
  const tamis::hasher& hash() const { return shared == nullptr ? alone->hash() : shared->hash(); }

  tamis::c::filter_owner owner;
  tamis::any_filter* alone;  // nullptr: it is `shared`
  tamis::concurrent_filter* shared;
  std::string kind;
};

struct tamis_remote {
  std::variant<tamis::memory_remote, tamis::c::callback_remote> stored;

  tamis::remote_ref ref() const {
    return std::visit([](const auto& kept) { return tamis::remote_ref(kept); }, stored);
  }
};
