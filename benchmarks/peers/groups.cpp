#include "benchmarks/peers/groups.hpp"

namespace tamis::benchmarks {
namespace {

class group_builder {
 public:
  group_builder(std::string name, double load) : made_{std::move(name), load, {}} {}

  group_builder& peer(std::string name, rival_maker make) {
    made_.entrants.push_back({std::move(name), "", std::move(make)});
    return *this;
  }
  group_builder& own(our_filter filter, std::string name, const std::string& peer) {
    return add(ours(filter, std::move(name), peer));
  }
  group_builder& add(std::vector<entrant> more) {
    for (entrant& e : more) made_.entrants.push_back(std::move(e));
    return *this;
  }
  group made() { return std::move(made_); }

 private:
  group made_;
};

group cuckoo_group() {
  group_builder all("cuckoo", 0.94);
#ifdef TAMIS_PEER_CF12
  all.peer("cf12", make_cf12);
#endif
  return all.own(our_filter::cuckoo, "cuckoo", "cf12")
      .own(our_filter::ascf, "ascf", "cf12")
      .add(limit_of_cuckoo("cf12"))
      .made();
}

group quotient_group() {
  group_builder all("quotient", 0.94);
#ifdef TAMIS_PEER_CQF
  all.peer("counting quotient filter, as published", make_published_cqf).peer("counting quotient filter", make_cqf);
#endif
  all.own(our_filter::rsqf, "rsqf", "counting quotient filter");
#ifdef TAMIS_PEER_VQF
  all.peer("vector quotient filter", make_vqf);
#endif
#ifdef TAMIS_PEER_PREFIX
  all.peer("prefix filter", make_prefix);
#endif
  return all.add(limit_of_quotient("counting quotient filter")).made();
}

group adaptive_group() {
  group_builder all("adaptive", 0.90);
#ifdef TAMIS_PEER_AQF
  all.peer("AdaptiveQF, as published", make_published_aqf).peer("AdaptiveQF", make_aqf);
#endif
  return all.own(our_filter::evergreen, "evergreen", "AdaptiveQF")
      .own(our_filter::evergreen_grown, "evergreen, grown", "AdaptiveQF")
      .own(our_filter::rsqf_of_slots, "rsqf", "")
      .made();
}

group taf_group() {
  group_builder all("taf", 0.90);
#ifdef TAMIS_PEER_TAF
  all.peer("TAF, as published", make_published_taf).peer("TAF, authors'", make_authors_taf);
#endif
  all.own(our_filter::taf, "taf", "TAF, authors'");
#ifdef TAMIS_PEER_TAF
  all.peer("exAF, as published", make_published_exaf).peer("exAF, authors'", make_authors_exaf);
#endif
  return all.own(our_filter::exaf, "exaf", "exAF, authors'").own(our_filter::rsqf_of_slots, "rsqf", "").made();
}

}  // namespace

std::vector<group> groups() { return {cuckoo_group(), quotient_group(), adaptive_group(), taf_group()}; }

}  // namespace tamis::benchmarks
