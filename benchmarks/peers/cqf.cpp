// github.com/splatlab/cqf: the counting quotient filter of its authors, 8-bit remainders, no locks; published_cqf.cpp makes
// another filter of this file.

#include "benchmarks/peers/gqf_surroundings.hpp"

namespace tamis::benchmarks {
namespace {
namespace cqf {

using namespace gqf;

struct [[gnu::packed]] qfblock {
  std::uint8_t offset;
  std::uint64_t occupieds[1];
  std::uint64_t runends[1];
#if QF_BITS_PER_SLOT == 8
  std::uint8_t slots[QF_SLOTS_PER_BLOCK];
#else
  std::uint8_t slots[];
#endif
};
using QF = filter<qfblock>;

int qf_resize_malloc(QF*, std::uint64_t) { return QF_NO_SPACE; }
int insert(QF*, std::uint64_t, std::uint64_t, int) { return QF_NO_SPACE; }  // of more than one
#ifdef TAMIS_AS_PUBLISHED
#include "published_cqf_excerpt.inc"
#else
// Theirs takes a lock for each counter, with QF_NO_LOCK too.
void modify_metadata(QF*, std::uint64_t* counter, int change) { *counter += static_cast<std::uint64_t>(change); }

#include "cqf_excerpt.inc"
#endif

}  // namespace cqf

class counting_quotient_filter {
 public:
  counting_quotient_filter(std::uint64_t slots, std::uint64_t)
      : table_([&](cqf::QF* qf, void* buffer, std::uint64_t bytes) {
          return cqf::qf_init(qf, slots, bits_of(slots), 0, gqf::QF_HASH_NONE, 0, buffer, bytes);
        }),
        unused_bits_(64 - bits_of(slots)) {}

  bool insert(std::uint64_t key) { return cqf::qf_insert(&table_.qf, fingerprint(key), 0, 1, flags) >= 0; }
  bool contains(std::uint64_t key) const { return cqf::qf_count_key_value(&table_.qf, fingerprint(key), 0, flags) != 0; }
  bool erase(std::uint64_t key) { return cqf::qf_remove(&table_.qf, fingerprint(key), 0, 1, flags) >= 0; }
  std::uint64_t bits() const { return table_.bits(); }

 private:
  static constexpr std::uint8_t flags = gqf::QF_NO_LOCK | gqf::QF_KEY_IS_HASH;
  static std::uint64_t bits_of(std::uint64_t slots) { return static_cast<std::uint64_t>(__builtin_ctzll(slots)) + 8; }
  std::uint64_t fingerprint(std::uint64_t key) const { return hash_(key).high >> unused_bits_; }

  hasher hash_;
  gqf::table<cqf::QF> table_;
  std::uint64_t unused_bits_;
};

}  // namespace

#ifdef TAMIS_AS_PUBLISHED
#define make_cqf make_published_cqf
#endif
TAMIS_RIVAL(make_cqf) { return std::make_unique<single_rival<counting_quotient_filter>>(slots, keys); }

}  // namespace tamis::benchmarks
