// Operations that run out of memory half way: whichever allocation fails, nothing is lost, what failed has changed nothing, and
// no memory leaks. The heap refuses, or a resource that all tables come from.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "tamis/any_filter.hpp"
#include "tamis/memory_remote.hpp"
#include "tamis/registry.hpp"
#include "tests/no_memory/heap.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/counting_memory.hpp"
#include "tests/support/keys.hpp"

namespace tamis::test {
namespace {

// Who refuses.
enum class refusal { heap, resource };

class world {
 public:
  world(filter_params params, std::string_view id, refusal who) : id_(id), who_(who), params_(std::move(params)) {
    for (const digest d : in) stored.insert(d);
    for (const digest d : others) both.insert(d);
    for (const digest d : in) both.insert(d);
    any_filter made = filled(in);
    // With a past: some mistakes are fixed, or listed.
    for (std::size_t i = 0; i < 200; ++i) made.adapt(asked[i], remote_ref(both));
    bytes = made.save_bytes();
    other_bytes = filled(others).save_bytes();
    first = load_bytes(bytes).value();
    params_.memory = who == refusal::resource ? &memory : nullptr;
  }

  any_filter fresh(const byte_vector& from) { return load_bytes(from, {.memory = params_.memory}).value(); }

  // Calls `attempt` with every number of allocations until there are enough of them. `prepare` before each, `check` behind: has
  // it failed? An attempt answers whether it has succeeded, or throws std::bad_alloc.
  void with_too_few_allocations(const std::function<void()>& prepare, const std::function<bool()>& attempt,
                                const std::function<void(bool)>& check) {
    constexpr std::uint64_t most = 4000;
    for (std::uint64_t enough = 0; enough < most; ++enough) {
      prepare();
      bool failed = false;
      std::uint64_t& left = who_ == refusal::heap ? heap_left : memory.left;
      left = enough;
      try {
        failed = !attempt();
      } catch (const std::bad_alloc&) {
        failed = true;
      }
      left = unlimited;
      check(failed);
      refused_ += failed;
      f.reset();
      EXPECT_EQ(memory.bytes(), 0u) << "something leaked";
      if (testing::Test::HasFailure()) FAIL() << "with " << enough << " allocations";
      if (!failed) return;
    }
    FAIL() << most << " allocations are not enough";
  }
  // For something that is done with a filter f.
  void try_with_filter(const std::function<void()>& attempt, const std::function<void(bool)>& check) {
    with_too_few_allocations([this] { f = fresh(bytes); }, [&] { return attempt(), true; }, check);
  }

  // Nothing has changed: every key is in, the accepted set is that of before, and so are the bytes. Evergreen may have grown
  // before it finds that an insert or adapt must fail (concepts.hpp): its bytes may differ, and it may accept less.
  void check_unchanged() const {
    for (const digest d : in) EXPECT_TRUE(f->may_contain(d));
    EXPECT_EQ(f->keys(), first->keys());
    const bool may_grow = id_.starts_with("evergreen");
    for (const digest d : asked) EXPECT_TRUE(f->may_contain(d) == first->may_contain(d) || (may_grow && first->may_contain(d)));
    if (first->can().count) {
      for (const digest d : in) EXPECT_EQ(f->count(d).value(), first->count(d).value());
    }
    EXPECT_TRUE(may_grow || f->save_bytes() == bytes);
  }
  // As above if the operation failed; and every key but those that went away is in, anyway.
  void check(bool failed, std::uint64_t without = 0) const {
    if (failed) check_unchanged();
    for (std::uint64_t i = without; i < in.size(); ++i) EXPECT_TRUE(f->may_contain(in[i])) << "lost key " << i;
    const auto again = load_bytes(f->save_bytes());
    EXPECT_TRUE(again.ok()) << again.message();
  }

