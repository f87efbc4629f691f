// Remotes: what is stored, as a set in memory or behind a callback; and callbacks that fail half way.

#include <algorithm>
#include <set>

#include "tests/c/support.hpp"

namespace tamis::test {
namespace {

bool before(const tamis_digest& a, const tamis_digest& b) { return a.high != b.high ? a.high < b.high : a.low < b.low; }

struct stored_digests {
  std::vector<tamis_digest> sorted;
  int failing_visit = -1;  // the scan fails before it has visited so many
  bool lies = false;
  int asked = 0;
};

int scan(void* context, tamis_digest first, tamis_digest last, tamis_visit visit, void* visitor) {
  auto& stored = *static_cast<stored_digests*>(context);
  ++stored.asked;
  int visited = 0;
  for (auto at = std::lower_bound(stored.sorted.begin(), stored.sorted.end(), first, before);
       at != stored.sorted.end() && !before(last, *at); ++at) {
    if (visited++ == stored.failing_visit) return -1;
    if (visit(visitor, *at) != 0) return 0;
  }
  if (stored.lies) visit(visitor, {0, 0}), visit(visitor, {~std::uint64_t{0}, 0});
  return stored.failing_visit >= 0 ? -1 : 0;
}

std::vector<tamis_digest> digests_of(const tamis_filter* f, const std::vector<std::uint64_t>& in) {
  std::vector<tamis_digest> out(in.size());
  const tamis_keys keys = integers(in);
  EXPECT_EQ(tamis_hash(f, &keys, out.data(), nullptr), TAMIS_OK);
  return out;
}

std::vector<std::uint64_t> mistakes_of(const tamis_filter* f, std::uint64_t count) {
  const auto strangers = numbers(1'000'000, count);
  const auto found = answers(f, integers(strangers));
  std::vector<std::uint64_t> wrong;
  for (std::size_t i = 0; i < strangers.size(); ++i) {
    if (found[i] == 1) wrong.push_back(strangers[i]);
  }
  return wrong;
}

class c_adaptive : public testing::TestWithParam<std::string> {
 protected:
  // A small evergreen has more bits than it was asked for, unless its segments have all their quotients.
  c_adaptive()
      : f(made(GetParam() + " capacity=3000 fpr=0.02" + (GetParam() == "evergreen" ? " segment=64" : ""))),
        in(numbers(1, 2800)) {
    const tamis_keys keys = integers(in);
    EXPECT_EQ(tamis_insert(f.get(), &keys, nullptr, nullptr, nullptr), 2800);
    stored.sorted = digests_of(f.get(), in);
    std::sort(stored.sorted.begin(), stored.sorted.end(), before);
    tamis_remote* made_remote = nullptr;
    EXPECT_EQ(tamis_remote_create(scan, &stored, &made_remote, nullptr), TAMIS_OK);
    remote.reset(made_remote);
  }
  void expect_all_in() {
    const auto found = answers(f.get(), integers(in));
    EXPECT_EQ(std::count(found.begin(), found.end(), 0), 0);
  }

