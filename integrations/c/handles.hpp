#pragma once

// What is behind the opaque types of tamis.h.

#include <optional>
#include <string>
#include <variant>

#include "tamis/any_filter.hpp"
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

}  // namespace tamis::c

// Made in place and never moved: `filter` is the owner's.
struct tamis_filter {
  explicit tamis_filter(tamis::any_filter made)
      : owner(std::move(made)), filter(*std::get_if<0>(&owner)), kind(filter.kind()) {}
  explicit tamis_filter(tamis::mapped_filter made)
      : owner(std::move(made)), filter(std::get_if<1>(&owner)->filter()), kind(filter.kind()) {}
  tamis_filter(const tamis_filter&) = delete;
  tamis_filter& operator=(const tamis_filter&) = delete;

  std::variant<tamis::any_filter, tamis::mapped_filter> owner;
  tamis::any_filter& filter;
  std::string kind;
};

struct tamis_remote {
  std::variant<tamis::memory_remote, tamis::c::callback_remote> stored;

  tamis::remote_ref ref() const {
    return std::visit([](const auto& kept) { return tamis::remote_ref(kept); }, stored);
  }
};
