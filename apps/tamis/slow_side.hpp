#pragma once

// What stands behind the filters of a replay: it answers like a store (is it there?) and like a remote (what lies in a range?).

#include <functional>

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

// A store with a filter of its own, which runs beside ours and is not told of mistakes.
class filtering_side {
 public:
  struct answer {
    bool passed;  // its filter said "maybe"
    bool found;
  };
  virtual ~filtering_side() = default;
  virtual std::string name() const = 0;
  virtual answer look_up(digest d) const = 0;
  virtual memory_bits bits() const = 0;
};

}  // namespace tamis::cli
