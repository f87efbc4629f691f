#include "lab/contenders.hpp"

#include <algorithm>

#include "tamis/detail/base/random.hpp"
#include "tamis/detail/hash/place.hpp"

namespace tamis::lab {

using namespace detail;

result<known_mistakes> known_mistakes::make(const contest_terms& terms, double share) {
  filter_params params{
      .capacity = terms.capacity, .fpr = std::nullopt, .bits_per_key = terms.bits_per_key, .options = terms.options};
  if (share > 0) params.options.emplace_back("mistakes", std::to_string(share * terms.bits_per_key) + "b");
  TAMIS_TRY(any_filter f, any_filter::create(terms.id, params));
  return known_mistakes(std::move(f));
}

bool known_mistakes::ask(digest d, const memory_remote& stored) {
  if (!filter_.may_contain(d)) return false;
  if (filter_.can().adapt) filter_.adapt(d, remote_ref(stored));
  return true;
}

digest tag_cache::tag_of(digest d) const {
  if (width_ == tags::of_128_bits) return d == digest{} ? digest{0, 1} : d;
  return {0, std::max<std::uint64_t>(1, mix64(d.low ^ mix64(d.high)))};
}

tag_cache::set& tag_cache::set_of(digest d) { return sets_[reduce(mix64(d.high + d.low), sets_.size())]; }

bool tag_cache::touch(digest d) {
  if (sets_.empty()) return false;
  set& here = set_of(d);
  const auto at = std::find(here.begin(), here.end(), tag_of(d));
  if (at == here.end()) return false;
  std::rotate(here.begin(), at, at + 1);
  return true;
}

void tag_cache::add(digest d) {
  if (sets_.empty()) return;
  set& here = set_of(d);
  std::rotate(here.begin(), here.end() - 1, here.end());
  here.front() = tag_of(d);
}

void tag_cache::remove(digest d) {
  if (!touch(d)) return;
  set& here = set_of(d);
  std::rotate(here.begin(), here.begin() + 1, here.end());
  here.back() = {};
}

result<lru_tag_cache> lru_tag_cache::make(const contest_terms& terms, double share) {
  const double all = terms.bits_per_key * static_cast<double>(terms.capacity);
  const std::uint64_t sets = tag_cache::sets_in(share * all, tag_cache::tags::of_64_bits);
  const double left = all - static_cast<double>(tag_cache(sets).bits());
  filter_params params{.capacity = terms.capacity, .fpr = std::nullopt, .bits_per_key = std::nullopt, .options = terms.options};
  params.bits_per_key = left / static_cast<double>(terms.capacity);
  TAMIS_TRY(any_filter f, any_filter::create(terms.id, params));
  return lru_tag_cache(std::move(f), sets);
}

bool lru_tag_cache::insert(digest d, const memory_remote& stored) {
  if (filter_.insert(d, remote_ref(stored)) == insert_result::full) return false;
  cache_.remove(d);
  return true;
}

bool lru_tag_cache::ask(digest d, const memory_remote& stored) {
  if (!may_contain(d)) return false;
  const bool fixed = filter_.can().adapt && filter_.adapt(d, remote_ref(stored)) == adapt_result::fixed;
  if (!fixed) cache_.add(d);
  return true;
}

result<fuse_with_cache> fuse_with_cache::make(const contest_terms& terms, double share) {
  const unsigned width = fuse_model::widest_in((1 - share) * terms.bits_per_key);
  if (width == 0) return failure{"no bit of fingerprint is left"};
  const fuse_model filter(width);
  const double left = share == 0 ? 0 : (terms.bits_per_key - filter.bits_per_key()) * static_cast<double>(terms.capacity);
  return fuse_with_cache(filter, tag_cache::sets_in(left, tag_cache::tags::of_64_bits));
}

bool fuse_with_cache::ask(digest d, const memory_remote& /*stored*/) {
  if (!filter_.is_wrong_about(d) || cache_.touch(d)) return false;
  cache_.add(d);
  return true;
}

}  // namespace tamis::lab
