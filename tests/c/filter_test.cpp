// Every filter through the C interface: its life, one key, batches, errors.

#include <cstring>
#include <fstream>
#include <iterator>

#include "tests/c/support.hpp"

namespace tamis::test {
namespace {

class c_filter : public testing::TestWithParam<std::string> {};

TEST_P(c_filter, keeps_what_went_in) {
  const filter_handle f = made(GetParam() + " capacity=3000 fpr=0.01");
  const auto in = numbers(1, 2500);
  const tamis_keys keys = integers(in);
  std::vector<std::uint8_t> went(in.size(), 9);
  tamis_error error{};
  ASSERT_EQ(tamis_insert(f.get(), &keys, nullptr, went.data(), &error), 2500) << error.message;
  EXPECT_EQ(went, std::vector<std::uint8_t>(in.size(), 1));
  EXPECT_EQ(answers(f.get(), keys), went);
  EXPECT_EQ(tamis_filter_keys(f.get()), 2500u);
  for (const std::uint64_t key : in) {
    EXPECT_EQ(tamis_may_contain_u64(f.get(), key), 1);
    EXPECT_EQ(tamis_may_contain_bytes(f.get(), &key, sizeof key), 1);  // an integer is its eight bytes
  }
  // 100,000 strangers at 1 %: 1,000 expected, standard deviation 31. Twice as many is 32 deviations away.
  const auto strangers = numbers(1'000'000, 100'000);
  const auto found = answers(f.get(), integers(strangers));
  EXPECT_LT(std::count(found.begin(), found.end(), 1), 2000);

  const std::string bytes = saved(f.get());
  EXPECT_EQ(tamis_filter_saved_size(f.get(), nullptr), static_cast<std::int64_t>(bytes.size()));
  tamis_filter* again = nullptr;
  ASSERT_EQ(tamis_filter_load_bytes(bytes.data(), bytes.size(), nullptr, &again, &error), TAMIS_OK) << error.message;
  const filter_handle loaded(again);
  EXPECT_EQ(saved(again), bytes);
  EXPECT_EQ(answers(again, integers(strangers)), found);
  EXPECT_EQ(GetParam(), tamis_filter_kind(again));
  EXPECT_EQ(tamis_filter_same_hash(f.get(), again), 1);

  tamis_filter* copied = nullptr;
  ASSERT_EQ(tamis_filter_copy(f.get(), &copied, &error), TAMIS_OK);
  const filter_handle copy(copied);
  EXPECT_EQ(saved(copied), bytes);
}

TEST_P(c_filter, does_what_it_can_and_refuses_the_rest) {
  const filter_handle f = made(GetParam() + " capacity=1000 fpr=0.01");
  const std::uint32_t can = tamis_filter_can(f.get());
  tamis_error error{};
  ASSERT_EQ(tamis_insert_u64(f.get(), 5, &error), 1) << error.message;
  const std::string before = saved(f.get());
  const std::vector<std::uint64_t> five = {5};
  const tamis_keys keys = integers(five);
  std::uint64_t count = 77;
  const auto check = [&](std::uint32_t bit, std::int64_t answer, const char* verb) {
    if ((can & bit) != 0) {
      EXPECT_GE(answer, 0) << error.message;
      return;
    }
    EXPECT_EQ(answer, TAMIS_UNSUPPORTED);
    EXPECT_EQ(std::string(error.message), "the filter " + GetParam() + " cannot " + verb);
    EXPECT_EQ(saved(f.get()), before);
  };
  check(TAMIS_CAN_COUNT, tamis_count(f.get(), &keys, &count, &error), "count");
  if ((can & TAMIS_CAN_COUNT) != 0) {
    EXPECT_GE(count, 1u);
  }
  check(TAMIS_CAN_REJUVENATE, tamis_rejuvenate(f.get(), &keys, &error), "rejuvenate");
  check(TAMIS_CAN_ADAPT, tamis_adapt(f.get(), &keys, nullptr, nullptr, &error) >= 0 ? 0 : error.code, "adapt");
  check(TAMIS_CAN_MERGE, tamis_merge(f.get(), made(GetParam() + " capacity=1000 fpr=0.01").get(), nullptr, &error), "merge");
  check(TAMIS_CAN_EXPAND, tamis_expand(f.get(), &error), "expand");
}

TEST_P(c_filter, erases) {
  const filter_handle f = made(GetParam() + " capacity=1000 fpr=0.01");
  if ((tamis_filter_can(f.get()) & TAMIS_CAN_ERASE) == 0) {
    tamis_error error{};
    EXPECT_EQ(tamis_erase_u64(f.get(), 5, &error), TAMIS_UNSUPPORTED);
    return;
  }
  const auto in = numbers(1, 500);
  const tamis_keys keys = integers(in);
  ASSERT_EQ(tamis_insert(f.get(), &keys, nullptr, nullptr, nullptr), 500);
  EXPECT_EQ(tamis_erase(f.get(), &keys, nullptr, nullptr, nullptr), 500);
  EXPECT_EQ(tamis_filter_keys(f.get()), 0u);
}

TEST_P(c_filter, refuses_every_cut_of_its_saved_bytes) {
  const filter_handle f = made(GetParam() + " capacity=40 fpr=0.1");
  for (const std::uint64_t key : numbers(1, 30)) ASSERT_EQ(tamis_insert_u64(f.get(), key, nullptr), 1);
  const std::string bytes = saved(f.get());
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string cut = bytes.substr(0, size);  // a block of its own, so that a read beyond shows
    tamis_filter* loaded = f.get();
    tamis_error error{};
    EXPECT_LT(tamis_filter_load_bytes(cut.data(), cut.size(), nullptr, &loaded, &error), 0) << size;
    EXPECT_EQ(loaded, nullptr);
    EXPECT_NE(error.message[0], '\0');
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr() + testing::internal::GetCapturedStdout(), "");
}

TEST_P(c_filter, describes_itself) {
  std::string text;
  tamis_error error{};
  ASSERT_EQ(tamis_describe(GetParam().c_str(), append, &text, &error), TAMIS_OK) << error.message;
  EXPECT_EQ(text.rfind("{\"id\":\"" + GetParam() + "\",\"summary\":\"", 0), 0u) << text;
  EXPECT_NE(text.find("\"name\":\"mistakes\""), std::string::npos);
  std::string settings;
  ASSERT_EQ(tamis_filter_settings(made(GetParam()).get(), append, &settings, &error), TAMIS_OK);
  EXPECT_EQ(settings.front(), '{');
  EXPECT_EQ(settings.back(), '}');
}

INSTANTIATE_TEST_SUITE_P(every_filter, c_filter, testing::ValuesIn(kinds()), [](const auto& of) {
  std::string name = of.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

std::string refusal_of(const char* spec, int code) {
  tamis_filter* f = nullptr;
  tamis_error error{};
  EXPECT_EQ(tamis_filter_create(spec, nullptr, &f, &error), code) << error.message;
  EXPECT_EQ(error.code, code);
  EXPECT_EQ(f, nullptr);
  return error.message;
}

TEST(c_spec, has_defaults) {
  const filter_handle f = made("bloom1");
  EXPECT_EQ(tamis_filter_capacity(f.get()), 1'000'000u);
  EXPECT_EQ(saved(f.get()), saved(made("  bloom1   fpr=0.01\tcapacity=1M seed=0 ").get()));
  EXPECT_EQ(saved(f.get()), saved(made("bloom1 capacity=1e6").get()));
}

TEST(c_spec, errors_name_the_thing) {
  EXPECT_EQ(refusal_of("nosuch", TAMIS_NOT_FOUND).rfind("filter 'nosuch': unknown, there are: bloom, ", 0), 0u);
  EXPECT_NE(refusal_of("", TAMIS_INVALID).find("must begin with the id"), std::string::npos);
  EXPECT_NE(refusal_of("capacity=5", TAMIS_INVALID).find("must begin with the id"), std::string::npos);
  EXPECT_NE(refusal_of("bloom capacity", TAMIS_INVALID).find("'capacity': must be name=value"), std::string::npos);
  EXPECT_NE(refusal_of("bloom capacity=x", TAMIS_RANGE).find("capacity 'x': must be a whole number"), std::string::npos);
  EXPECT_NE(refusal_of("bloom fpr=2", TAMIS_RANGE).find("fpr 2"), std::string::npos);
  EXPECT_NE(refusal_of("bloom fpr=0.1 fpr=0.2", TAMIS_INVALID).find("given twice"), std::string::npos);
  EXPECT_NE(refusal_of("bloom colour=red", TAMIS_INVALID).find("option 'colour': unknown"), std::string::npos);
  EXPECT_NE(refusal_of("bloom seed=xyz", TAMIS_INVALID).find("seed 'xyz'"), std::string::npos);
  EXPECT_EQ(refusal_of(nullptr, TAMIS_INVALID), "spec: is NULL");
  refusal_of("bloom capacity=100000000000000", TAMIS_MEMORY);
  const std::string endless(100'000, 'x');
  EXPECT_LT(refusal_of(endless.c_str(), TAMIS_NOT_FOUND).size(), sizeof(tamis_error::message));
}

TEST(c_spec, survives_random_texts) {
  std::uint64_t state = 20260101;  // fixed seed
  const std::vector<std::string> words = {
      "bloom",     "evergreen", "capacity=",     "1M",   "=",     "fpr=", "nan",  "-1", "1e300", " ",
      "mistakes=", "\xff",      "bits_per_key=", "4096", "load=", "inf",  "0x10", "\n"};
  testing::internal::CaptureStderr();
  for (int i = 0; i < 20'000; ++i) {
    std::string spec;
    for (int n = 0; n < 6; ++n) spec += words[(state = state * 6364136223846793005u + 1442695040888963407u) >> 33 & 15u];
    tamis_filter* f = nullptr;
    const int code = tamis_filter_create(spec.c_str(), nullptr, &f, nullptr);
    EXPECT_EQ(code == TAMIS_OK, f != nullptr) << spec;
    EXPECT_NE(code, TAMIS_INTERNAL) << spec;
    tamis_filter_free(f);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(c_filter_errors, null_is_refused_or_maybe) {
  tamis_error error{};
  const std::vector<std::uint64_t> one = {1};
  const tamis_keys keys = integers(one);
  std::uint8_t out = 0;
  EXPECT_EQ(tamis_may_contain_u64(nullptr, 1), 1);
  EXPECT_EQ(tamis_insert_u64(nullptr, 1, &error), TAMIS_INVALID);
  EXPECT_STREQ(error.message, "filter: is NULL");
  EXPECT_EQ(tamis_may_contain(nullptr, &keys, &out, &error), TAMIS_INVALID);
  EXPECT_EQ(tamis_may_contain(made("bloom").get(), nullptr, &out, &error), TAMIS_INVALID);
  EXPECT_EQ(tamis_may_contain(made("bloom").get(), &keys, nullptr, &error), TAMIS_INVALID);
  EXPECT_EQ(tamis_filter_create("bloom", nullptr, nullptr, &error), TAMIS_INVALID);
  EXPECT_EQ(tamis_filter_keys(nullptr), 0u);
  EXPECT_EQ(tamis_merge(made("cqf").get(), nullptr, nullptr, nullptr), TAMIS_INVALID);
  tamis_filter_free(nullptr);
  tamis_remote_free(nullptr);
  EXPECT_EQ(tamis_kind(tamis_kinds()), nullptr);
  EXPECT_STREQ(tamis_code_text(TAMIS_DAMAGED), "damaged");
}

TEST(c_filter_errors, full_is_an_error_that_changes_nothing) {
  const filter_handle f = made("cuckoo capacity=100 fpr=0.01");
  int code = 1;
  std::uint64_t key = 0;
  std::string before;
  while (code == 1 && key < 100'000) {
    before = saved(f.get());
    code = tamis_insert_u64(f.get(), ++key, nullptr);
  }
  EXPECT_EQ(code, TAMIS_FULL);
  EXPECT_EQ(saved(f.get()), before);
}

TEST(c_filter_secret, is_needed_again) {
  const std::uint8_t secret[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const std::uint8_t other[16] = {1};
  const filter_handle f = made("cuckoo capacity=100", secret);
  EXPECT_EQ(tamis_filter_is_keyed(f.get()), 1);
  ASSERT_EQ(tamis_insert_bytes(f.get(), "alice", 5, nullptr), 1);
  const std::string bytes = saved(f.get());
  tamis_filter* again = nullptr;
  tamis_error error{};
  EXPECT_EQ(tamis_filter_load_bytes(bytes.data(), bytes.size(), nullptr, &again, &error), TAMIS_HASH);
  EXPECT_EQ(tamis_filter_load_bytes(bytes.data(), bytes.size(), other, &again, &error), TAMIS_HASH);
  ASSERT_EQ(tamis_filter_load_bytes(bytes.data(), bytes.size(), secret, &again, &error), TAMIS_OK) << error.message;
  const filter_handle loaded(again);
  EXPECT_EQ(tamis_may_contain_bytes(again, "alice", 5), 1);
  EXPECT_EQ(tamis_filter_same_hash(again, made("cuckoo").get()), 0);
  EXPECT_EQ(tamis_filter_create("cuckoo seed=1", secret, &again, &error), TAMIS_INVALID);
}

// A file that C++ wrote is the file that C reads.
TEST(c_filter_file, golden_files_load_and_save_the_same_bytes) {
  for (const std::string& id : kinds()) {
    const std::string path = std::string(TAMIS_SOURCE_DIR) + "/tests/golden/v2/" + id + ".tamis";
    tamis_filter* f = nullptr;
    tamis_error error{};
    ASSERT_EQ(tamis_filter_load_file(path.c_str(), nullptr, &f, &error), TAMIS_OK) << error.message;
    const filter_handle loaded(f);
    EXPECT_EQ(tamis_filter_kind(f), id);
    std::ifstream file(path, std::ios::binary);
    EXPECT_EQ(saved(f), std::string(std::istreambuf_iterator<char>(file), {})) << id;
  }
}

struct reading {
  std::string bytes;
  std::size_t at = 0;
  bool fails = false;
};
std::int64_t read_some(void* context, void* out, size_t size) {
  auto& r = *static_cast<reading*>(context);
  if (r.fails && r.at > 0) return -1;
  const std::size_t part = std::min<std::size_t>({size, r.bytes.size() - r.at, 1000});
  std::memcpy(out, r.bytes.data() + r.at, part);
  r.at += part;
  return static_cast<std::int64_t>(part);
}
int refuse(void* /*context*/, const void* /*bytes*/, size_t /*size*/) { return -1; }

TEST(c_filter_file, sources_and_sinks) {
  const filter_handle f = made("quotient capacity=5000");
  for (const std::uint64_t key : numbers(1, 4000)) ASSERT_EQ(tamis_insert_u64(f.get(), key, nullptr), 1);
  reading from{saved(f.get())};
  tamis_filter* again = nullptr;
  tamis_error error{};
  ASSERT_EQ(tamis_filter_load(read_some, &from, nullptr, &again, &error), TAMIS_OK) << error.message;
  const filter_handle loaded(again);
  EXPECT_EQ(saved(again), from.bytes);
  reading fails{from.bytes, 0, true};
  EXPECT_EQ(tamis_filter_load(read_some, &fails, nullptr, &again, &error), TAMIS_CALLBACK);
  EXPECT_EQ(again, nullptr);
  EXPECT_EQ(tamis_filter_save(f.get(), refuse, nullptr, &error), TAMIS_CALLBACK);
  EXPECT_STREQ(error.message, "the sink failed");
  EXPECT_EQ(tamis_filter_save_file(f.get(), "/nowhere/at/all", &error), TAMIS_NOT_FOUND) << error.message;
  EXPECT_EQ(tamis_filter_load_file("/nowhere/at/all", nullptr, &again, &error), TAMIS_NOT_FOUND);
}

}  // namespace
}  // namespace tamis::test
