#pragma once

// How full a Bloom-1 word is: the number X of distinct bits that throws into w bits hit, key by key. X is a Markov chain: from
// x a throw goes to x + 1 with probability (w - x) / w.

#include <cmath>
#include <vector>

namespace tamis::detail {

class word_fill {
 public:
  word_fill(unsigned word_bits, unsigned k) : w_(word_bits), k_(k), chance_(word_bits + 1, 0.0) { chance_[0] = 1.0; }

  void add_key() {
    for (unsigned i = 0; i < k_; ++i) {
      for (unsigned x = w_; x > 0; --x) chance_[x] = (chance_[x] * x + chance_[x - 1] * (w_ - x + 1)) / w_;
      chance_[0] = 0.0;
    }
  }

  unsigned word_bits() const { return w_; }
  double chance_of(unsigned ones) const { return chance_[ones]; }
  // The chance that a word with this many ones accepts a key that is not in it.
  double rate_with(unsigned ones) const { return std::pow(static_cast<double>(ones) / w_, k_); }
  // E[(X / w)^k], which is equation 3 of the ABF paper.
  double mean_rate() const {
    double sum = 0.0;
    for (unsigned x = 1; x <= w_; ++x) sum += chance_[x] * rate_with(x);
    return sum;
  }

 private:
  unsigned w_;
  unsigned k_;
  std::vector<double> chance_;
};

}  // namespace tamis::detail
