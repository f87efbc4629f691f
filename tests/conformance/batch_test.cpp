// A batch does what the single calls do, in order.

#include <memory>

#include "tests/conformance/cases.hpp"

namespace tamis::test {
namespace {

TAMIS_CONFORMANCE(batches, all_variants());
TAMIS_CONFORMANCE(erase_batches, cases_that_can(&capabilities::erase, all_variants()));

TEST_P(batches, of_every_small_size_answer_as_single_lookups_do) {
  const any_filter f = make_full(100, 0.2);
  std::vector<digest> asked = keys(100);
  const std::vector<digest> others = strangers(100);
  for (std::size_t i = 0; i < others.size(); ++i) asked.insert(asked.begin() + static_cast<std::ptrdiff_t>(2 * i), others[i]);
  const auto answers = std::make_unique<bool[]>(asked.size() + 1);
  for (std::size_t size = 0; size <= asked.size(); ++size) {
    std::fill_n(answers.get(), asked.size() + 1, size % 2 == 0);
    f.may_contain_many(std::span(asked).first(size), std::span(answers.get(), size));
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(answers[i], f.may_contain(asked[i])) << i << " of " << size;
    for (std::size_t i = size; i <= asked.size(); ++i) ASSERT_EQ(answers[i], size % 2 == 0) << "written behind " << size;
  }
}

TEST_P(batches, insert_as_single_inserts_do) {
  for (const std::size_t size : {0u, 1u, 31u, 32u, 33u, 63u, 64u, 65u, 200u}) {
    any_filter one_by_one = make(100);
    any_filter at_once = make(100);
    const std::size_t accepted = insert_all(one_by_one, keys(size)).size();
    EXPECT_EQ(at_once.insert_many(keys(size)), accepted);
    EXPECT_EQ(at_once.save_bytes(), one_by_one.save_bytes()) << size;
  }
}

TEST_P(erase_batches, erase_as_single_erases_do) {
  const any_filter f = make_full(200);
  for (const std::size_t size : {0u, 1u, 31u, 32u, 33u, 65u, 200u}) {
    any_filter one_by_one = f;
    any_filter at_once = f;
    for (const digest d : keys(size)) ASSERT_EQ(one_by_one.erase(d), erase_result::erased);
    const auto answers = std::make_unique<bool[]>(size + 1);
    EXPECT_EQ(at_once.erase_many(keys(size), std::span(answers.get(), size)).value(), size);
    EXPECT_EQ(std::count(answers.get(), answers.get() + size, true), static_cast<std::ptrdiff_t>(size));
    EXPECT_EQ(at_once.save_bytes(), one_by_one.save_bytes()) << size;
  }
}

}  // namespace
}  // namespace tamis::test
