// Saved files of every released encoding stay readable. The files lie in tests/golden/v2, and in tests/golden/mistakes those of
// filters whose list of known mistakes is full; they are written only when
// TAMIS_WRITE_GOLDEN=1 asks for it, and a changed file means that the filter's version number has to go up.

#include <algorithm>
#include <cstdlib>

#include "tamis/detail/io/file.hpp"
#include "tests/conformance/cases.hpp"
#include "tests/support/remote.hpp"

namespace tamis::test {

using namespace detail;

namespace {

class golden : public conformance {
 protected:
  static constexpr std::uint64_t first_key = 1000;
  static constexpr std::uint64_t kept_keys = 100;

  std::string path() const {
    return TAMIS_SOURCE_DIR "/tests/golden/v2/" + id() + (GetParam().has_list() ? "+mistakes" : "") + ".tamis";
  }
  static std::vector<digest> kept() { return digests_from(first_key, kept_keys, test_hash()); }

  // 100 keys; before them, filters that can do more have erased, adapted and expanded, so that those fields are in the file
  // too.
  any_filter history(const option_list& options = {}) const {
    any_filter f = options.empty() ? make(150, 0.05) : create({.capacity = 150, .fpr = 0.05, .options = options}).value();
    multiset_remote truth;
    for (const digest d : kept()) {
      f.insert(d);
      truth.insert(d);
    }
    if (can().erase) {
      f.insert_many(keys(20));
      EXPECT_EQ(f.erase_many(keys(20)).value(), 20u);
    }
    if (can().adapt) {
      for (const digest d : strangers(200)) {
        if (f.may_contain(d)) f.adapt(d, remote_ref(truth));
      }
    }
    if (can().expand) f.expand().value();
    return f;
  }
};

bool writes_files() {
  const char* write = std::getenv("TAMIS_WRITE_GOLDEN");
  return write != nullptr && std::string_view(write) == "1";
}

byte_vector bytes_of(const std::string& path) {
  file_source source = file_source::open(path).value();
  byte_vector stored(source.remaining());
  source.read(stored).value();
  return stored;
}

// Every filter, and a list with some: one that does not adapt by itself, one that cannot fix all, one that needs no remote.
std::vector<conformance_case> golden_cases() {
  std::vector<conformance_case> cases = named(all_cases(), "added_", false);
  std::erase_if(cases, [](const conformance_case& c) { return c.has_list(); });
  for (const conformance_case& c : cases_with_list(3)) {
    if (c.id() == "bloom" || c.id() == "taf" || c.id() == "acf-swapping") cases.push_back(c);
  }
  return cases;
}
TAMIS_CONFORMANCE_CASES(golden, golden_cases());

TEST_P(golden, file_is_read_and_written_again_to_the_byte) {
  if (writes_files()) {
    const status written = history().save_file(path());
    ASSERT_TRUE(written.ok()) << written.message();
    GTEST_SKIP() << "written: " << path();
  }
  const auto f = load_file(path(), {std::nullopt, &known()});
  ASSERT_TRUE(f.ok()) << f.message() << "\nA new filter's file is made once, with TAMIS_WRITE_GOLDEN=1.";
  EXPECT_EQ(f->info().id, id());
  EXPECT_EQ(f->keys(), kept_keys);
  EXPECT_EQ(f->hash().identity(), test_hash().identity());
  EXPECT_TRUE(may_contain_all(*f, kept()));
  const std::vector<digest> asked = strangers(20000);
  EXPECT_TRUE(at_most_by_chance(count_positives(*f, asked), asked.size(), f->expected_fpr()));
  EXPECT_EQ(f->save_bytes(), bytes_of(path()));
}

// The same history still gives the same file: inserting has not changed either. A default that has changed since the file was
// written is given as an option.
TEST_P(golden, history_gives_the_same_file) {
  const auto f = load_file(path(), {std::nullopt, &known()});
  if (!f) GTEST_SKIP() << "no golden file";
  const option_list now = history().settings();
  option_list changed;
  for (const auto& setting : f->settings()) {
    if (std::find(now.begin(), now.end(), setting) == now.end()) changed.push_back(setting);
  }
  EXPECT_EQ(history(changed).save_bytes(), f->save_bytes());
}

// A list whose entries are in use: more mistakes were reported than it has room for, and one of those that are listed became a
// key, which leaves a hole among them.
class golden_list : public conformance {
 protected:
  static constexpr std::uint64_t first_key = 1000;
  static constexpr std::uint64_t entries = 5;

