#pragma once

// Contenders for contests in which keys come and nobody knows how many: each is made for a first number of keys and a rate, and
// keeps it as it grows.
//
//   a filter of the registry   that grows by itself; told of its mistakes if it adapts
//   scalable_bloom             a rival only: Bloom filters one behind the other, as RedisBloom and others build them (after
//                              Almeida et al. 2007): each for twice as many keys as the one before, at half its rate, the first
//                              at half the rate asked for
//   rebuilt_filter             what people do without any of that: a filter that cannot grow, made anew from the store, for
//                              twice as many keys, whenever it is full; the old one answers until the new one is done

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lab/counted_memory.hpp"
#include "tamis/any_filter.hpp"
#include "tamis/memory_remote.hpp"
#include "tamis/result.hpp"

namespace tamis::lab {

struct grower_terms {
  std::uint64_t first_keys = 0;
  double fpr = 0;
};

class grower {
 public:
  grower() = default;
  grower(const grower&) = delete;
  grower& operator=(const grower&) = delete;
  virtual ~grower() = default;

  // `stored` holds all keys, the new one too. False if it is full.
  virtual bool insert(digest d, const memory_remote& stored) = 0;
  virtual bool may_contain(digest d) const = 0;
  virtual void adapt(digest /*d*/, const memory_remote& /*stored*/) {}  // after a wrong "maybe"
  virtual std::uint64_t bits() const = 0;
  virtual std::uint64_t keys_reread() const { return 0; }  // from the store, to be made anew

  counted_memory& memory() { return memory_; }

 protected:
  counted_memory memory_;  // what all its tables come from
};

result<std::unique_ptr<grower>> make_growing(const std::string& id, const grower_terms& terms);
result<std::unique_ptr<grower>> make_scalable_bloom(const grower_terms& terms);
result<std::unique_ptr<grower>> make_rebuilt(const std::string& id, const grower_terms& terms);

}  // namespace tamis::lab
