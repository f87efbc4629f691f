// Saving and loading: everything comes back, and nothing else gets in.

#include "tests/conformance/cases.hpp"
#include "tests/support/temporary_directory.hpp"

namespace tamis::test {

using namespace detail;

namespace {

TAMIS_CONFORMANCE(saved, all_variants());
TAMIS_CONFORMANCE(damaged, all_cases());

TEST_P(saved, comes_back_the_same) {
  for (const std::uint64_t capacity : {1u, 63u, 64u, 65u, 1025u, 65537u}) {
    SCOPED_TRACE(capacity);
    any_filter f = make(capacity);
    const std::vector<digest> in = insert_all(f, keys(capacity));
    const byte_vector bytes = f.save_bytes();
    any_filter loaded = load(bytes).value();
    EXPECT_TRUE(may_contain_all(loaded, in));
    EXPECT_EQ(loaded.save_bytes(), bytes);
    EXPECT_EQ(loaded.info().id, f.info().id);
    EXPECT_EQ(loaded.keys(), f.keys());
    EXPECT_EQ(loaded.capacity(), f.capacity());
    EXPECT_EQ(loaded.expected_fpr(), f.expected_fpr());
    EXPECT_EQ(loaded.bits().fast, f.bits().fast);
    EXPECT_EQ(loaded.bits().slow, f.bits().slow);
    EXPECT_EQ(loaded.settings(), f.settings());
    EXPECT_EQ(loaded.hash().identity(), f.hash().identity());
    const std::vector<digest> asked = strangers(2000);
    for (const digest d : asked) ASSERT_EQ(loaded.may_contain(d), f.may_contain(d));
  }
}

TEST_P(saved, goes_on_as_the_original_would) {
  any_filter f = make(1000);
  insert_all(f, keys(500));
  any_filter loaded = load(f.save_bytes()).value();
  insert_all(f, keys(400, 500));
  insert_all(loaded, keys(400, 500));
  EXPECT_TRUE(may_contain_all(loaded, keys(900)));
  EXPECT_EQ(loaded.save_bytes(), f.save_bytes());
}

TEST_P(saved, empty_filter) {
  const any_filter f = make(100);
  const any_filter loaded = load(f.save_bytes()).value();
  EXPECT_EQ(loaded.keys(), 0u);
  EXPECT_EQ(count_positives(loaded, strangers(1000)), 0u);
}

TEST_P(saved, settings_make_the_same_filter_again) {
  const any_filter f = make(1000);
  const option_list settings = f.settings();
  std::vector<option_info> listed(f.info().options.begin(), f.info().options.end());
  listed.insert(listed.end(), std::begin(shared_options), std::end(shared_options));
  for (const auto& [name, value] : settings) {
    EXPECT_TRUE(std::any_of(listed.begin(), listed.end(), [&](const option_info& o) { return o.name == name; })) << name;
  }
  for (const auto& [name, value] : GetParam().options) {
    EXPECT_TRUE(std::find(settings.begin(), settings.end(), std::pair(name, value)) != settings.end()) << name;
  }
  filter_params params{.capacity = f.capacity(), .fpr = default_fpr, .options = settings};
  const auto again = any_filter::create(known(), id(), params, test_hash());
  if (!again && !GetParam().options.empty()) GTEST_SKIP() << "not at this rate: " << again.message();
  ASSERT_TRUE(again.ok()) << again.message();
  EXPECT_EQ(again->settings(), settings);
}

TEST_P(damaged, file_is_named_and_read_back) {
  const temporary_directory directory;
  const std::string path = directory / "filter.tamis";
  const any_filter f = make_full(1000);
  ASSERT_TRUE(f.save_file(path).ok());
  const auto loaded = load_file(path, {std::nullopt, &known()});
  ASSERT_TRUE(loaded.ok()) << loaded.message();
  EXPECT_EQ(loaded->save_bytes(), f.save_bytes());
  EXPECT_EQ(std::filesystem::file_size(path), f.save_bytes().size());
  std::filesystem::resize_file(path, 100);
  EXPECT_TRUE(refused(load_file(path, {std::nullopt, &known()}), path));
}

TEST_P(damaged, every_truncation_is_refused) {
  const byte_vector bytes = tiny().save_bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const byte_vector cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    ASSERT_TRUE(refused(load(cut))) << size << " of " << bytes.size() << " bytes";
  }
}

TEST_P(damaged, every_flipped_bit_is_refused) {
  const byte_vector bytes = tiny().save_bytes();
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    ASSERT_TRUE(refused(load(with_flipped_bit(bytes, bit)))) << "bit " << bit % 8 << " of byte " << bit / 8;
  }
}

