// Every input that is known, through the functions that the fuzzers run: the seeds, and what once was a finding.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "integrations/redis/value.hpp"
#include "tests/checks/refused_files.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/support/keys.hpp"

namespace tamis::fuzz {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> inputs_of(std::string_view target) {
  const fs::path root(TAMIS_SOURCE_DIR);
  std::vector<fs::path> files;
  std::vector<fs::path> folders = {root / "tests/fuzz/corpus" / target};
  if (target == "load") folders.insert(folders.end(), {root / "tests/golden/v2", root / "tests/golden/mistakes"});
  for (const fs::path& folder : folders) {
    for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(fuzz, known_inputs_break_nothing) {
  for (const target& t : targets()) {
    const std::vector<fs::path> files = inputs_of(t.name);
    EXPECT_GE(files.size(), 5u) << "the seeds of " << t.name << " are missing";
    for (const fs::path& file : files) {
      SCOPED_TRACE(file);
      std::ifstream stream(file, std::ios::binary);
      const std::string text((std::istreambuf_iterator<char>(stream)), {});
      EXPECT_NO_THROW(t.run(std::as_bytes(std::span(text))));
    }
  }
}

// A repaired file is one whose frame is right: what is refused then is refused for its payload.
TEST(fuzz, golden_files_survive_the_repair) {
  for (const fs::path& file : inputs_of("load")) {
    if (file.extension() != ".tamis") continue;
    std::ifstream stream(file, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(stream)), {});
    EXPECT_FALSE(repaired_file(std::as_bytes(std::span(text))).empty()) << file;
  }
}

// What a seed of redis is named after: a filter, and _listed for a list of known mistakes beside it.
result<std::unique_ptr<redis::value>> named_value(std::string name) {
  constexpr std::string_view list = "_listed";
  redis::request asked{.mode = redis::add_mode::multi, .rate = 0.2, .capacity = 50};
  if (name.ends_with(list)) {
    asked.mistakes = 4;
    name.resize(name.size() - list.size());
  }
  asked.filter = name;
  auto made = redis::value::create(asked, 0);
  if (!made) return made;
  for (const digest d : test::keys(60)) static_cast<void>((*made)->add(d, {}));
  for (const digest d : test::keys(5)) {
    if ((*made)->can_erase()) (*made)->erase(d, {});
  }
  for (const digest d : test::strangers(40)) static_cast<void>((*made)->report(d, 0, 0, {.must = true}));
  return made;
}

// A seed of an older encoding is refused at once and leads a fuzzer nowhere. TAMIS_WRITE_GOLDEN=1 writes it anew.
TEST(fuzz, seeds_of_redis_are_values_of_today) {
  const char* const write = std::getenv("TAMIS_WRITE_GOLDEN");
  for (const fs::path& file : inputs_of("redis")) {
    if (file.filename().string().starts_with("found-")) continue;
    const test::byte_vector bytes = test::file_bytes(file);
    memory_source source(bytes);
    const auto loaded = redis::value::load(source, 0, 0);
    if (!loaded && write != nullptr && *write == '1') {
      const auto made = named_value(file.filename().string());
      ASSERT_TRUE(made.ok()) << file << ": " << made.message();
      memory_sink sink;
      ASSERT_TRUE((*made)->save(sink).ok());
      std::ofstream(file, std::ios::binary)
          .write(reinterpret_cast<const char*>(sink.bytes().data()), static_cast<std::streamsize>(sink.bytes().size()));
      continue;
    }
    EXPECT_TRUE(loaded.ok()) << file << ": " << loaded.message();
  }
}

// Of each no second check refuses the content (docs/internals/checks.md): if one goes, this fails.
TEST(fuzz, forged_files_are_refused) {
  const std::vector<fs::path> files = test::refused_files();
  EXPECT_GT(files.size(), 100u);
  for (const fs::path& file : files) {
    const status loaded = test::load_as(file.extension().string(), test::file_bytes(file));
    EXPECT_TRUE(test::refused(loaded)) << file;
  }
}

}  // namespace
}  // namespace tamis::fuzz
