// Writes files to tests/golden/refused: for every check that none of them needs yet, the shortest that it alone refuses. They
// come from the forger of the conformance suite. TAMIS_FORGERIES=N: so many of every victim.

#include <cstdlib>

#include "tests/checks/collection.hpp"
#include "tests/conformance/forger.hpp"

namespace tamis::test {
namespace {

int forgeries() {
  const char* given = std::getenv("TAMIS_FORGERIES");
  return given != nullptr ? std::atoi(given) : 300;
}

class collecting : public forgeable {
 protected:
  void collect(const victim& v) {
    const byte_vector originals[] = {v.filter.save_bytes(), v.empty.save_bytes()};
    const std::string kind = v.filter.kind();
    byte_vector bytes;
    for (int i = 0; i < forgeries(); ++i) {
      const int which = i / 8 % 2;
      if (i % 8 == 0) bytes = originals[which];
      byte_vector changed = forger(static_cast<std::uint64_t>(i), originals[1 - which])(bytes);
      collection::of_tree().look_at(kind, ".tamis", changed);
      if (load(changed)) bytes = std::move(changed);
    }
    numbers(originals[0], kind);
  }
  // Every field of the first ones, as every number that a check may ask about.
  void numbers(const byte_vector& original, const std::string& kind) {
    const frame_layout at(original);
    const std::size_t last = std::min(at.payload_end, at.payload + 160);
    for (std::size_t field = at.payload; field + 8 <= last; field += 1) {
      for (const std::uint64_t value : {0u, 1u, 2u, 3u, 5u, 9u, 17u, 33u, 49u, 57u, 65u, 96u, 101u, 1'000'001u}) {
        byte_vector changed = original;
        put_number(changed, field, static_cast<std::uint8_t>(value));
        collection::of_tree().look_at(kind, ".tamis", resealed(changed));
        put_number(changed, field, static_cast<std::uint32_t>(value));
        collection::of_tree().look_at(kind, ".tamis", resealed(changed));
        put_number(changed, field, value);
        collection::of_tree().look_at(kind, ".tamis", resealed(changed));
      }
    }
  }
};
TAMIS_CONFORMANCE_CASES(collecting, named(all_variants(), "added_", false));

TEST_P(collecting, from_crowded) { collect(crowded()); }
TEST_P(collecting, from_lived) { collect(lived()); }
TEST_P(collecting, from_sparse) { collect(sparse()); }
TEST_P(collecting, from_piled_up) { collect(piled_up()); }

}  // namespace
}  // namespace tamis::test
