// The mirror is the same in RAM and in a file, and is saved whole.

#include "tamis/detail/remote/slot_mirror.hpp"

#include <gtest/gtest.h>

#include "tests/support/bytes.hpp"
#include "tests/support/keys.hpp"

namespace tamis::test {

using namespace detail;

namespace {

class slot_mirrors : public ::testing::TestWithParam<mirror_place> {
 protected:
  static slot_mirror filled() {
    slot_mirror m = slot_mirror::make(100, GetParam()).value();
    for (std::uint64_t slot = 0; slot < 100; slot += 3) m.set(slot, keys(1, slot)[0], static_cast<std::uint8_t>(slot));
    return m;
  }
};
INSTANTIATE_TEST_SUITE_P(places, slot_mirrors, ::testing::Values(mirror_place::memory, mirror_place::file));

TEST_P(slot_mirrors, begins_with_zeros_and_keeps_what_is_set) {
  const slot_mirror m = filled();
  EXPECT_EQ(m.bits(), 100u * 136);
  for (std::uint64_t slot = 0; slot < 100; ++slot) {
    EXPECT_EQ(m[slot], slot % 3 == 0 ? keys(1, slot)[0] : digest{});
    EXPECT_EQ(m.note(slot), slot % 3 == 0 ? slot : 0);
  }
}

TEST_P(slot_mirrors, copy_is_independent) {
  const slot_mirror m = filled();
  slot_mirror copy = m;
  EXPECT_EQ(copy, m);
  copy.set(1, keys(1)[0]);
  EXPECT_EQ(m[1], digest{});
  EXPECT_NE(copy, m);
  copy = m;
  EXPECT_EQ(copy, m);
  const slot_mirror moved = std::move(copy);
  EXPECT_EQ(moved, m);
}

TEST_P(slot_mirrors, is_saved_whole_and_its_length_is_checked) {
  const slot_mirror m = filled();
  memory_sink sink;
  writer out(sink);
  out(m);
  ASSERT_TRUE(out.finish().ok());
  const byte_vector bytes = std::move(sink).take();
  const auto loaded = [](const byte_vector& from) -> result<slot_mirror> {
    memory_source source(from);
    reader in(source);
    slot_mirror made;
    in(made);
    if (!in.ok()) return failure{in.state().message()};
    return made;
  };
  EXPECT_EQ(loaded(bytes).value(), m);
  byte_vector longer = bytes;
  put_number(longer, 4, std::uint64_t{1} << 60);
  EXPECT_FALSE(loaded(longer).ok());
  put_number(longer, 4, std::uint64_t{101});
  EXPECT_FALSE(loaded(longer).ok());
  byte_vector elsewhere = bytes;
  put_number(elsewhere, 0, std::uint32_t{2});
  EXPECT_FALSE(loaded(elsewhere).ok());
}

}  // namespace
}  // namespace tamis::test
