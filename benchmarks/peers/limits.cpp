// What the memory allows: the hash of a key, and one word of each of the two cache lines that a lookup in such a table has to
// read. Out of cache no filter that reads as much can be faster, single or in batches.

#include <array>

#include "benchmarks/peers/groups.hpp"
#include "tamis/detail/base/zeroed_array.hpp"
#include "tamis/detail/hash/place.hpp"
#include "tamis/hasher.hpp"

namespace tamis::benchmarks {
namespace {

using lab::key_span;

constexpr std::uint64_t line_bytes = 64;

// Where the two lines are, for a table of `bytes`.
class two_buckets {
 public:
  explicit two_buckets(std::uint64_t, std::uint64_t keys) : lines_(keys * 1277 / 100 / 8 / line_bytes) {}  // 12.77 bits a key
  std::uint64_t bytes() const { return lines_ * line_bytes; }
  TAMIS_INLINE std::uint64_t first(digest d) const { return reduce(d.high, lines_) * line_bytes; }
  TAMIS_INLINE std::uint64_t second(digest d) const { return reduce(d.low, lines_) * line_bytes; }

 private:
  std::uint64_t lines_;
};
class header_and_slots {
 public:
  explicit header_and_slots(std::uint64_t slots, std::uint64_t) : blocks_(slots / 64) {}
  std::uint64_t bytes() const { return blocks_ * (line_bytes + header_bytes); }
  TAMIS_INLINE std::uint64_t first(digest d) const { return reduce(d.high, blocks_) * line_bytes; }
  TAMIS_INLINE std::uint64_t second(digest d) const { return blocks_ * line_bytes + reduce(d.high, blocks_) * header_bytes; }

 private:
  static constexpr std::uint64_t header_bytes = 17;
  std::uint64_t blocks_;
};

template <class Places>
class reader : public rival {
 public:
  reader(std::uint64_t slots, std::uint64_t keys)
      : places_(slots, keys), bytes_(zeroed_array<std::uint8_t>::make(places_.bytes() + sizeof(std::uint64_t)).value()) {
    for (std::uint64_t at = 0; at < bytes_.size(); at += line_bytes) bytes_[at] = 1;  // so that there are pages
  }

  std::size_t count(key_span keys) override {
    lab::for_each_key(keys, [this](std::uint64_t key) {
      lab::use_alone(read(places_.first(hash_(key))) + read(places_.second(hash_(key))));
    });
    return keys.size();
  }
  std::size_t insert(key_span keys) override { return keys.size(); }
  std::size_t erase(key_span keys) override { return keys.size(); }
  bool can_erase() const override { return false; }
  bool only_reads() const override { return true; }
  std::uint64_t bits() const override { return places_.bytes() * 8; }

 protected:
  TAMIS_INLINE std::uint8_t read(std::uint64_t at) const { return bytes_[at]; }

  hasher hash_;
  Places places_;
  zeroed_array<std::uint8_t> bytes_;
};

template <class Places>
class batched_reader final : public reader<Places> {
 public:
  using reader<Places>::reader;

  std::size_t count(key_span keys) override {
    struct probe {
      std::uint64_t first, second;
    };
    constexpr std::size_t ahead = 32;
    std::array<probe, ahead> probes{};
    for (std::size_t i = 0; i < keys.size() + ahead; ++i) {
      probe& p = probes[i % ahead];
      if (i >= ahead) lab::use_alone(this->read(p.first) + this->read(p.second));
      if (i >= keys.size()) continue;
      lab::ask_for_later_key(keys[i]);
      const digest d = this->hash_(keys[i]);
      p = {this->places_.first(d), this->places_.second(d)};
      prefetch_read(&this->bytes_[p.first]);
      prefetch_read(&this->bytes_[p.second]);
    }
    return keys.size();
  }
};

template <class Places>
std::vector<entrant> readers(const std::string& name, const std::string& peer) {
  const auto make = []<class Rival>(std::type_identity<Rival>) -> rival_maker {
    return
        [](std::uint64_t slots, std::uint64_t keys) -> std::unique_ptr<rival> { return std::make_unique<Rival>(slots, keys); };
  };
  return {{name, peer, make(std::type_identity<reader<Places>>())},
          {name + ", batched", peer, make(std::type_identity<batched_reader<Places>>())}};
}

}  // namespace

std::vector<entrant> limit_of_cuckoo(const std::string& peer) { return readers<two_buckets>("(only reads two lines)", peer); }
std::vector<entrant> limit_of_quotient(const std::string& peer) {
  return readers<header_and_slots>("(only reads header and slots)", peer);
}

}  // namespace tamis::benchmarks
