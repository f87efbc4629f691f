#pragma once

// What stands behind the filters of a replay: it answers like a store (is it there?) and like a remote (what lies in a range?).

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "tamis/digest.hpp"
#include "tamis/params.hpp"

namespace tamis::cli {

class slow_side {
 public:
  virtual ~slow_side() = default;
  virtual bool contains(digest d) const = 0;
  // Until a visit answers false.
  virtual void for_each_in(digest_range range, const std::function<bool(digest)>& visit) const = 0;
};

// What runs beside the filters of the registry: a store with a filter of its own, or a rival that tamis does not have.
class filtering_side {
 public:
  enum class outcome : std::uint8_t { stopped, found, in_vain };  // by its filter; by a read of the store; neither

  virtual ~filtering_side() = default;
  virtual std::string name() const = 0;
  // One after the other: an answer sees what was learnt from every query before it.
  virtual void look_up(std::span<const digest> queries, const slow_side& store, std::span<outcome> out) = 0;
  virtual memory_bits bits() const = 0;
  virtual bool learns() const = 0;      // from its mistakes
  virtual bool can_change() const = 0;  // can keys come and go, without a rebuild?
  virtual bool is_timed() const = 0;    // a model's time says nothing
};

}  // namespace tamis::cli
