#include "lab/growers.hpp"

#include <algorithm>
#include <utility>

namespace tamis::lab {
namespace {

class growing_filter final : public grower {
 public:
  status make(const std::string& id, const grower_terms& terms) {
    filter_params params{.capacity = terms.first_keys, .fpr = terms.fpr};
    params.memory = &memory_;
    TAMIS_TRY(any_filter f, any_filter::create(id, params));
    filter_.push_back(std::move(f));
    return {};
  }

  bool insert(digest d, const memory_remote& stored) override {
    const remote_ref store(stored);
    const auto in = [&] { return filter().insert(d, store) == insert_result::inserted; };
    return in() || (filter().expand().ok() && in());
  }
  bool may_contain(digest d) const override { return filter_.front().may_contain(d); }
  void adapt(digest d, const memory_remote& stored) override {
    if (filter().can().adapt) filter().adapt(d, remote_ref(stored));
  }
  std::uint64_t bits() const override { return filter_.front().bits().fast; }

 private:
  any_filter& filter() { return filter_.front(); }

  std::vector<any_filter> filter_;  // one
};

class scalable_bloom final : public grower {
 public:
  explicit scalable_bloom(const grower_terms& terms) : keys_(terms.first_keys), fpr_(terms.fpr / 2) {}

  status add_part() {
    filter_params params{.capacity = keys_, .fpr = fpr_};
    params.memory = &memory_;
    TAMIS_TRY(any_filter f, any_filter::create("bloom", params));
    parts_.push_back(std::move(f));
    return {};
  }

  bool insert(digest d, const memory_remote& /*stored*/) override {
    if (parts_.back().keys() >= keys_) {
      keys_ *= 2;
      fpr_ /= 2;
      if (!add_part()) return false;
    }
    return parts_.back().insert(d) == insert_result::inserted;
  }
  // The newest first: it holds half of the keys.
  bool may_contain(digest d) const override {
    return std::any_of(parts_.rbegin(), parts_.rend(), [d](const any_filter& f) { return f.may_contain(d); });
  }
  std::uint64_t bits() const override {
    std::uint64_t sum = 0;
    for (const any_filter& f : parts_) sum += f.bits().fast;
    return sum;
  }

 private:
  std::uint64_t keys_;  // of the newest part
  double fpr_;
  std::vector<any_filter> parts_;
};

class rebuilt_filter final : public grower {
 public:
  rebuilt_filter(std::string id, const grower_terms& terms) : id_(std::move(id)), keys_(terms.first_keys), fpr_(terms.fpr) {}

  status make() {
    filter_params params{.capacity = keys_, .fpr = fpr_};
    params.memory = &memory_;
    TAMIS_TRY(any_filter f, any_filter::create(id_, params));
    filter_.push_back(std::move(f));
    return {};
  }

  bool insert(digest d, const memory_remote& stored) override {
    if (filter_.back().keys() < keys_) return filter_.back().insert(d) == insert_result::inserted;
    keys_ *= 2;
    if (!make()) return false;
    bool fits = true;
    stored.for_each_in(everything, [&](digest key) {
      ++reread_;
      return fits = filter_.back().insert(key) == insert_result::inserted;
    });
    filter_.erase(filter_.begin());
    return fits;
  }
  bool may_contain(digest d) const override { return filter_.front().may_contain(d); }
  std::uint64_t bits() const override { return filter_.front().bits().fast; }
  std::uint64_t keys_reread() const override { return reread_; }

 private:
  static constexpr digest_range everything{{0, 0}, {~std::uint64_t{0}, ~std::uint64_t{0}}};

  std::string id_;
  std::uint64_t keys_;
  double fpr_;
  std::vector<any_filter> filter_;  // one; two while it is rebuilt
  std::uint64_t reread_ = 0;
};

}  // namespace

result<std::unique_ptr<grower>> make_growing(const std::string& id, const grower_terms& terms) {
  auto made = std::make_unique<growing_filter>();
  TAMIS_CHECK(made->make(id, terms));
  return std::unique_ptr<grower>(std::move(made));
}

result<std::unique_ptr<grower>> make_scalable_bloom(const grower_terms& terms) {
  auto made = std::make_unique<scalable_bloom>(terms);
  TAMIS_CHECK(made->add_part());
  return std::unique_ptr<grower>(std::move(made));
}

result<std::unique_ptr<grower>> make_rebuilt(const std::string& id, const grower_terms& terms) {
  auto made = std::make_unique<rebuilt_filter>(id, terms);
  TAMIS_CHECK(made->make());
  return std::unique_ptr<grower>(std::move(made));
}

}  // namespace tamis::lab
