// Options of static types are the options in words, with types: every filter's struct has all of them under their names, and
// what is set arrives.

#include "tamis/options.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tamis/tamis.hpp"
#include "tests/support/bytes.hpp"

namespace tamis {
namespace {

// Every field set, to what differs from the default where there is a choice.
template <class F>
typename F::options all_set();
template <>
bloom_options all_set<bloom>() {
  return {.k = 3};
}
template <>
bloom_options all_set<counting_bloom>() {
  return {.k = 3};
}
template <>
bloom1_options all_set<bloom1>() {
  return {.word = 256, .k = 4, .split = false};
}
template <>
abf_options all_set<abf>() {
  return {.word = 128, .sets = 8, .k = 4, .switch_to = shadow_switch::blind, .decimate = 3, .detect = 5};
}
template <>
abf_options all_set<abf_counting>() {
  return all_set<abf>();
}
template <>
abf_options all_set<abf_spare>() {
  return all_set<abf>();
}
template <>
abf_j_options all_set<abf_j>() {
  return {.j = 3, .each = all_set<abf>()};
}
acf_options all_of_acf() { return {.k = 3, .b = 2, .fingerprint = 11, .load = 70, .mirror = mirror_place::file}; }
template <>
acf_options all_set<acf_swapping>() {
  return all_of_acf();
}
template <>
acf_cuckooing_options all_set<acf_cuckooing>() {
  return {.table = all_of_acf(), .path = cuckoo_path::paper};
}
template <>
acf_cyclic_options all_set<acf_cyclic>() {
  return {.table = all_of_acf(), .selector = 2};
}
template <>
growth_options all_set<chain_linear>() {
  return {.fingerprint = 9, .threshold = 60};
}
template <>
growth_options all_set<sacrifice>() {
  return {.fingerprint = 9, .threshold = 60};
}
template <>
chain_geometric_options all_set<chain_geometric>() {
  return {.fingerprint = 9, .threshold = 60, .rates = chain_rates::decreasing};
}
template <>
infini_options all_set<infini>() {
  return {.fingerprint = 9, .threshold = 60, .mode = infini_mode::growing};
}
template <>
taf_options all_set<taf>() {
  return {.remainder = 9, .code = selector_code::quarters};
}
template <>
evergreen_options all_set<evergreen>() {
  return {.remainder = 9, .segment = 256, .fingerprints = fingerprint_growth::fixed};
}
template <>
evergreen_fixed_options all_set<evergreen_fixed>() {
  return {.remainder = 9, .budget = memory_budget::soft};
}
template <>
fingerprint_options all_set<cuckoo>() {
  return {.fingerprint = 11};
}
template <>
fingerprint_options all_set<ascf>() {
  return {.fingerprint = 11};
}
template <>
fingerprint_options all_set<vacuum>() {
  return {.fingerprint = 11};
}
template <>
fingerprint_options all_set<dleft>() {
  return {.fingerprint = 11};
}
template <>
fingerprint_options all_set<rank_indexed>() {
  return {.fingerprint = 11};
}
template <>
remainder_options all_set<quotient>() {
  return {.remainder = 9};
}
template <>
remainder_options all_set<rsqf>() {
  return {.remainder = 9};
}
template <>
remainder_options all_set<cqf>() {
  return {.remainder = 9};
}
template <>
remainder_options all_set<utaf>() {
  return {.remainder = 9};
}
template <>
remainder_options all_set<exaf>() {
  return {.remainder = 9};
}

template <class F>
class typed_options : public ::testing::Test {};
using filters = ::testing::Types<
#define TAMIS_FILTER(name, header) name,
#define TAMIS_WIDE(name, header) name,
#include "src/filters.def"
#undef TAMIS_FILTER
#undef TAMIS_WIDE
    evergreen>;
TYPED_TEST_SUITE(typed_options, filters);

TYPED_TEST(typed_options, have_every_option_by_its_name) {
  std::multiset<std::string> words;
  for (const auto& [name, value] : all_set<TypeParam>().list()) words.insert(name);
  std::multiset<std::string> listed;
  for (const option_info& option : TypeParam::info.options) listed.emplace(option.name);
  EXPECT_EQ(words, listed);
  EXPECT_EQ(typename TypeParam::options{}.list(), option_list{});
}

TYPED_TEST(typed_options, arrive) {
  const option_list wanted = all_set<TypeParam>().list();
  const auto made = create<TypeParam>({.capacity = 5000, .fpr = 0.1}, all_set<TypeParam>());
  ASSERT_TRUE(made.ok()) << made.message();
  const option_list settings = made->settings();
  for (const auto& option : wanted) {
    EXPECT_NE(std::find(settings.begin(), settings.end(), option), settings.end()) << option.first << "=" << option.second;
  }
}

TEST(options, out_of_range_is_refused_in_the_words_of_the_option) {
  EXPECT_TRUE(test::refused(create<bloom>({.capacity = 100, .fpr = 0.01}, {.k = 65}), "k=65"));
  EXPECT_TRUE(test::refused(create<cuckoo>({.capacity = 100, .fpr = 0.01}, {.fingerprint = 99}), "fingerprint=99"));
  EXPECT_TRUE(test::refused(create<bloom>({.capacity = 100, .fpr = 0.01, .options = {{"k", "3"}}}, {.k = 4}), "given twice"));
}

}  // namespace
}  // namespace tamis
