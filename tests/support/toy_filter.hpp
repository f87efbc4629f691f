#pragma once

// Two filters that exist only here: a header and one registry line each, and everything that tamis does with filters works with
// them. `toy_everything` has every operation, `toy_minimal` only those that every filter must have.

#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "tamis/concepts.hpp"
#include "tamis/detail/any/model.hpp"
#include "tamis/detail/base/shown.hpp"
#include "tamis/detail/io/archive.hpp"

namespace tamis::test {

// A multiset of fingerprints (the digest's first bits) and a list of digests that are known not to be in.
class toy_everything {
 public:
  static constexpr unsigned widest = 60;
  static constexpr option_info option_table[] = {{"room", "exact or double", "exact", "slots for once or twice the capacity"}};
  static constexpr filter_info info{
      .id = "toy-everything", .summary = "has every operation", .paper = "none", .options = option_table};

  static result<toy_everything> create(const filter_params& params) {
    TAMIS_CHECK(check_params(info, params));
    constexpr std::string_view rooms[] = {"exact", "double"};
    TAMIS_TRY(const std::string room, choice_option(params, "room", "exact", rooms));
    toy_everything made;
    made.slots_ = params.capacity * (room == "double" ? 2 : 1);
    const double width =
        params.fpr ? std::ceil(std::log2(static_cast<double>(made.slots_) / *params.fpr))
                   : std::floor(*params.bits_per_key * static_cast<double>(params.capacity) / static_cast<double>(made.slots_));
    if (width < 1 || width > widest) {
      return failure{params.fpr ? "fpr " + detail::shown(*params.fpr) + ": needs more than 60 bits per key"
                                : "bits per key: must be 1 to 60"};
    }
    made.capacity_ = params.capacity;
    made.width_ = static_cast<unsigned>(width);
    return made;
  }

  insert_result insert(digest d) {
    if (fingerprints_.size() == slots_) return insert_result::full;
    fingerprints_.insert(fingerprint(d));
    denied_.erase(d);
    return insert_result::inserted;
  }
  bool may_contain(digest d) const { return fingerprints_.contains(fingerprint(d)) && !denied_.contains(d); }
  std::uint64_t count(digest d) const { return denied_.contains(d) ? 0 : fingerprints_.count(fingerprint(d)); }
  erase_result erase(digest d) {
    if (!may_contain(d)) return erase_result::absent;
    fingerprints_.erase(fingerprints_.find(fingerprint(d)));
    return erase_result::erased;
  }
  adapt_result adapt(digest d, const remote_ref& stored) {
    if (!may_contain(d)) return adapt_result::not_positive;
    if (holds(stored, d)) return adapt_result::is_member;
    denied_.insert(d);
    return adapt_result::fixed;
  }
  void rejuvenate(digest d) { denied_.erase(d); }  // who says that it is in knows better
  status expand() {
    if (slots_ > largest_capacity) return failure{"the toy is large enough"};
    slots_ *= 2;
    return {};
  }
  status merge(const toy_everything& other) {
    if (width_ != other.width_) return failure{"the two toys have fingerprints of different lengths"};
    if (other.fingerprints_.size() > slots_ - fingerprints_.size()) return failure{"the two toys do not fit into one"};
    std::set<digest> denied;  // only what neither has
    for (const digest d : denied_) {
      if (!other.may_contain(d)) denied.insert(d);
    }
    for (const digest d : other.denied_) {
      if (!may_contain(d)) denied.insert(d);
    }
    denied_ = std::move(denied);
    const std::multiset<std::uint64_t> added = other.fingerprints_;  // `other` may be this one
    fingerprints_.insert(added.begin(), added.end());
    return {};
  }

  std::uint64_t keys() const { return fingerprints_.size(); }
  std::uint64_t capacity() const { return capacity_; }
  double expected_fpr() const {
    std::uint64_t distinct = 0;
    for (auto it = fingerprints_.begin(); it != fingerprints_.end(); it = fingerprints_.upper_bound(*it)) ++distinct;
    return static_cast<double>(distinct) * std::exp2(-static_cast<double>(width_));
  }
  memory_bits bits() const { return {slots_ * width_, denied_.size() * 128}; }
  option_list settings() const { return {{"room", slots_ == capacity_ ? "exact" : "double"}}; }

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.capacity_, self.slots_, self.width_);
    std::vector<std::uint64_t> prints;
    std::vector<std::uint64_t> denied;
    if constexpr (std::is_const_v<Self>) {
      prints.assign(self.fingerprints_.begin(), self.fingerprints_.end());
      for (const digest d : self.denied_) denied.insert(denied.end(), {d.high, d.low});
      archive(prints, denied);
    } else {
      archive(prints, denied);
      self.fingerprints_.insert(prints.begin(), prints.end());
      for (std::size_t i = 0; i + 1 < denied.size(); i += 2) self.denied_.insert({denied[i], denied[i + 1]});
    }
  }
  status validate() const {
    if (width_ < 1 || width_ > widest) return failure{"fingerprints of " + std::to_string(width_) + " bits do not exist"};
    if (fingerprints_.size() > slots_) return failure{"there are more keys than slots"};
    return {};
  }

 private:
  std::uint64_t fingerprint(digest d) const { return d.bits(0, width_); }

  std::uint64_t capacity_ = 0;
  std::uint64_t slots_ = 0;
  std::uint32_t width_ = 1;
  std::multiset<std::uint64_t> fingerprints_;
  std::set<digest> denied_;
};

// The first 64 bits of every digest, exactly.
class toy_minimal {
 public:
  static constexpr filter_info info{.id = "toy-minimal", .summary = "inserts and looks up", .paper = "none", .options = {}};

  static result<toy_minimal> create(const filter_params& params) {
    TAMIS_CHECK(check_params(info, params));
    if (params.bits_per_key && *params.bits_per_key < 64) return failure{"bits per key: the toy needs 64"};
    toy_minimal made;
    made.capacity_ = params.capacity;
    return made;
  }

  insert_result insert(digest d) {
    words_.insert(d.high);
    return insert_result::inserted;
  }
  bool may_contain(digest d) const { return words_.contains(d.high); }
  std::uint64_t keys() const { return words_.size(); }
  std::uint64_t capacity() const { return capacity_; }
  double expected_fpr() const { return static_cast<double>(words_.size()) * 0x1p-64; }
  memory_bits bits() const { return {capacity_ * 64}; }
  option_list settings() const { return {}; }

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    std::vector<std::uint64_t> words(self.words_.begin(), self.words_.end());
    archive(self.capacity_, words);
    if constexpr (!std::is_const_v<Self>) self.words_ = {words.begin(), words.end()};
  }

 private:
  std::uint64_t capacity_ = 0;
  std::multiset<std::uint64_t> words_;
};

}  // namespace tamis::test
