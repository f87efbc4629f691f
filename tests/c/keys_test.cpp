// The forms of a batch: the same keys are the same keys in all of them, and what would lead a read astray is refused.

#include <cstring>

#include "tests/c/support.hpp"

namespace tamis::test {
namespace {

const std::vector<std::string> words = {"",
                                        "a",
                                        "twelve bytes",
                                        "thirteen byte",
                                        "a key that is longer than a view holds",
                                        std::string("nul\0inside", 10),
                                        "\xc3\xa9t\xc3\xa9",
                                        "last"};

tamis_keys batch(std::uint32_t form, std::uint64_t count, const void* data) {
  tamis_keys keys{};
  keys.struct_size = sizeof keys;
  keys.form = form;
  keys.count = count;
  keys.data = data;
  return keys;
}

// The digests of the words, one by one through slices.
std::vector<std::pair<std::uint64_t, std::uint64_t>> hashed(const tamis_keys& keys) {
  std::vector<tamis_digest> out(keys.count);
  tamis_error error{};
  EXPECT_EQ(tamis_hash(made("bloom").get(), &keys, out.data(), &error), TAMIS_OK) << error.message;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs;
  for (const tamis_digest d : out) pairs.emplace_back(d.high, d.low);
  return pairs;
}

std::vector<tamis_slice> slices_of(const std::vector<std::string>& texts) {
  std::vector<tamis_slice> slices;
  for (const std::string& text : texts) slices.push_back({text.data(), text.size()});
  return slices;
}

template <class Offset>
struct offset_form {
  std::string data;
  std::vector<Offset> offsets = {0};
  tamis_keys keys;

  explicit offset_form(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      data += text;
      offsets.push_back(static_cast<Offset>(data.size()));
    }
    keys = batch(sizeof(Offset) == 4 ? TAMIS_OFFSETS32 : TAMIS_OFFSETS64, texts.size(), data.data());
    keys.offsets = offsets.data();
    keys.data_size = data.size();
  }
  offset_form(const offset_form&) = delete;
};

struct view_form {
  std::string buffer;
  std::vector<char> views;
  const void* buffers[1];
  std::int64_t sizes[1];
  tamis_keys keys;

  explicit view_form(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      std::int32_t view[4] = {static_cast<std::int32_t>(text.size()), 0, 0, 0};
      if (text.size() <= 12) {
        std::memcpy(view + 1, text.data(), text.size());
      } else {
        view[3] = static_cast<std::int32_t>(buffer.size());
        buffer += text;
      }
      views.insert(views.end(), reinterpret_cast<char*>(view), reinterpret_cast<char*>(view) + 16);
    }
    buffers[0] = buffer.data();
    sizes[0] = static_cast<std::int64_t>(buffer.size());
    keys = batch(TAMIS_VIEWS, texts.size(), views.data());
    keys.buffers = buffers;
    keys.buffer_sizes = sizes;
    keys.buffer_count = 1;
  }
  view_form(const view_form&) = delete;
};

TEST(c_keys, texts_are_the_same_in_every_form) {
  const auto slices = slices_of(words);
  const auto expected = hashed(batch(TAMIS_SLICES, slices.size(), slices.data()));
  EXPECT_EQ(hashed(offset_form<std::int32_t>(words).keys), expected);
  EXPECT_EQ(hashed(offset_form<std::int64_t>(words).keys), expected);
  EXPECT_EQ(hashed(view_form(words).keys), expected);
  char padded[8][48] = {};
  for (std::size_t i = 0; i < words.size(); ++i) std::memcpy(padded[i], words[i].data(), words[i].size());
  tamis_keys keys = batch(TAMIS_PADDED, 8, padded);
  keys.width = 48;
  EXPECT_EQ(hashed(keys), expected);
  keys.form = TAMIS_FIXED_WIDTH;
  EXPECT_NE(hashed(keys), expected);
}

template <class Integer>
void check_integers(std::uint32_t form) {
  const std::vector<Integer> in = {0, 1, static_cast<Integer>(-1), std::numeric_limits<Integer>::max(),
                                   std::numeric_limits<Integer>::min()};
  std::vector<std::uint64_t> wide;
  std::vector<Integer> spaced;
  for (const Integer i : in) {
    wide.push_back(static_cast<std::uint64_t>(i));
    spaced.insert(spaced.end(), {i, 99, 98});
  }
  const auto expected = hashed(integers(wide));
  EXPECT_EQ(hashed(batch(form, in.size(), in.data())), expected);
  tamis_keys keys = batch(form, in.size(), spaced.data());
  keys.stride = 3 * sizeof(Integer);
  EXPECT_EQ(hashed(keys), expected);
  const std::vector<Integer> reversed(in.rbegin(), in.rend());
  keys = batch(form, in.size(), &reversed.back());
  keys.stride = -static_cast<std::int64_t>(sizeof(Integer));
  EXPECT_EQ(hashed(keys), expected);
}

TEST(c_keys, integers_of_every_width) {
  check_integers<std::uint64_t>(TAMIS_U64);
  check_integers<std::int64_t>(TAMIS_I64);
  check_integers<std::uint32_t>(TAMIS_U32);
  check_integers<std::int32_t>(TAMIS_I32);
  check_integers<std::uint16_t>(TAMIS_U16);
  check_integers<std::int16_t>(TAMIS_I16);
  check_integers<std::uint8_t>(TAMIS_U8);
  check_integers<std::int8_t>(TAMIS_I8);
}

