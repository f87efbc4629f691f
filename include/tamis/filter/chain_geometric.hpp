#pragma once

// Geometric chaining (InfiniFilter paper, section 3): every further filter has twice the size of the one before. N times the
// keys cost log2(N) + 1 lookups; the rate grows as much, or, with decreasing rates, stays below pi²/6 times the first one,
// for 2 log2(i) more bits per key in the i-th filter. filter/chain.hpp draws it.

#include "tamis/filter/chain.hpp"
#include "tamis/io/archive.hpp"

namespace tamis::inline TAMIS_LEVEL {

class chain_geometric : public quotient_chain {
 public:
  static constexpr option_info options[] = {
      fingerprint_option,
      threshold_option,
      {"rates", "equal or decreasing", "equal", "rate of each further filter: the first one's, or that divided by i²"},
  };
  static constexpr filter_info info{
      .id = "chain-geometric",
      .summary = "grows by adding quotient filters of doubled size; every query asks all of them",
      .paper = "Almeida et al.: Scalable Bloom filters (IPL 2007); Pagh, Segev, Wieder (FOCS 2013); InfiniFilter, section 3",
      .options = options,
      .version = 2,  // 1 took the place from the whole digest
  };

  static result<chain_geometric> create(const filter_params& params) {
    constexpr std::string_view rates[] = {"equal", "decreasing"};
    TAMIS_CHECK(check_params(info, params));
    TAMIS_TRY(const std::string rate, choice_option(params, "rates", "equal", rates));
    chain_geometric made;
    TAMIS_CHECK(made.start(info, params, rate == "decreasing"));
    return made;
  }

  option_list settings() const {
    option_list all = chain_settings();
    all.emplace_back("rates", decreasing() ? "decreasing" : "equal");
    return all;
  }

  friend bool operator==(const chain_geometric&, const chain_geometric&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    visit_chain(self, archive);
  }
  status validate() const { return validate_chain(); }

 private:
  friend stored_access;
  chain_geometric() : quotient_chain(true) {}
};

}  // namespace tamis::inline TAMIS_LEVEL