  std::string path() const { return TAMIS_SOURCE_DIR "/tests/golden/mistakes/" + id() + "+mistakes.tamis"; }
  static std::vector<digest> kept() { return digests_from(first_key, 100, test_hash()); }

  struct made {
    any_filter filter;
    std::vector<digest> reported;  // in order; the last ones are listed, but for `became_a_key`
    digest became_a_key{};
  };
  // Without a remote, so that filters that adapt by asking one have to list what they are told.
  made history(option_list options = {}) const {
    if (options.empty()) options = GetParam().options;
    made m{any_filter::create(known(), id(), {.capacity = 150, .fpr = 0.05, .options = options}, test_hash()).value(), {}};
    EXPECT_EQ(m.filter.insert_many(kept()), kept().size());
    for (const digest d : strangers(400)) {
      if (m.filter.may_contain(d) && m.filter.adapt(d) == adapt_result::fixed) m.reported.push_back(d);
    }
    m.became_a_key = m.reported.at(m.reported.size() - 2);
    EXPECT_EQ(m.filter.insert(m.became_a_key), insert_result::inserted);
    return m;
  }
};

std::vector<conformance_case> cases_that_list() {
  std::vector<conformance_case> cases;
  for (const conformance_case& c : cases_with_list(5)) {
    for (const char* id : {"bloom1", "counting-bloom", "cuckoo", "rsqf", "cqf", "infini", "taf", "exaf"}) {
      if (c.id() == id) cases.push_back(c);
    }
  }
  return cases;
}
TAMIS_CONFORMANCE_CASES(golden_list, cases_that_list());

TEST_P(golden_list, in_use_is_read_and_written_again_to_the_byte) {
  const made m = history();
  ASSERT_GT(m.reported.size(), entries);
  if (writes_files()) {
    const status written = m.filter.save_file(path());
    ASSERT_TRUE(written.ok()) << written.message();
    GTEST_SKIP() << "written: " << path();
  }
  auto f = load_file(path(), {std::nullopt, &known()});
  ASSERT_TRUE(f.ok()) << f.message();
  EXPECT_EQ(f->kind(), id() + "+mistakes");
  EXPECT_TRUE(may_contain_all(*f, kept()));
  EXPECT_TRUE(f->may_contain(m.became_a_key));
  EXPECT_EQ(f->known_mistakes(), entries - 1);
  for (std::size_t i = 0; i < m.reported.size(); ++i) {
    EXPECT_TRUE(f->model().plain().may_contain(m.reported[i])) << i;
    const bool is_listed = i + entries >= m.reported.size() && m.reported[i] != m.became_a_key;
    EXPECT_EQ(f->may_contain(m.reported[i]), !is_listed) << i;
  }
  EXPECT_EQ(f->save_bytes(), bytes_of(path()));
  // The oldest one goes first, as if nothing had been saved.
  const std::size_t oldest = m.reported.size() - entries;
  ASSERT_EQ(f->adapt(m.reported.front()), adapt_result::fixed);
  EXPECT_TRUE(f->may_contain(m.reported[oldest]));
  EXPECT_FALSE(f->may_contain(m.reported[oldest + 1]));
}

TEST_P(golden_list, in_use_is_made_again_by_the_same_history) {
  const auto f = load_file(path(), {std::nullopt, &known()});
  if (!f) GTEST_SKIP() << "no golden file";
  EXPECT_EQ(history(f->settings()).filter.save_bytes(), f->save_bytes());
}

}  // namespace
}  // namespace tamis::test