TEST(c_keys, digests_are_taken_as_they_are) {
  const filter_handle f = made("cuckoo capacity=3000");
  const auto in = numbers(1, 2000);
  const tamis_keys keys = integers(in);
  std::vector<tamis_digest> digests(in.size());
  ASSERT_EQ(tamis_hash(f.get(), &keys, digests.data(), nullptr), TAMIS_OK);
  const tamis_keys as_digests = batch(TAMIS_DIGESTS, digests.size(), digests.data());
  ASSERT_EQ(tamis_insert(f.get(), &as_digests, nullptr, nullptr, nullptr), 2000);
  EXPECT_EQ(answers(f.get(), keys), std::vector<std::uint8_t>(in.size(), 1));
}

TEST(c_keys, nulls_are_in_no_filter) {
  const filter_handle f = made("cqf capacity=5000 fpr=0.0001");
  const auto in = numbers(1, 1300);
  std::vector<std::uint8_t> validity(in.size() / 8 + 2);
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (i % 3 != 0) validity[(i + 5) / 8] |= static_cast<std::uint8_t>(1u << ((i + 5) % 8));
  }
  tamis_keys keys = integers(in);
  keys.validity = validity.data();
  keys.validity_offset = 5;
  std::vector<std::uint8_t> went(in.size(), 9);
  ASSERT_EQ(tamis_insert(f.get(), &keys, nullptr, went.data(), nullptr), 866);
  const auto all = answers(f.get(), integers(in));
  const auto some = answers(f.get(), keys);
  unsigned strangers = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    EXPECT_EQ(went[i], i % 3 != 0);
    EXPECT_EQ(some[i], i % 3 != 0);
    if (i % 3 == 0) strangers += all[i];
  }
  EXPECT_LT(strangers, 20u);  // 434 at a rate of 1e-4
  tamis_error error{};
  std::vector<tamis_digest> digests(in.size());
  EXPECT_EQ(tamis_hash(f.get(), &keys, digests.data(), &error), TAMIS_INVALID);
  EXPECT_STREQ(error.message, "keys: key 0 is null, which has no digest");
}

std::string refusal_of(const tamis_keys& keys) {
  const filter_handle f = made("bloom capacity=100");
  const std::string before = saved(f.get());
  tamis_error error{};
  EXPECT_LT(tamis_insert(f.get(), &keys, nullptr, nullptr, &error), 0);
  EXPECT_EQ(saved(f.get()), before);
  return error.message;
}

TEST(c_keys, what_leads_astray_is_refused) {
  const std::uint64_t one = 1;
  EXPECT_NE(refusal_of(batch(0, 1, &one)).find("form 0 is unknown"), std::string::npos);
  EXPECT_NE(refusal_of(batch(99, 1, &one)).find("form 99 is unknown"), std::string::npos);
  EXPECT_EQ(refusal_of(batch(TAMIS_U64, 1, nullptr)), "keys: data: is NULL");
  tamis_keys keys = batch(TAMIS_U64, 1, &one);
  keys.struct_size = 4;
  EXPECT_NE(refusal_of(keys).find("struct_size"), std::string::npos);
  offset_form<std::int32_t> texts(words);
  texts.keys.data_size -= 1;
  EXPECT_NE(refusal_of(texts.keys).find("the last offset is"), std::string::npos);
  texts.keys.data_size += 1;
  texts.offsets[2] = 1000;
  EXPECT_NE(refusal_of(texts.keys).find("not ascending"), std::string::npos);
  texts.offsets[2] = -1;
  EXPECT_NE(refusal_of(texts.keys).find("negative"), std::string::npos);
  texts.keys.offsets = nullptr;
  EXPECT_EQ(refusal_of(texts.keys), "keys: offsets: is NULL");
  view_form views(words);
  views.sizes[0] -= 1;
  EXPECT_EQ(refusal_of(views.keys), "keys: key 4 views bytes that are in no buffer");
  views.keys.buffer_count = 0;
  EXPECT_EQ(refusal_of(views.keys), "keys: key 3 views bytes that are in no buffer");
  const tamis_slice bad[] = {{"x", 1}, {nullptr, 3}};
  EXPECT_EQ(refusal_of(batch(TAMIS_SLICES, 2, bad)), "keys: key 1 is NULL");
  keys = batch(TAMIS_U64, std::uint64_t{1} << 61, &one);
  EXPECT_NE(refusal_of(keys).find("too many"), std::string::npos);
}

// A program compiled against an older header gives a shorter struct.
TEST(c_keys, fields_that_are_not_there_are_zero) {
  const std::uint64_t one = 1;
  tamis_keys keys = batch(TAMIS_U64, 1, &one);
  keys.struct_size = offsetof(tamis_keys, validity);
  keys.validity = reinterpret_cast<const std::uint8_t*>(8);  // never looked at
  EXPECT_EQ(hashed(keys), hashed(batch(TAMIS_U64, 1, &one)));
}

TEST(c_keys, no_keys_need_no_memory) {
  tamis_keys keys{};
  keys.struct_size = sizeof keys;
  EXPECT_EQ(tamis_may_contain(made("bloom").get(), &keys, nullptr, nullptr), TAMIS_OK);
}

}  // namespace
}  // namespace tamis::test
