#pragma once

// What the benchmark compares, as static types behind one small interface: every call is one pass over many keys, so that the
// indirect call does not count. Making one fills it and checks its answers.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lab/measure/keys.hpp"
#include "lab/measure/loops.hpp"

namespace tamis::benchmarks {

class contender {
 public:
  virtual ~contender() = default;
  virtual void insert(lab::key_span keys) = 0;
  virtual std::size_t count(lab::key_span keys) const = 0;
  // Contenders without batches do the same as above.
  virtual void insert_many(lab::key_span keys) { insert(keys); }
  virtual std::size_t count_many(lab::key_span keys) const { return count(keys); }
  virtual bool has_batches() const { return true; }
  // Only where the recipe says so.
  virtual void erase(lab::key_span) {}
  virtual void erase_many(lab::key_span keys) { erase(keys); }
  // Tells it of false positives; only where it adapts by itself.
  virtual bool adapts() const { return false; }
  virtual void adapt(lab::key_span) {}
  virtual bool may_contain(std::uint64_t key) const { return count({&key, 1}) == 1; }
  virtual double expected_fpr() const = 0;
  virtual std::uint64_t bits() const = 0;
};

struct recipe {
  std::string name;
  std::string baseline;  // whose single operations it is compared with
  bool is_cuckoo;        // erases, and its last inserts are the slow ones: both are measured
  std::function<std::unique_ptr<contender>(std::uint64_t keys, double bits_per_key)> make;
};
std::vector<recipe> recipes();

}  // namespace tamis::benchmarks
