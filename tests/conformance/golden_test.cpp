// Saved files of every released encoding stay readable. The files lie in tests/golden/v2; they are written only when
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
  const char* write = std::getenv("TAMIS_WRITE_GOLDEN");
  if (write != nullptr && std::string_view(write) == "1") {
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

  file_source source = file_source::open(path()).value();
  byte_vector stored(source.remaining());
  source.read(stored).value();
  EXPECT_EQ(f->save_bytes(), stored);
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

}  // namespace
}  // namespace tamis::test