  void check_create() {
    with_too_few_allocations([] {}, [&] { return made(any_filter::create(id_, params_)); }, [](bool) {});
  }
  void check_load() {
    with_too_few_allocations([] {}, [&] { return made(load_bytes(bytes, {.memory = params_.memory})); }, [](bool) {});
  }
  void check_save() {
    byte_vector saved;
    try_with_filter([&] { saved = f->save_bytes(); },
                    [&](bool failed) {
                      check(failed);
                      if (!failed) {
                        EXPECT_EQ(saved, f->save_bytes());
                      }
                    });
  }
  void check_copy() {
    try_with_filter([&] { const any_filter copy = *f; },  // NOLINT(performance-unnecessary-copy-initialization)
                    [&](bool) { check(true); });
  }
  void check_insert() {
    for (const digest d : strangers(5)) {
      try_with_filter([&] { f->insert(d, remote_ref(stored)); }, [&](bool failed) { check(failed); });
    }
  }
  // Until there is no memory, or there are twice as many keys.
  void check_growth() {
    const std::vector<digest> more = strangers(200);
    std::size_t inserted = 0;
    const auto insert_more = [&] {
      for (inserted = 0; inserted < more.size(); ++inserted) {
        if (f->insert(more[inserted]) == insert_result::full) return;
      }
    };
    try_with_filter(insert_more, [&](bool) {
      for (const digest d : in) EXPECT_TRUE(f->may_contain(d));
      for (std::size_t i = 0; i < inserted; ++i) EXPECT_TRUE(f->may_contain(more[i]));
      // What did not go in has left no trace.
      any_filter other = fresh(bytes);
      for (std::size_t i = 0; i < inserted; ++i) EXPECT_EQ(other.insert(more[i]), insert_result::inserted);
      EXPECT_EQ(f->keys(), other.keys());
      for (const digest d : asked) EXPECT_EQ(f->may_contain(d), other.may_contain(d));
      EXPECT_EQ(f->save_bytes(), other.save_bytes());
    });
  }
  void check_erase() {
    if (!first->can().erase) return;
    try_with_filter([&] { f->erase(in[0], remote_ref(stored)); }, [&](bool failed) { check(failed, 1); });
  }
  void check_expand() {
    if (!first->can().expand) return;
    try_with_filter([&] { static_cast<void>(f->expand()); }, [&](bool failed) { check(failed); });
  }
  void check_clear() {
    bool cleared = false;
    try_with_filter([&] { cleared = f->clear().ok(); },
                    [&](bool failed) {
                      if (failed || !cleared) return check(true);
                      EXPECT_TRUE(f->empty());
                      for (const digest d : in) EXPECT_FALSE(f->may_contain(d));
                    });
  }
  void check_merge() {
    if (!first->can().merge) return;
    const any_filter other = load_bytes(other_bytes).value();
    bool merged = false;
    try_with_filter([&] { merged = f->merge(other, remote_ref(both)).ok(); },
                    [&](bool failed) {
                      if (failed || !merged) return check(true);
                      EXPECT_EQ(f->keys(), first->keys() + other.keys());
                      for (const digest d : in) EXPECT_TRUE(f->may_contain(d));
                      for (const digest d : others) EXPECT_TRUE(f->may_contain(d));
                    });
  }
  void check_adapt() {
    if (!first->can().adapt) return;
    unsigned wrong = 0;
    for (const digest d : strangers(30000)) {
      if (!first->may_contain(d) || ++wrong > 60) continue;
      try_with_filter([&] { f->adapt(d, remote_ref(stored)); }, [&](bool failed) { check(failed); });
    }
    EXPECT_GT(wrong, 20u);
  }

  void check_rejuvenate() {
    if (!first->can().rejuvenate) return;
    for (const std::size_t i : {0u, 50u, 150u}) {
      try_with_filter([&] { f->rejuvenate(in[i]).value(); }, [&](bool failed) { check(failed); });
    }
  }

  // Operations that failed because memory was refused.
  std::uint64_t refusals() const { return refused_; }

