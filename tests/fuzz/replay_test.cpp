// Every input that is known, through the functions that the fuzzers run: the seeds, and what once was a finding.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/checks/refused_files.hpp"
#include "tests/fuzz/targets.hpp"

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
