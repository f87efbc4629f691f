#pragma once

// The bridge from a filter type to the erased interface: everything is derived from what the type can do.

#include <memory>
#include <utility>

#include "tamis/batch.hpp"
#include "tamis/registry.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

// A filter whose tables have one of several formats, of which the usual ones are types. Which one it is never changes, so it is
// chosen once, when the model is made, and single lookups choose nothing:
//
//   with_format(use, other)         use(format) with a constant of the filter's format, or other() if it is none of the usual
//   may_contain_as<format>(digest)  may_contain() of a filter of that format
template <class F>
concept formatted = filter_type<F> && requires(const F f) {
  f.with_format([](auto) { return 0; }, [] { return 0; });
};

template <filter_type F>
class model;
template <filter_type F>
std::unique_ptr<any_model> make_model(F f);

template <filter_type F>
class model : public any_model {
 public:
  // All its tables come from the memory in force now, also those that it needs later.
  explicit model(F f) : filter_(std::move(f)) {}

  const filter_info& info() const override { return F::info; }
  capabilities can() const override { return capabilities_of<F>(); }

  // Out of line: where there is only one memory, as nearly always, an insert of one key pays no more than a branch for it.
  insert_result insert(digest d) override { return memory_scope::has_choice() ? insert_in_memory(d) : filter_.insert(d); }
  bool may_contain(digest d) const override { return filter_.may_contain(d); }
  std::size_t insert_many(const hasher& hash, const key_batch& keys, std::span<bool> out) override {
    const memory_scope from(memory_);
    return tamis::insert_many(filter_, hash, keys, out);
  }
  void may_contain_many(const hasher& hash, const key_batch& keys, std::span<bool> out) const override {
    tamis::may_contain_many(filter_, hash, keys, out);
  }
  std::uint64_t keys() const override { return filter_.keys(); }
  std::uint64_t capacity() const override { return filter_.capacity(); }
  double expected_fpr() const override {
    const memory_scope from(memory_);  // some work on a copy, here and in save
    return filter_.expected_fpr();
  }
  memory_bits bits() const override { return filter_.bits(); }
  option_list settings() const override { return filter_.settings(); }
  std::unique_ptr<any_model> clone() const override {
    const memory_scope from(memory_);
    return make_model<F>(F(filter_));
  }
  result<std::unique_ptr<any_model>> emptied() const override {
    if constexpr (clearable<F>) {
      const memory_scope from(memory_);
      TAMIS_TRY(F empty, filter_.emptied());
      return make_model<F>(std::move(empty));
    }
    return any_model::emptied();
  }
  void save(writer& out) const override {
    const memory_scope from(memory_);
    out(filter_);
  }
  status validate() const override {
    if constexpr (self_checking<F>) return filter_.validate();
    return {};
  }

  insert_result insert(digest d, [[maybe_unused]] const remote_ref& stored) override {
    const memory_scope from(memory_);
    if constexpr (insertable_with_remote<F>) return filter_.insert(d, stored);
    return filter_.insert(d);
  }

