// github.com/splatlab/adaptiveqf: AdaptiveQF of its authors, 8-bit remainders, no locks, the calls for a reverse map of linked
// lists. The map itself is not kept: nothing adapts here. published_aqf.cpp makes another filter of this file.

#include "benchmarks/peers/gqf_surroundings.hpp"

namespace tamis::benchmarks {
namespace {
namespace aqf {

using namespace gqf;

struct [[gnu::packed]] qfblock {
  std::uint8_t offset;
  std::uint64_t occupieds[1];
  std::uint64_t runends[1];
  std::uint64_t extensions[1];
#if QF_BITS_PER_SLOT == 8
  std::uint8_t slots[QF_SLOTS_PER_BLOCK];
#else
  std::uint8_t slots[];
#endif
};
using QF = filter<qfblock>;
struct qf_insert_result {
  std::uint64_t hash, minirun_id;
  int minirun_existed;
};

inline qfblock* get_block(const QF* qf, std::uint64_t index) {
#if QF_BITS_PER_SLOT == 8
  return &qf->blocks[index];
#else
  const std::uint64_t bytes = sizeof(qfblock) + QF_SLOTS_PER_BLOCK * qf->metadata->bits_per_slot / 8;
  return reinterpret_cast<qfblock*>(reinterpret_cast<char*>(qf->blocks) + index * bytes);
#endif
}
int qf_resize_malloc(QF*, std::uint64_t) { return QF_NO_SPACE; }
// Theirs writes a log where it has been told to.
template <class... Any>
void record(Any...) {}

#ifdef TAMIS_AS_PUBLISHED
#include "published_aqf_excerpt.inc"
#else
#include "aqf_excerpt.inc"
#endif

}  // namespace aqf

class adaptive_quotient_filter {
 public:
  adaptive_quotient_filter(std::uint64_t slots, std::uint64_t)
      : table_([&](aqf::QF* qf, void* buffer, std::uint64_t bytes) {
          const auto key_bits = static_cast<std::uint64_t>(__builtin_ctzll(slots)) + 8;
          return aqf::qf_init(qf, slots, key_bits, 0, gqf::QF_HASH_NONE, 0, buffer, bytes);
        }) {}

  bool insert(std::uint64_t key) {
    aqf::qf_insert_result result;
    return aqf::qf_insert_using_ll_table(&table_.qf, hash_(key).high, 1, &result, flags) >= 0;
  }
  bool contains(std::uint64_t key) const {
    std::uint64_t hash;
    return aqf::qf_query_using_ll_table(&table_.qf, hash_(key).high, &hash, flags) >= 0;
  }
  bool erase(std::uint64_t key) {
    std::uint64_t hash;
    int length;
    return aqf::qf_remove(&table_.qf, hash_(key).high, &hash, &length, flags) > 0;
  }
  std::uint64_t bits() const { return table_.bits(); }

 private:
  static constexpr std::uint8_t flags = gqf::QF_NO_LOCK | gqf::QF_KEY_IS_HASH;

  hasher hash_;
  gqf::table<aqf::QF> table_;
};

}  // namespace

#ifdef TAMIS_AS_PUBLISHED
#define make_aqf make_published_aqf
#endif
TAMIS_RIVAL(make_aqf) { return std::make_unique<single_rival<adaptive_quotient_filter>>(slots, keys); }

}  // namespace tamis::benchmarks
