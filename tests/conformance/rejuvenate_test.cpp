// A filter that learns from true positives: no key is lost, and it accepts no more than before.

#include "tests/conformance/cases.hpp"

namespace tamis::test {

using namespace detail;

namespace {

TAMIS_CONFORMANCE(rejuvenating_filters, cases_that_can(&capabilities::rejuvenate));

TEST_P(rejuvenating_filters, lose_no_key_and_accept_no_more) {
  any_filter f = make(200, 0.05);
  const std::vector<digest> in = insert_all(f, keys(can().expand ? 6000 : 200));
  const std::vector<digest> asked = strangers(20000);
  std::vector<bool> before;
  for (const digest d : asked) before.push_back(f.may_contain(d));
  const double rate = f.expected_fpr();

  f.rejuvenate_many(std::span(in).first(in.size() / 2)).value();
  for (const digest d : std::span(in).subspan(in.size() / 2)) f.rejuvenate(d).value();
  EXPECT_TRUE(may_contain_all(f, in));
  EXPECT_EQ(f.keys(), in.size());
  for (std::size_t i = 0; i < asked.size(); ++i) EXPECT_LE(f.may_contain(asked[i]), before[i]) << "stranger " << i;
  EXPECT_LE(f.expected_fpr(), rate);
}

TEST_P(rejuvenating_filters, goes_on_with_inserting_and_erasing) {
  any_filter f = make(200, 0.05);
  const std::vector<digest> in = insert_all(f, keys(can().expand ? 3000 : 100));
  f.rejuvenate_many(in).value();
  const std::vector<digest> later = insert_all(f, keys(can().expand ? 3000 : 100, 3000));
  if (can().erase) {
    EXPECT_EQ(f.erase_many(in).value(), in.size());
  }
  EXPECT_TRUE(may_contain_all(f, later));
}

}  // namespace
}  // namespace tamis::test