TEST_P(damaged, appended_bytes_are_refused) {
  byte_vector bytes = tiny().save_bytes();
  for (int i = 0; i < 20; ++i) {
    bytes.push_back(std::byte{0});
    EXPECT_TRUE(refused(load(bytes), "after its end"));
  }
}

// A forger repairs the checksums. What is then still accepted must be a filter that works, whatever it holds.
TEST_P(damaged, forged_content_is_refused_or_harmless) {
  const byte_vector bytes = tiny().save_bytes();
  const frame_layout at(bytes);
  const std::vector<digest> some = keys(20);
  for (std::size_t bit = at.payload * 8; bit < at.payload_end * 8; ++bit) {
    SCOPED_TRACE(bit);
    auto loaded = load(resealed(with_flipped_bit(bytes, bit)));
    if (!loaded) {
      ASSERT_TRUE(refused(loaded));
      continue;
    }
    count_positives(*loaded, some);
    static_cast<void>(loaded->expected_fpr());
    const std::vector<digest> added = insert_all(*loaded, strangers(30));
    ASSERT_TRUE(may_contain_all(*loaded, added));
    if (can().erase) EXPECT_EQ(loaded->erase_many(added).value(), added.size());
    ASSERT_FALSE(loaded->save_bytes().empty());
  }
}

TEST_P(damaged, future_versions_are_refused_by_name) {
  const byte_vector bytes = tiny().save_bytes();
  byte_vector format = bytes;
  put_number(format, frame_layout::version, format_version + 1);
  EXPECT_TRUE(refused(load(resealed(format)), "format version is 3"));
  EXPECT_TRUE(refused(load(format), "format version is 3"));
  byte_vector kind = bytes;
  put_number(kind, frame_layout::kind_version, GetParam().entry->info->version + 1);
  EXPECT_TRUE(refused(load(resealed(kind)), "version " + std::to_string(GetParam().entry->info->version + 1) + " of " + id()));
}

TEST_P(damaged, first_format_is_refused_by_name) {
  byte_vector bytes = tiny().save_bytes();
  put_number(bytes, frame_layout::version, std::uint32_t{1});
  EXPECT_TRUE(refused(load(bytes), "format version is 1"));
}

TEST_P(damaged, unknown_kind_is_refused_by_name) {
  byte_vector bytes = tiny().save_bytes();
  bytes[frame_layout::kind] = std::byte{'?'};
  std::string unknown = id();
  unknown[0] = '?';
  EXPECT_TRUE(refused(load(resealed(bytes)), unknown));
  registry empty;
  EXPECT_TRUE(refused(load_bytes(tiny().save_bytes(), {std::nullopt, &empty}), id()));
}

// The payload of one kind in the frame of another.
TEST_P(damaged, content_of_another_kind_is_refused_or_harmless) {
  const byte_vector own = tiny().save_bytes();
  for (const registry_entry& other : known().entries()) {
    if (other.info->id == id()) continue;
    const auto made =
        any_filter::create(known(), other.info->id, {.capacity = 20, .fpr = 0.1}, test_hash()).value().save_bytes();
    const auto loaded = load(reframed(own, payload_of(made)));
    if (loaded) count_positives(*loaded, strangers(100));
  }
}

TEST_P(damaged, wrong_hash_is_refused) {
  const byte_vector bytes = tiny().save_bytes();
  EXPECT_TRUE(load(bytes).ok());
  EXPECT_TRUE(load(bytes, test_hash()).ok());
  EXPECT_TRUE(refused(load(bytes, hasher::fast(hash_seed + 1)), "seed"));
  EXPECT_TRUE(refused(load(bytes, hasher::keyed({hash_seed, 0})), "fast hash"));
}

TEST_P(damaged, keyed_hash_needs_its_secret) {
  const hasher secret = hasher::keyed({0x0123456789abcdef, 42});
  any_filter f = make(20, 0.1, secret);
  ASSERT_EQ(f.insert("somebody"), insert_result::inserted);
  const byte_vector bytes = f.save_bytes();
  EXPECT_TRUE(refused(load(bytes), "secret"));
  EXPECT_TRUE(refused(load(bytes, hasher::keyed({0x0123456789abcdef, 43})), "seed"));
  EXPECT_TRUE(refused(load(bytes, hasher::fast(42)), "keyed hash"));
  const auto loaded = load(bytes, secret);
  ASSERT_TRUE(loaded.ok()) << loaded.message();
  EXPECT_TRUE(loaded->may_contain("somebody"));
}

// A seed that does not belong to its check value: somebody has changed one of them.
TEST_P(damaged, forged_seed_is_refused) {
  const byte_vector bytes = tiny().save_bytes();
  for (const std::size_t field : {frame_layout::seed, frame_layout::check}) {
    EXPECT_TRUE(refused(load(resealed(with_flipped_bit(bytes, field * 8 + 5))), "hash"));
  }
}

}  // namespace
}  // namespace tamis::test
