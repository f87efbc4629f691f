// Growth and wrong answers at once: keys come in, and between them queries that are skewed, or an adversary's. Filters that
// cannot grow are made for the last number of keys.

#include "lab/experiments/evergreen_common.hpp"
#include "lab/workload.hpp"
#include "tamis/hash/hasher.hpp"

namespace tamis::lab {
namespace {

constexpr std::uint64_t first_keys = 4096;
constexpr unsigned questions_per_key = 4;

std::vector<contestant> growing() {
  return {{"evergreen", "evergreen", {{"fingerprint", "10"}}},
          {"evergreen_untold", "evergreen", {{"fingerprint", "10"}, {"fingerprints", "growing"}}, false},
          {"infini_growing", "infini", {{"fingerprint", "10"}, {"mode", "growing"}}, false}};
}
// At 13.5 bits per key they have 10-bit remainders, or fingerprints that give the same rate.
std::vector<contestant> made_for_the_end() { return {{"taf", "taf"}, {"acf_cyclic", "acf-cyclic"}, {"rsqf", "rsqf"}}; }

// Questions about keys that are never stored.
class skewed_questions {
 public:
  explicit skewed_questions(std::uint64_t seed)
      : source_(make_workload("zipf", std::vector<std::pair<std::string, std::string>>{{"keys", "1000000"}, {"s", "1.0"}}, seed)
                    .value()) {}
  digest next() {
    if (at_ == ids_.size()) source_->next(ids_), at_ = 0;
    return hash_(ids_[at_++]);
  }
  void heard_wrong(digest) {}

 private:
  std::unique_ptr<workload> source_;
  std::vector<std::uint64_t> ids_ = std::vector<std::uint64_t>(4096);
  std::size_t at_ = ids_.size();
  hasher hash_;
};
// Every other question is new; the others go around all that were ever answered wrongly.
class hostile_questions {
 public:
  explicit hostile_questions(std::uint64_t seed) : random_(seed) {}
  digest next() {
    is_new_ = wrong_.empty() || !is_new_;
    if (is_new_) return any_digest(random_);
    at_ = at_ + 1 < wrong_.size() ? at_ + 1 : 0;
    return wrong_[at_];
  }
  void heard_wrong(digest d) {
    if (is_new_) wrong_.push_back(d);
  }

 private:
  random_source random_;
  bool is_new_ = false;
  std::vector<digest> wrong_;
  std::size_t at_ = 0;
};

template <class Questions>
status play(std::string_view stream, contest_filter& f, unsigned log_keys, const experiment_options& options,
            std::ostream& csv) {
  random_source random(options.seed);
  Questions questions(options.seed + 2);
  memory_remote stored;
  std::uint64_t keys = 0;
  for (std::uint64_t until = first_keys; until <= std::uint64_t{1} << log_keys; until += std::bit_floor(until) / 4) {
    for (; keys < until; ++keys) {
      const digest d = any_digest(random);
      stored.insert(d);
      if (!f.insert(d, stored)) return error{f.name() + " refused a key"};
      for (unsigned i = 0; i < questions_per_key; ++i) {
        const digest asked = questions.next();
        if (f.ask(asked, stored)) questions.heard_wrong(asked);
      }
    }
    csv << stream << ',' << f.name() << ',' << keys << ',' << f.take_rate() << ',' << f.bits_per_key() << std::endl;
  }
  return {};
}

template <unsigned LogKeys>
status run(const experiment_options& options, std::ostream& csv) {
  csv << "stream,filter,keys,rate,bits_per_key\n";
  const auto both = [&](contest_filter f) -> status {
    contest_filter again = f;
    TAMIS_CHECK(play<skewed_questions>("skewed", f, LogKeys, options, csv));
    return play<hostile_questions>("hostile", again, LogKeys, options, csv);
  };
  for (const contestant& who : growing()) {
    if (!registry::builtin().find(who.id)) continue;
    TAMIS_TRY(contest_filter f, beginner(who, first_keys));
    TAMIS_CHECK(both(f));
  }
  TAMIS_TRY(const std::vector<contest_filter> large, contest(made_for_the_end(), std::uint64_t{1} << LogKeys));
  for (const contest_filter& f : large) TAMIS_CHECK(both(f));
  return {};
}

constexpr std::string_view claim =
    "A filter can grow and adapt at once: evergreen has fewer false positives than any that does one of them.";
constexpr std::string_view agrees =
    "at the last point evergreen is below infini and rsqf on both streams, and within 2 times of taf";

}  // namespace

extern const experiment evergreen_both_20{"evergreen-both-20", "evergreen, growth under queries, 2^20 keys", claim, agrees,
                                          run<20>};
extern const experiment evergreen_both_22{"evergreen-both-22", "evergreen, growth under queries, 2^22 keys", claim, agrees,
                                          run<22>};

}  // namespace tamis::lab
