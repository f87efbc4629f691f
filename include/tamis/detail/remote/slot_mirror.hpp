#pragma once

// The key behind every slot of a table: its whole digest, in slow memory. A filter that moves keys to places which it cannot
// compute from a fingerprint reads here, on inserts that move keys and after false positives; lookups never do.
//
//   fast   │ fp │ fp │ 0  │ fp │ …      f bits each
//   slow   │ digest │ digest │ 0 │ digest │ …      128 bits each in RAM or in a file that is mapped
//          │ note │ note │ 0 │ note │ …              8 bits each, after all digests, for what a filter wants to remember of a
//          key

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "tamis/detail/base/file_memory.hpp"
#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/base/zeroed_array.hpp"
#include "tamis/detail/io/archive.hpp"
#include "tamis/digest.hpp"

namespace tamis::detail {

enum class mirror_place : std::uint32_t { memory, file };

class slot_mirror {
 public:
  slot_mirror() = default;
  slot_mirror(slot_mirror&&) noexcept = default;
  slot_mirror& operator=(slot_mirror&&) noexcept = default;
  slot_mirror(const slot_mirror& other) : slot_mirror(make(other.size_, other.place_).value()) {
    if (size_ != 0) std::memcpy(bytes_, other.bytes_, size_ * slot_bytes);
  }
  slot_mirror& operator=(const slot_mirror& other) {
    if (this != &other) *this = slot_mirror(other);
    return *this;
  }
  ~slot_mirror() = default;

  // All zeros.
  static result<slot_mirror> make(std::uint64_t slots, mirror_place place) {
    slot_mirror made;
    made.size_ = slots;
    made.place_ = place;
    const auto bytes = checked_multiply(slots, slot_bytes);
    if (!bytes) return failure{"a mirror of 2^64 bytes or more cannot be addressed"};
    if (place == mirror_place::memory) {
      TAMIS_TRY(made.memory_, zeroed_array<std::byte>::make(*bytes));
      made.bytes_ = made.memory_.data();
    } else {
      TAMIS_TRY(made.file_, file_memory::make(*bytes));
      made.bytes_ = static_cast<std::byte*>(made.file_.data());
    }
    return made;
  }

  std::uint64_t size() const { return size_; }
  mirror_place place() const { return place_; }
  std::uint64_t bits() const { return size_ * slot_bytes * 8; }

  TAMIS_INLINE digest operator[](std::uint64_t slot) const {
    assert(slot < size_);
    return all()[slot];
  }
  TAMIS_INLINE std::uint8_t note(std::uint64_t slot) const {
    assert(slot < size_);
    return all().note(slot);
  }
  TAMIS_INLINE void set(std::uint64_t slot, digest d, std::uint8_t note = 0) {
    assert(slot < size_);
    std::memcpy(bytes_ + slot * sizeof d, &d, sizeof d);
    bytes_[size_ * sizeof d + slot] = std::byte{note};
  }

  // The slots without their memory: a loop that writes bytes elsewhere does not have to ask the mirror again where they are.
  class view {
   public:
    view(const std::byte* bytes, std::uint64_t size) : digests_(bytes), notes_(bytes + size * sizeof(digest)) {}
    TAMIS_INLINE digest operator[](std::uint64_t slot) const {
      digest d;
      std::memcpy(&d, digests_ + slot * sizeof d, sizeof d);
      return d;
    }
    TAMIS_INLINE std::uint8_t note(std::uint64_t slot) const { return std::to_integer<std::uint8_t>(notes_[slot]); }
    TAMIS_INLINE void prefetch(std::uint64_t slot) const {
      prefetch_read(digests_ + slot * sizeof(digest));
      prefetch_read(notes_ + slot);
    }

   private:
    const std::byte* digests_;
    const std::byte* notes_;
  };
  TAMIS_INLINE view all() const { return view(bytes_, size_); }

  friend bool operator==(const slot_mirror& a, const slot_mirror& b) {
    return a.place_ == b.place_ && a.size_ == b.size_ && std::equal(a.bytes_, a.bytes_ + a.size_ * slot_bytes, b.bytes_);
  }

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    if constexpr (std::is_const_v<Self>) {
      archive(self.place_, self.size_);
      archive.bytes(std::span<const std::byte>(self.bytes_, self.size_ * slot_bytes));
    } else {
      self.load(archive);
    }
  }

 private:
  static constexpr std::uint64_t slot_bytes = sizeof(digest) + 1;

  void load(reader& archive) {
    mirror_place place{};
    std::uint64_t slots = 0;
    archive(place, slots);
    if (!archive.ok()) return;
    if (is_wrong(place > mirror_place::file)) return archive.fail("the mirror is neither in memory nor in a file");
    if (slots > archive.remaining() / slot_bytes) {
      return archive.fail("a mirror of " + std::to_string(slots) + " slots is longer than what is left of the file");
    }
    auto made = make(slots, place);
    if (!made) return archive.fail(made.message());
    *this = *std::move(made);
    archive.bytes(std::span(bytes_, size_ * slot_bytes));
  }

  std::byte* bytes_ = nullptr;  // of one of the two
  std::uint64_t size_ = 0;
  mirror_place place_ = mirror_place::memory;
  zeroed_array<std::byte> memory_;
  file_memory file_;
};

}  // namespace tamis::detail
