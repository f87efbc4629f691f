// Files that hold no filter of the registry: patches, filters that threads share, and the settings of a store.

#include "src/concurrent_parts.hpp"
#include "tamis/concurrent.hpp"
#include "tamis/difference.hpp"
#include "tests/checks/collection.hpp"
#include "tests/support/keys.hpp"

namespace tamis::test {
namespace {

using difference::patch_content;
using difference::slot_table;

class patches : public ::testing::Test {
 protected:
  void SetUp() override {
    any_filter f = any_filter::create("rsqf", {.capacity = 100, .fpr = 0.01}).value();
    static_cast<void>(f.insert_many(keys(50)));
    const byte_vector old = f.save_bytes();
    static_cast<void>(f.insert_many(keys(1, 50)));
    patch_ = diff_bytes(old, f.save_bytes()).value();
  }
  template <class Change>
  void look_at(Change change) {
    auto [content, hash] = difference::read_patch(patch_).value();
    change(content);
    collection::of_tree().look_at("patch", ".patch", difference::saved_patch(content, hash));
  }
  template <class Change>
  void look_at_table(Change change) {
    look_at([&](patch_content& p) {
      p.tables = {slot_table{.slots = 64, .planes = {{.begin = 0, .stride = 64, .width = 8}}, .offsets = {}}};
      change(p.tables[0]);
    });
  }

  byte_vector patch_;
};

TEST_F(patches, with_other_fields) {
  look_at([](patch_content& p) { p.block_bits = 11; });
  look_at([](patch_content& p) { p.block_bits = 31; });
  look_at([](patch_content& p) { p.made_bytes += 1; });
  look_at([](patch_content& p) { p.pieces.push_back({0, 0}); });
  look_at([](patch_content& p) { p.made_bytes = 0; });
  look_at([](patch_content& p) { p.pieces = {{p.made_bytes + 1, difference::zeros}, {~std::uint64_t{0}, difference::zeros}}; });
  look_at([](patch_content& p) { p.pieces[0].from = p.old_bytes + 1; });
  look_at([](patch_content& p) { p.pieces[0].from = p.old_bytes; });
  look_at([](patch_content& p) {
    p.made_bytes = p.old_bytes << 30;
    p.pieces = {{p.made_bytes, difference::zeros}};
  });
}

TEST_F(patches, with_other_tables) {
  look_at([](patch_content& p) {
    p.tables.assign(difference::most_tables + 1, slot_table{.slots = 64, .planes = {{0, 64, 8}}, .offsets = {}});
  });
  look_at_table([](slot_table& t) { t.slots = 0; });
  look_at_table([](slot_table& t) { t.slots = 65; });
  look_at_table([](slot_table& t) { t.planes.clear(); });
  look_at_table([](slot_table& t) { t.planes.assign(65, {0, 8, 1}); });
  look_at_table([](slot_table& t) { t.offsets.assign(2, {0, 8, 8}); });
  look_at_table([](slot_table& t) { t.planes[0].width = 0; });
  look_at_table([](slot_table& t) { t.planes[0] = {0, 520, 65}; });
  look_at_table([](slot_table& t) { t.planes[0].begin = 1 << 20; });
  look_at_table([](slot_table& t) { t.offsets = {{0, 8, 7}}; });
  look_at_table([](slot_table& t) { t.offsets = {{1 << 20, 8, 8}}; });
  look_at_table([](slot_table& t) { t.planes.assign(2, {0, 264, 33}); });
}

TEST(shared_filters, with_other_numbers_of_stripes) {
  const byte_vector one = any_filter::create("bloom1", {.capacity = 1, .fpr = 0.5}, test_hash()).value().save_bytes();
  const auto look_at = [&](std::uint32_t bits, std::size_t filters) {
    detail::saved_stripes content;
    content.bits = bits;
    content.filters.assign(filters, {reinterpret_cast<const char*>(one.data()), one.size()});
    memory_sink sink;
    const detail::frame_header header{std::string(concurrent_filter::saved_kind), detail::saved_stripes::version,
                                      test_hash().identity()};
    detail::write_frame(sink, header, [&](detail::writer& out) { out(content); }).value();
    collection::of_tree().look_at("concurrent", ".concurrent", sink.bytes());
  };
  look_at(1, 1);
  look_at(0, 2);
  look_at(detail::stripe_map::most_bits + 1, std::size_t{2} << detail::stripe_map::most_bits);
}

TEST(settings_of_a_store, with_other_numbers) {
  const auto look_at = [](std::uint32_t version, std::uint32_t stripes) {
    store_config config;
    config.version = version;
    config.stripes = stripes;
    collection::of_tree().look_at("config", ".config", bytes_of(row_text(config)));
  };
  look_at(0, 4);
  look_at(store_config::newest_version + 1, 4);
  look_at(1, 0);
  look_at(1, 3);
  look_at(1, 512);
}

}  // namespace
}  // namespace tamis::test
