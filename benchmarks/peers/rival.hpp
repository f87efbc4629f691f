#pragma once

// What the program compares: somebody's published filter or one of ours, behind one small interface. Every call is one pass
// over many keys, so that the indirect call does not count; each pass includes the hash.

#include <cstdint>
#include <memory>

#include "lab/measure/loops.hpp"
#include "lab/measure/timing.hpp"

namespace tamis::benchmarks {

class rival {
 public:
  virtual ~rival() = default;
  // How many of the keys ...
  virtual std::size_t insert(lab::key_span keys) = 0;  // ... went in
  virtual std::size_t count(lab::key_span keys) = 0;   // ... may be in. Not const: the authors' TAF adapts while it looks
  virtual std::size_t erase(lab::key_span keys) = 0;   // ... were found and taken out
  virtual bool can_erase() const = 0;
  virtual std::uint64_t bits() const = 0;
  // Of filters that say so themselves; 0 otherwise.
  virtual double expected_fpr() const { return 0; }
  // Is it no filter at all? Then nothing but its lookups is timed, and all of them say yes.
  virtual bool only_reads() const { return false; }
  // Does churn make it fail now and then, to erase a key that is in or to take another? Then failures are counted, and do not
  // end the run.
  virtual bool may_fail() const { return false; }
};

// `Filter` has single operations: insert, contains and maybe erase of a key, each saying whether that worked.
template <class Filter>
class single_rival : public rival {
 public:
  single_rival(std::uint64_t slots, std::uint64_t keys) : filter_(slots, keys) {}

  std::size_t insert(lab::key_span keys) override {
    return count_each(keys, [this](std::uint64_t key) { return filter_.insert(key); });
  }
  std::size_t count(lab::key_span keys) override {
    return count_each(keys, [this](std::uint64_t key) { return filter_.contains(key); });
  }
  std::size_t erase([[maybe_unused]] lab::key_span keys) override {
    if constexpr (has_erase) {
      return count_each(keys, [this](std::uint64_t key) { return filter_.erase(key); });
    } else {
      return 0;
    }
  }
  bool can_erase() const override { return has_erase; }
  bool may_fail() const override {
    return requires { Filter::may_fail; };
  }
  std::uint64_t bits() const override { return filter_.bits(); }

 private:
  static constexpr bool has_erase = requires(Filter & f) { f.erase(std::uint64_t{}); };

  template <class Single>
  static std::size_t count_each(lab::key_span keys, Single single) {
    std::size_t yes = 0;
    lab::for_each_key(keys, [&](std::uint64_t key) {
      const bool answer = single(key);
      lab::use_alone(answer);
      yes += answer;
    });
    return yes;
  }

  Filter filter_;
};

// One for each adapter. They are compiled with -fwhole-program, which makes all but these functions static.
#define TAMIS_RIVAL(name) [[gnu::externally_visible]] std::unique_ptr<rival> name(std::uint64_t slots, std::uint64_t keys)
TAMIS_RIVAL(make_cf12);
TAMIS_RIVAL(make_cqf);
TAMIS_RIVAL(make_published_cqf);
TAMIS_RIVAL(make_aqf);
TAMIS_RIVAL(make_published_aqf);
TAMIS_RIVAL(make_authors_taf);
TAMIS_RIVAL(make_published_taf);
TAMIS_RIVAL(make_authors_exaf);
TAMIS_RIVAL(make_published_exaf);
TAMIS_RIVAL(make_vqf);
TAMIS_RIVAL(make_prefix);

}  // namespace tamis::benchmarks