  erase_result erase([[maybe_unused]] digest d, [[maybe_unused]] const remote_ref& stored) override {
    const memory_scope from(memory_);
    if constexpr (erasable_with_remote<F>) {
      return filter_.erase(d, stored);
    } else if constexpr (erasable<F>) {
      return filter_.erase(d);
    }
    return erase_result::unsupported;
  }
  erase_result erase([[maybe_unused]] digest d) override {
    if constexpr (erasable<F>) return memory_scope::has_choice() ? erase_in_memory(d) : filter_.erase(d);
    return erase_result::unsupported;
  }
  std::size_t erase_many([[maybe_unused]] const hasher& hash, [[maybe_unused]] const key_batch& keys,
                         [[maybe_unused]] std::span<bool> out) override {
    const memory_scope from(memory_);
    if constexpr (erasable<F>) return tamis::erase_many(filter_, hash, keys, out);
    return 0;
  }
  std::uint64_t count([[maybe_unused]] digest d) const override {
    if constexpr (counting<F>) return filter_.count(d);
    return 0;
  }
  adapt_result adapt([[maybe_unused]] digest d, [[maybe_unused]] const remote_ref& stored) override {
    const memory_scope from(memory_);
    if constexpr (adaptive_with_remote<F>) {
      return filter_.adapt(d, stored);
    } else if constexpr (adaptive_alone<F>) {
      return filter_.adapt(d);
    }
    return adapt_result::unsupported;
  }
  adapt_result adapt([[maybe_unused]] digest d) override {
    if constexpr (adaptive_alone<F>) return filter_.adapt(d);
    if constexpr (adaptive<F>) return filter_.may_contain(d) ? adapt_result::unfixable : adapt_result::not_positive;
    return adapt_result::unsupported;
  }
  status expand() override {
    const memory_scope from(memory_);
    if constexpr (expandable<F>) return filter_.expand();
    return failure{"a " + std::string(F::info.id) + " filter cannot expand", error_code::unsupported};
  }
  status merge(const any_model& other) override {
    if constexpr (mergeable<F>) {
      const memory_scope from(memory_);
      return with_same(other, [this](const F& f) { return filter_.merge(f); });
    }
    return failure{std::string(F::info.id) + " filters cannot be merged", error_code::unsupported};
  }
  status merge(const any_model& other, [[maybe_unused]] const remote_ref& stored) override {
    if constexpr (mergeable_with_remote<F>) {
      const memory_scope from(memory_);
      return with_same(other, [&](const F& f) { return filter_.merge(f, stored); });
    }
    return merge(other);
  }
  result<std::uint64_t> fold([[maybe_unused]] double fpr) override {
    if constexpr (requires { filter_.fold(fpr); }) {
      const memory_scope from(memory_);
      return filter_.fold(fpr);
    }
    return failure{std::string(F::info.id) + " filters cannot be folded", error_code::unsupported};
  }
  void rejuvenate_many([[maybe_unused]] const hasher& hash, [[maybe_unused]] const key_batch& keys) override {
    const memory_scope from(memory_);
    if constexpr (rejuvenating<F>) tamis::rejuvenate_many(filter_, hash, keys);
  }

 private:
  TAMIS_NOINLINE insert_result insert_in_memory(digest d) {
    const memory_scope from(memory_);
    return filter_.insert(d);
  }
  TAMIS_NOINLINE erase_result erase_in_memory(digest d) requires(erasable<F>) {
    const memory_scope from(memory_);
    return filter_.erase(d);
  }

  template <class Use>
  static status with_same(const any_model& other, Use use) {
    const auto* same = dynamic_cast<const model*>(&other.plain());
    if (same == nullptr)
      return failure{"the two filters were made by different builds of " + std::string(F::info.id), error_code::mismatch};
    return use(same->filter_);
  }

  F filter_;
  memory_resource* memory_ = &current_memory();

  template <class G, auto Format>
  friend class format_model;
};

template <class F, auto Format>
class format_model final : public model<F> {
 public:
  using model<F>::model;
  using model<F>::may_contain;
  bool may_contain(digest d) const override { return this->filter_.template may_contain_as<Format>(d); }
};

template <filter_type F>
std::unique_ptr<any_model> make_model(F f) {
  using made = std::unique_ptr<any_model>;
  if constexpr (formatted<F>) {
    return f.with_format([&](auto format) -> made { return std::make_unique<format_model<F, format()>>(std::move(f)); },
                         [&]() -> made { return std::make_unique<model<F>>(std::move(f)); });
  } else {
    return std::make_unique<model<F>>(std::move(f));
  }
}

// The registry's view of a filter type.
template <filter_type F>
registry_entry entry_of() {
  static_assert(visitable<F, reader> && visitable<const F, writer>, "a filter needs a visit function to be saved and loaded");
  using made = result<std::unique_ptr<any_model>>;
  return {&F::info, capabilities_of<F>(),
          [](const filter_params& params) -> made {
            const memory_scope from(params.memory);
            TAMIS_TRY(F filter, F::create(params));
            return make_model<F>(std::move(filter));
          },
          [](reader& in) -> made {
            F filter = stored_access::blank<F>();
            in.accept_any_table(accepts_any_table<F>);
            in(filter);
            in.accept_any_table(false);  // a list behind it is none of its tables
            if (!in.ok()) return prefixed("", in.state());
            return make_model<F>(std::move(filter));
          }};
}

}  // namespace tamis::detail::inline TAMIS_LEVEL