  filter_handle f;
  std::vector<std::uint64_t> in;
  stored_digests stored;
  remote_handle remote;
};

TEST_P(c_adaptive, fixes_most_mistakes_and_loses_no_key) {
  const auto wrong = mistakes_of(f.get(), 20'000);
  ASSERT_GT(wrong.size(), 50u);
  const tamis_keys keys = integers(wrong);
  std::vector<std::uint8_t> outcome(wrong.size(), 9);
  tamis_error error{};
  const std::int64_t fixed = tamis_adapt(f.get(), &keys, remote.get(), outcome.data(), &error);
  EXPECT_GT(fixed, static_cast<std::int64_t>(wrong.size()) / 2) << error.message;
  EXPECT_EQ(std::count(outcome.begin(), outcome.end(), TAMIS_ADAPT_FIXED), fixed);
  EXPECT_EQ(std::count(outcome.begin(), outcome.end(), 9), 0);
  expect_all_in();
}

// A batch goes into the filter before or after the remote has it. Meanwhile the filter grows, and asks.
TEST_P(c_adaptive, a_batch_may_be_in_the_remote_or_not) {
  for (const bool filter_first : {true, false}) {
    const filter_handle grown = made(GetParam() + " capacity=" + (GetParam() == "evergreen" ? "100" : "9000") + " fpr=0.02");
    tamis_remote* memory = nullptr;
    ASSERT_EQ(tamis_remote_memory(&memory, nullptr), TAMIS_OK);
    const remote_handle theirs(memory);
    for (std::uint64_t first = 0; first < 8000; first += 1600) {
      auto batch = numbers(first, 1600);
      batch.push_back(first);  // one of them twice
      const auto digests = digests_of(grown.get(), batch);
      const tamis_keys keys = integers(batch);
      if (!filter_first) {
        ASSERT_EQ(tamis_remote_insert(memory, digests.data(), digests.size(), nullptr), 1601);
      }
      ASSERT_EQ(tamis_insert(grown.get(), &keys, memory, nullptr, nullptr), 1601);
      if (filter_first) {
        ASSERT_EQ(tamis_remote_insert(memory, digests.data(), digests.size(), nullptr), 1601);
      }
      const auto wrong = mistakes_of(grown.get(), 2000);
      const tamis_keys mistakes = integers(wrong);
      ASSERT_GE(tamis_adapt(grown.get(), &mistakes, memory, nullptr, nullptr), 0);
      const auto found = answers(grown.get(), integers(numbers(0, first + 1600)));
      ASSERT_EQ(std::count(found.begin(), found.end(), 0), 0) << "filter first: " << filter_first << ", " << first;
    }
    if ((tamis_filter_can(grown.get()) & TAMIS_CAN_ERASE) == 0) continue;
    const auto half = numbers(0, 4800);
    const auto digests = digests_of(grown.get(), half);
    const tamis_keys keys = integers(half);
    if (!filter_first) {
      ASSERT_EQ(tamis_remote_erase(memory, digests.data(), digests.size(), nullptr), 4800);
    }
    EXPECT_EQ(tamis_erase(grown.get(), &keys, memory, nullptr, nullptr), 4800);
    const auto found = answers(grown.get(), integers(numbers(4800, 3200)));
    EXPECT_EQ(std::count(found.begin(), found.end(), 0), 0);
  }
}

// Whatever scan fails, the filter accepts what it accepted, and the key that failed has changed nothing.
TEST_P(c_adaptive, a_scan_that_fails_changes_nothing) {
  auto wrong = mistakes_of(f.get(), 20'000);
  wrong.resize(std::min<std::size_t>(wrong.size(), 60));
  const auto strangers = numbers(5'000'000, 5000);
  const auto accepted = answers(f.get(), integers(strangers));
  for (const bool lies : {false, true}) {
    for (stored.failing_visit = lies ? -1 : 0; stored.failing_visit < (lies ? 0 : 4); ++stored.failing_visit) {
      stored.lies = lies;
      for (const std::uint64_t key : wrong) {
        if (tamis_may_contain_u64(f.get(), key) == 0) continue;
        const std::vector<std::uint64_t> one = {key};
        const tamis_keys keys = integers(one);
        const std::string bytes = saved(f.get());
        stored.asked = 0;
        tamis_error error{};
        tamis_filter* copied = nullptr;
        ASSERT_EQ(tamis_filter_copy(f.get(), &copied, nullptr), TAMIS_OK);
        const filter_handle copy(copied);
        const std::int64_t answer = tamis_adapt(copied, &keys, remote.get(), nullptr, &error);
        if (answer >= 0) continue;  // it needed no remote, or had seen enough before it failed
        EXPECT_EQ(answer, TAMIS_CALLBACK) << error.message;
        EXPECT_GT(stored.asked, 0);
        EXPECT_EQ(saved(copied) == bytes || GetParam().rfind("evergreen", 0) == 0, true);
        EXPECT_EQ(answers(copied, integers(strangers)), accepted);
        const auto found = answers(copied, integers(in));
        EXPECT_EQ(std::count(found.begin(), found.end(), 0), 0);
      }
    }
  }
}

TEST_P(c_adaptive, an_update_whose_scan_fails_changes_nothing) {
  const auto wrong = mistakes_of(f.get(), 20'000);
  tamis_keys keys = integers(wrong);
  ASSERT_GE(tamis_adapt(f.get(), &keys, remote.get(), nullptr, nullptr), 0);
  stored.failing_visit = 0;
  const auto more = numbers(9'000'000, 150);
  const auto accepted = answers(f.get(), integers(wrong));
  for (const std::uint64_t key : more) {
    const std::vector<std::uint64_t> one = {key};
    keys = integers(one);
    tamis_filter* copied = nullptr;
    ASSERT_EQ(tamis_filter_copy(f.get(), &copied, nullptr), TAMIS_OK);
    const filter_handle copy(copied);
    tamis_error error{};
    const std::int64_t answer = tamis_insert(copied, &keys, remote.get(), nullptr, &error);
    if (answer >= 0) continue;
    EXPECT_EQ(answer, TAMIS_CALLBACK) << error.message;
    EXPECT_EQ(tamis_filter_keys(copied), tamis_filter_keys(f.get()));
    EXPECT_EQ(answers(copied, integers(wrong)), accepted);
    const auto found = answers(copied, integers(in));
    EXPECT_EQ(std::count(found.begin(), found.end(), 0), 0);
  }
  if ((tamis_filter_can(f.get()) & TAMIS_CAN_ERASE) == 0) return;
  for (std::size_t i = 0; i < 150; ++i) {
    const std::vector<std::uint64_t> one = {in[i]};
    keys = integers(one);
    tamis_filter* copied = nullptr;
    ASSERT_EQ(tamis_filter_copy(f.get(), &copied, nullptr), TAMIS_OK);
    const filter_handle copy(copied);
    if (tamis_erase(copied, &keys, remote.get(), nullptr, nullptr) >= 0) continue;
    EXPECT_EQ(tamis_filter_keys(copied), tamis_filter_keys(f.get()));
    const auto found = answers(copied, integers(in));
    EXPECT_EQ(std::count(found.begin(), found.end(), 0), 0);
  }
}

std::vector<std::string> adaptive_kinds() {
  std::vector<std::string> ids;
  for (const std::string& id : kinds()) {
    if ((tamis_filter_can(made(id + " capacity=10").get()) & TAMIS_CAN_ADAPT) != 0) ids.push_back(id);
  }
  return ids;
}
INSTANTIATE_TEST_SUITE_P(every_filter, c_adaptive, testing::ValuesIn(adaptive_kinds()), [](const auto& of) {
  std::string name = of.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// The tests above would prove nothing if no filter asked.
TEST(c_remote, some_filters_ask_and_fail) {
  const filter_handle f = made("taf capacity=3000 fpr=0.02");
  for (const std::uint64_t key : numbers(1, 2800)) ASSERT_EQ(tamis_insert_u64(f.get(), key, nullptr), 1);
  stored_digests stored;
  stored.failing_visit = 0;
  tamis_remote* made_remote = nullptr;
  ASSERT_EQ(tamis_remote_create(scan, &stored, &made_remote, nullptr), TAMIS_OK);
  const remote_handle remote(made_remote);
  const auto wrong = mistakes_of(f.get(), 20'000);
  const tamis_keys keys = integers(wrong);
  tamis_error error{};
  EXPECT_EQ(tamis_adapt(f.get(), &keys, remote.get(), nullptr, &error), TAMIS_CALLBACK);
  EXPECT_STREQ(error.message, "the scan failed");
  stored.failing_visit = -1;
  stored.lies = true;
  EXPECT_EQ(tamis_adapt(f.get(), &keys, remote.get(), nullptr, &error), TAMIS_CALLBACK);
  EXPECT_STREQ(error.message, "the scan visited a digest outside of its range or out of order");
}

TEST(c_remote, a_set_in_memory) {
  const filter_handle f = made("taf capacity=3000 fpr=0.02");
  const auto in = numbers(1, 2800);
  for (const std::uint64_t key : in) ASSERT_EQ(tamis_insert_u64(f.get(), key, nullptr), 1);
  tamis_remote* made_remote = nullptr;
  ASSERT_EQ(tamis_remote_memory(&made_remote, nullptr), TAMIS_OK);
  const remote_handle remote(made_remote);
  const auto digests = digests_of(f.get(), in);
  EXPECT_EQ(tamis_remote_insert(made_remote, digests.data(), digests.size(), nullptr), 2800);
  EXPECT_EQ(tamis_remote_size(made_remote, nullptr), 2800);
  const auto wrong = mistakes_of(f.get(), 20'000);
  const tamis_keys keys = integers(wrong);
  EXPECT_GT(tamis_adapt(f.get(), &keys, made_remote, nullptr, nullptr), static_cast<std::int64_t>(wrong.size()) / 2);
  const std::vector<std::uint64_t> member = {in[0]};
  const tamis_keys one = integers(member);
  std::uint8_t outcome = 9;
  EXPECT_EQ(tamis_adapt(f.get(), &one, made_remote, &outcome, nullptr), 0);
  EXPECT_NE(outcome, TAMIS_ADAPT_FIXED);
  EXPECT_EQ(tamis_remote_erase(made_remote, digests.data(), 2, nullptr), 2);
  EXPECT_EQ(tamis_remote_erase(made_remote, digests.data(), 2, nullptr), 0);
}

}  // namespace
}  // namespace tamis::test
