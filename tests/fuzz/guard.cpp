// What a guarded store finds when it is opened: rows of the manifest, and the file of a snapshot, each as a forger would write
// it. The store is refused with a reason, or it is open, and then it answers for every key that is stored. The first byte says
// what is forged, the rest is its new content.

#include <filesystem>
#include <fstream>
#include <iterator>

#include "src/guard/snapshot.hpp"
#include "tamis/guard/guarded_store.hpp"
#include "tamis/guard/memory_store.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/checked_filter.hpp"
#include "tests/support/temporary_directory.hpp"

namespace tamis::fuzz {
namespace {

namespace fs = std::filesystem;
using test::must_hold;

constexpr std::uint32_t stripes = 2;
constexpr int snapshot_keys = 20;
constexpr int all_keys = 25;  // the last ones are in the records only

guard_options options() {
  guard_options made;
  made.filter = "cuckoo";
  made.params = {.capacity = 128, .fpr = 0.01};
  made.hash = test::test_hash();
  made.stripes = stripes;
  made.background_rebuild = false;
  made.repeat_detection_slots = 16;
  return made;
}

std::string key_of(int number) { return "key " + std::to_string(number); }

// A store as its guard has left it: made once, and copied for every input.
class left_store {
 public:
  left_store() {
    const auto behind = std::make_shared<memory_store>(folder_.path().string());
    {
      auto guarded = guarded_store::open(behind, options()).value();
      for (int i = 0; i < snapshot_keys; ++i) must_hold(guarded.put(key_of(i), "value").ok());
      must_hold(guarded.snapshot().ok());
      for (int i = snapshot_keys; i < all_keys; ++i) must_hold(guarded.put(key_of(i), "value").ok());
    }
    rows_ = behind->rows("").value();
    for (std::uint32_t stripe = 0; stripe < stripes; ++stripe) {
      must_hold(behind
                    ->records(stripe, 0,
                              [&](const oplog_record& r) {
                                records_.push_back(r);
                                return true;
                              })
                    .ok());
    }
    for (const auto& entry : fs::directory_iterator(folder_.path())) snapshot_path_ = entry.path();
    std::ifstream file(snapshot_path_, std::ios::binary);
    snapshot_.assign(std::istreambuf_iterator<char>(file), {});
  }

  const std::string& snapshot() const { return snapshot_; }

  // The store with another text in a row, and another snapshot.
  std::shared_ptr<store> copy(std::string_view row, std::string_view text, std::string_view snapshot) const {
    for (const auto& entry : fs::directory_iterator(folder_.path())) fs::remove(entry.path());
    std::ofstream(snapshot_path_, std::ios::binary) << snapshot;
    write_set changes;
    std::vector<std::string> keys;
    for (int i = 0; i < all_keys; ++i) keys.push_back(key_of(i));
    for (const std::string& key : keys) changes.entries.push_back({{test::test_hash()(key), key}, "value"});
    changes.records = records_;
    bool found = false;
    for (const auto& [name, old] : rows_) {
      const bool forged = !row.empty() && name.starts_with(row);
      found = found || forged;
      changes.rows.push_back({name, forged ? std::string(text) : old});
    }
    if (!row.empty() && !found) changes.rows.push_back({std::string(row), std::string(text)});
    auto made = std::make_shared<memory_store>(folder_.path().string());
    must_hold(made->write(changes, false).ok());
    return made;
  }

  // The row of the manifest that believes in these bytes.
  std::string row_for(std::string_view bytes) const {
    for (const auto& [name, text] : rows_) {
      if (!name.starts_with(snapshot_rows)) continue;
      manifest_row row = parse_row<manifest_row>(text).value();
      row.file_bytes = bytes.size();
      row.file_sum = test::sum_of(std::as_bytes(std::span(bytes)));
      return row_text(row);
    }
    throw test::broken("there is no snapshot");
  }

 private:
  test::temporary_directory folder_;
  fs::path snapshot_path_;
  std::string snapshot_;
  std::vector<std::pair<std::string, std::string>> rows_;
  std::vector<oplog_record> records_;
};

void use(const std::shared_ptr<store>& behind, bool keys_are_safe) {
  auto opened = guarded_store::open(behind, options());
  if (!opened) {
    must_hold(!opened.message().empty());
    return;
  }
  for (int i = 0; keys_are_safe && i < all_keys; ++i) {
    must_hold(opened->may_contain(key_of(i)));
    must_hold(opened->get(key_of(i)).value() == "value");
  }
  if (opened->put("another", "one").ok()) must_hold(opened->get("another").value() == "one");
  must_hold(opened->get("stranger").ok());
  const auto erased = opened->erase("another");
  must_hold(!erased.ok() || !opened->get("another").value().has_value());
}

}  // namespace

void guard(input forged) {
  static const left_store left;
  if (forged.empty()) return;
  const std::string_view content(reinterpret_cast<const char*>(forged.data()) + 1, forged.size() - 1);
  switch (std::to_integer<unsigned>(forged.front()) % 4) {
    case 0: return use(left.copy(config_row, content, left.snapshot()), true);
    case 1: return use(left.copy(snapshot_rows, content, left.snapshot()), true);
    case 2: return use(left.copy(load_row, content, left.snapshot()), true);
    default: {
      // Who can write the snapshot, its checksums and the manifest can also write a filter that lacks keys: it must not do
      // worse.
      const std::vector<std::byte> file = repaired_snapshot(forged.subspan(1), std::as_bytes(std::span(left.snapshot())));
      const std::string_view bytes(reinterpret_cast<const char*>(file.data()), file.size());
      return use(left.copy(snapshot_rows, left.row_for(bytes), bytes), false);
    }
  }
}

}  // namespace tamis::fuzz
