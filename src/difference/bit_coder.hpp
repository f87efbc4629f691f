#pragma once

// Adaptive binary arithmetic coding (docs/difference.md has every step): what is likely costs a small part of a bit. The coder
// keeps an interval of 32-bit numbers, which each bit divides by its probability; leading bytes that both ends share are out.

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace tamis::difference {

// How likely a one is, in 1/65536: at first 1/2, then what the bits so far say, of which the last 64 or so count.
class bit_model {
 public:
  std::uint32_t one() const { return one_; }
  void update(bool bit) {
    if (bit) {
      one_ = static_cast<std::uint16_t>(one_ + (65536u - one_) / (seen_ + 2u));
    } else {
      one_ = static_cast<std::uint16_t>(one_ - one_ / (seen_ + 2u));
    }
    if (seen_ != most_seen) ++seen_;
  }

 private:
  static constexpr std::uint16_t most_seen = 62;
  std::uint16_t one_ = 32768;  // never 0, nor 65536
  std::uint16_t seen_ = 0;
};

class bit_encoder {
 public:
  void put(bool bit, bit_model& model) {
    narrow(bit, model.one());
    model.update(bit);
  }
  void put_even(bool bit) { narrow(bit, 32768); }
  std::vector<std::byte> finish() && {
    for (int i = 0; i < 4; ++i, low_ <<= 8) bytes_.push_back(static_cast<std::byte>(low_ >> 24));
    return std::move(bytes_);
  }

 private:
  void narrow(bool bit, std::uint32_t one) {
    const std::uint32_t middle = low_ + static_cast<std::uint32_t>(std::uint64_t{high_ - low_} * one >> 16);
    (bit ? high_ : low_) = bit ? middle : middle + 1;
    for (; (low_ ^ high_) >> 24 == 0; low_ <<= 8, high_ = high_ << 8 | 255)
      bytes_.push_back(static_cast<std::byte>(low_ >> 24));
  }

  std::uint32_t low_ = 0;
  std::uint32_t high_ = ~std::uint32_t{0};
  std::vector<std::byte> bytes_;
};

// Bytes behind the end read as zeros; `overrun` says that there were more of them than a sound code has.
class bit_decoder {
 public:
  explicit bit_decoder(std::span<const std::byte> bytes) : bytes_(bytes) {
    for (int i = 0; i < 4; ++i) code_ = code_ << 8 | next();
  }

  bool get(bit_model& model) {
    const bool bit = divide(model.one());
    model.update(bit);
    return bit;
  }
  bool get_even() { return divide(32768); }
  bool overrun() const { return missing_ != 0; }
  // Was all of it needed?
  bool at_end() const { return at_ == bytes_.size() && missing_ == 0; }

 private:
  std::uint32_t next() {
    if (at_ < bytes_.size()) return static_cast<std::uint32_t>(bytes_[at_++]);
    ++missing_;
    return 0;
  }
  bool divide(std::uint32_t one) {
    const std::uint32_t middle = low_ + static_cast<std::uint32_t>(std::uint64_t{high_ - low_} * one >> 16);
    const bool bit = code_ <= middle;
    (bit ? high_ : low_) = bit ? middle : middle + 1;
    for (; (low_ ^ high_) >> 24 == 0; low_ <<= 8, high_ = high_ << 8 | 255) code_ = code_ << 8 | next();
    return bit;
  }

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  std::size_t missing_ = 0;
  std::uint32_t low_ = 0;
  std::uint32_t high_ = ~std::uint32_t{0};
  std::uint32_t code_ = 0;
};

// Numbers of any size: how many bits they have, as seven bits of a tree; then the bits below the highest, of which the first
// three have models and the others cost what they are.
class number_model {
 public:
  void put(bit_encoder& to, std::uint64_t number) {
    const auto length = static_cast<unsigned>(std::bit_width(number));
    for (unsigned node = 1, i = length_bits; i-- != 0;) {
      const bool bit = (length >> i & 1) != 0;
      to.put(bit, lengths_[node]);
      node = 2 * node + (bit ? 1 : 0);
    }
    for (unsigned node = 1, i = length < 2 ? 0 : length - 1; i-- != 0;) {
      const bool bit = (number >> i & 1) != 0;
      if (node >= 8) {
        to.put_even(bit);
        continue;
      }
      to.put(bit, below_[length][node]);
      node = 2 * node + (bit ? 1 : 0);
    }
  }
  // A length above 64 is taken for 64: whoever uses the number checks it.
  std::uint64_t get(bit_decoder& from) {
    unsigned node = 1;
    for (unsigned i = 0; i < length_bits; ++i) node = 2 * node + (from.get(lengths_[node]) ? 1 : 0);
    const unsigned length = node - (1u << length_bits) < 64 ? node - (1u << length_bits) : 64;
    std::uint64_t number = length == 0 ? 0 : 1;
    node = 1;
    for (unsigned i = length < 2 ? 0 : length - 1; i-- != 0;) {
      const bool modelled = node < 8;
      const bool bit = modelled ? from.get(below_[length][node]) : from.get_even();
      if (modelled) node = 2 * node + (bit ? 1 : 0);
      number = number << 1 | (bit ? 1 : 0);
    }
    return number;
  }

 private:
  static constexpr unsigned length_bits = 7;
  std::array<bit_model, 1u << length_bits> lengths_;
  std::array<std::array<bit_model, 8>, 65> below_;
};

}  // namespace tamis::difference
