#pragma once

// Linear chaining (InfiniFilter paper, section 3): every further filter has the size and the rate of the first one. N times the
// keys cost N lookups and N times the rate. filter/chain.hpp draws it.

#include "tamis/filter/chain.hpp"
#include "tamis/io/archive.hpp"

namespace tamis::inline TAMIS_LEVEL {

class chain_linear : public quotient_chain {
 public:
  static constexpr option_info options[] = {fingerprint_option, threshold_option};
  static constexpr filter_info info{
      .id = "chain-linear",
      .summary = "grows by adding quotient filters of equal size; every query asks all of them",
      .paper = "Guo, Wu, Chen, Luo: The dynamic Bloom filters (TKDE 2010); InfiniFilter (SIGMOD 2023), section 3",
      .options = options,
      .version = 2,  // 1 took the place from the whole digest
  };

  static result<chain_linear> create(const filter_params& params) {
    chain_linear made;
    TAMIS_CHECK(made.start(info, params, false));
    return made;
  }

  option_list settings() const { return chain_settings(); }

  friend bool operator==(const chain_linear&, const chain_linear&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    visit_chain(self, archive);
  }
  status validate() const { return validate_chain(); }

 private:
  friend stored_access;
  chain_linear() : quotient_chain(false) {}
};

}  // namespace tamis::inline TAMIS_LEVEL
