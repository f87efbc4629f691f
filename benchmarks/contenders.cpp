#include "benchmarks/contenders.hpp"

#include "benchmarks/split_block.hpp"
#include "benchmarks/textbook_cuckoo.hpp"
#include "tamis/batch.hpp"
#include "tamis/filters/acf.hpp"
#include "tamis/filters/ascf.hpp"
#include "tamis/filters/bloom.hpp"
#include "tamis/filters/bloom1.hpp"
#include "tamis/filters/counting_bloom.hpp"
#include "tamis/filters/cuckoo.hpp"
#include "tamis/filters/vacuum.hpp"

namespace tamis::benchmarks {
namespace {

using lab::key_span;

// With `View`, single lookups go through the filter's view, which has chosen its shape before the loop.
template <filter_type F, bool View>
class static_filter final : public contender {
 public:
  explicit static_filter(const filter_params& params) : filter_(F::create(params).value()) {}

  void insert(key_span keys) override {
    lab::count_singles(keys, hash_, [this](digest d) { return filter_.insert(d) == insert_result::inserted; });
  }
  std::size_t count(key_span keys) const override {
    if constexpr (View) {
      std::size_t yes = 0;
      filter_.with_view(
          [&](const auto& view) { yes = lab::count_singles(keys, hash_, [&view](digest d) { return view.may_contain(d); }); });
      return yes;
    } else {
      return lab::count_singles(keys, hash_, [this](digest d) { return filter_.may_contain(d); });
    }
  }
  void insert_many(key_span keys) override {
    lab::sum_chunks(keys, [&](key_span chunk) { return tamis::insert_many(filter_, hash_, chunk); });
  }
  std::size_t count_many(key_span keys) const override {
    return lab::count_chunks(keys,
                             [this](key_span chunk, std::span<bool> out) { may_contain_many(filter_, hash_, chunk, out); });
  }
  void erase(key_span keys) override {
    if constexpr (erasable<F>)
      lab::count_singles(keys, hash_, [this](digest d) { return filter_.erase(d) == erase_result::erased; });
  }
  void erase_many(key_span keys) override {
    if constexpr (erasable<F>) {
      lab::sum_chunks(keys, [&](key_span chunk) { return tamis::erase_many(filter_, hash_, chunk); });
    }
  }
  bool adapts() const override { return adaptive_alone<F>; }
  void adapt(key_span keys) override {
    if constexpr (adaptive_alone<F>)
      lab::count_singles(keys, hash_, [this](digest d) { return filter_.adapt(d) == adapt_result::fixed; });
  }
  double expected_fpr() const override { return filter_.expected_fpr(); }
  std::uint64_t bits() const override { return filter_.bits().fast; }

 private:
  hasher hash_;
  F filter_;
};

class split_block_contender final : public contender {
 public:
  split_block_contender(std::uint64_t keys, double bits_per_key) : filter_(keys, bits_per_key) {}

  void insert(key_span keys) override {
    lab::count_singles(keys, hash_, [this](digest d) { return filter_.insert(d), true; });
  }
  std::size_t count(key_span keys) const override {
    return lab::count_singles(keys, hash_, [this](digest d) { return filter_.may_contain(d); });
  }
  bool has_batches() const override { return false; }
  double expected_fpr() const override { return 0.02; }  // no model here: a bound that a broken one would miss
  std::uint64_t bits() const override { return filter_.bits(); }

 private:
  hasher hash_;
  split_block filter_;
};

class textbook_contender final : public contender {
 public:
  explicit textbook_contender(std::uint64_t keys) : filter_(keys) {}

  void insert(key_span keys) override {
    lab::count_singles(keys, hash_, [this](digest d) { return filter_.insert(d); });
  }
  std::size_t count(key_span keys) const override {
    return lab::count_singles(keys, hash_, [this](digest d) { return filter_.may_contain(d); });
  }
  void erase(key_span keys) override {
    lab::count_singles(keys, hash_, [this](digest d) { return filter_.erase(d); });
  }
  bool has_batches() const override { return false; }
  double expected_fpr() const override { return filter_.expected_fpr(); }
  std::uint64_t bits() const override { return filter_.bits(); }

 private:
  hasher hash_;
  textbook_cuckoo filter_;
};

template <filter_type F, bool View = false>
recipe recipe_of(std::string name, option_list options = {}, double bits_factor = 1.0) {
  return {std::move(name), "split-block", false, [=](std::uint64_t keys, double bits_per_key) -> std::unique_ptr<contender> {
            return std::make_unique<static_filter<F, View>>(
                filter_params{.capacity = keys, .bits_per_key = bits_per_key * bits_factor, .options = options});
          }};
}

// With fingerprints of this width, whatever the bits per key.
template <filter_type F>
recipe cuckoo_recipe(std::string name, const char* width = "12", option_list options = {}) {
  options.emplace_back("fingerprint", width);
  return {std::move(name), "cf12", true, [options](std::uint64_t keys, double) -> std::unique_ptr<contender> {
            return std::make_unique<static_filter<F, false>>(filter_params{.capacity = keys, .fpr = 0.5, .options = options});
          }};
}

}  // namespace

std::vector<recipe> recipes() {
  std::vector<recipe> all;
  all.push_back(
      {"split-block", "split-block", false, [](std::uint64_t keys, double bits_per_key) -> std::unique_ptr<contender> {
         return std::make_unique<split_block_contender>(keys, bits_per_key);
       }});
  for (const char* word : {"32", "64", "128", "256", "512"}) {
    all.push_back(recipe_of<bloom1>(std::string("bloom1/") + word, {{"word", word}, {"split", "no"}}));
  }
  for (const char* word : {"256", "512"}) {
    all.push_back(recipe_of<bloom1>(std::string("bloom1/") + word + "s", {{"word", word}, {"split", "yes"}}));
    all.push_back(recipe_of<bloom1, true>(std::string("bloom1/") + word + "s/view", {{"word", word}, {"split", "yes"}}));
  }
  all.push_back(recipe_of<bloom>("bloom"));
  all.push_back(recipe_of<counting_bloom>("counting-bloom", {}, counting_bloom::counter_bits));
  all.push_back({"cf12", "cf12", true, [](std::uint64_t keys, double) -> std::unique_ptr<contender> {
                   return std::make_unique<textbook_contender>(keys);
                 }});
  all.push_back(cuckoo_recipe<cuckoo>("cuckoo/12"));
  all.push_back(cuckoo_recipe<ascf>("ascf/12"));
  all.push_back(cuckoo_recipe<vacuum>("vacuum/12"));
  // acf-cuckooing's lookups are those of the plain filter with k = 4, b = 1.
  for (const char* path : {"guided", "shortest"}) {
    all.push_back(cuckoo_recipe<acf_cuckooing>(std::string("acf-cuckooing/8/") + path, "8", {{"path", path}}));
  }
  all.push_back(cuckoo_recipe<acf_cyclic>("acf-cyclic/8", "8"));
  all.push_back(cuckoo_recipe<acf_swapping>("acf-swapping/8", "8"));
  return all;
}

}  // namespace tamis::benchmarks