  std::vector<digest> in = keys(200);
  std::vector<digest> others = keys(5, 1000);
  std::vector<digest> asked = strangers(2000, 50'000);
  memory_remote stored;
  memory_remote both;
  counting_memory memory;
  byte_vector bytes;
  byte_vector other_bytes;
  std::optional<any_filter> first;
  std::optional<any_filter> f;

 private:
  any_filter filled(const std::vector<digest>& with) const {
    any_filter made = any_filter::create(id_, params_).value();
    for (const digest d : with) EXPECT_EQ(made.insert(d, remote_ref(both)), insert_result::inserted);
    return made;
  }
  // An error may only be that of memory.
  bool made(result<any_filter> answer) {
    if (!answer) {
      EXPECT_TRUE(refused(answer, "of memory were refused"));
      return false;
    }
    f = *std::move(answer);
    return true;
  }

  std::string id_;
  std::uint64_t refused_ = 0;
  refusal who_;
  filter_params params_;
};

void check_all(const filter_params& params, std::string_view id, refusal who) {
  world w(params, id, who);
  w.check_create();
  w.check_load();
  w.check_save();
  w.check_copy();
  w.check_insert();
  w.check_growth();
  w.check_erase();
  w.check_expand();
  w.check_merge();
  w.check_clear();
  w.check_adapt();
  w.check_rejuvenate();
  EXPECT_GT(w.refusals(), 0u);
  testing::Test::RecordProperty("refused", std::to_string(w.refusals()));
}

class no_memory : public testing::TestWithParam<std::tuple<std::string, refusal>> {
 protected:
  std::string id() const { return std::get<0>(GetParam()); }
  refusal who() const { return std::get<1>(GetParam()); }
};

TEST_P(no_memory, loses_nothing) { check_all({.capacity = 210, .fpr = 0.1, .options = {}}, id(), who()); }

TEST_P(no_memory, with_a_list_of_mistakes_loses_nothing) {
  check_all({.capacity = 210, .fpr = 0.1, .options = {{"mistakes", "20"}}}, id(), who());
}

class no_memory_where : public testing::TestWithParam<refusal> {};

// So full that a fix moves more keys than a change log holds without memory.
TEST_P(no_memory_where, chains_are_long) {
  for (const char* path : {"paper", "shortest", "guided"}) {
    check_all({.capacity = 200, .fpr = 0.1, .options = {{"path", path}, {"load", "96"}}}, "acf-cuckooing", GetParam());
  }
}

// Slots in bytes, and in bytes and columns.
TEST_P(no_memory_where, segments_have_other_slots) {
  for (const char* remainder : {"7", "8", "9"}) {
    check_all({.capacity = 210, .fpr = 0.1, .options = {{"remainder", remainder}}}, "evergreen", GetParam());
  }
}

// Segments so small that they split.
TEST_P(no_memory_where, segments_are_small) {
  for (const char* fingerprints : {"growing", "fixed"}) {
    const option_list options = {{"remainder", "4"}, {"segment", "64"}, {"fingerprints", fingerprints}};
    check_all({.capacity = 210, .fpr = 0.1, .options = options}, "evergreen", GetParam());
  }
}

// So small fingerprints that blocks are reset.
TEST_P(no_memory_where, symbols_are_many) {
  for (const char* id : {"taf", "utaf", "exaf"}) {
    check_all({.capacity = 210, .fpr = 0.5, .options = {{"remainder", "2"}}}, id, GetParam());
  }
}

std::string name_of(refusal who) { return who == refusal::heap ? "heap" : "resource"; }
const auto everybody = testing::Values(refusal::heap, refusal::resource);
INSTANTIATE_TEST_SUITE_P(refuses, no_memory_where, everybody, [](const auto& of) { return name_of(of.param); });

std::vector<std::string> all_filters() {
  std::vector<std::string> ids;
  for (const registry_entry& entry : registry::builtin().entries()) ids.emplace_back(entry.info->id);
  return ids;
}
INSTANTIATE_TEST_SUITE_P(every_filter, no_memory, testing::Combine(testing::ValuesIn(all_filters()), everybody),
                         [](const auto& of) {
                           std::string name = std::get<0>(of.param) + "_" + name_of(std::get<1>(of.param));
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace tamis::test
