// ABF paper, section VI, which proposes the generalisations and leaves measuring them to others: Bloom-2, Bloom-3 and the
// bit-based variant on the first trace, at the fast memory of figures 7 to 9, with S = 4 and Algorithm 3. `fresh` is the rate
// without adaptation, `accesses` the words that a lookup of a key that is in reads.

#include "lab/experiments/abf_filters.hpp"
#include "lab/experiments/abf_trace.hpp"
#include "tamis/filter/abf_j.hpp"

namespace tamis::lab {
namespace {

struct variant {
  const char* name;
  unsigned words;  // j
  unsigned bits;   // in each word; 0: the best
};
constexpr variant variants[] = {{"bloom-1", 1, 0}, {"bloom-2", 2, 0}, {"bloom-3", 3, 0}, {"bit-based", 4, 1}};

abf_j make(const variant& v, std::uint64_t n) {
  filter_params params;
  params.capacity = abf_words * n;
  params.bits_per_key = static_cast<double>(abf_word_bits) / static_cast<double>(n) * (1 - 1e-9);
  params.options = {{"word", std::to_string(abf_word_bits)}, {"sets", "4"}, {"j", std::to_string(v.words)}};
  if (v.bits != 0) params.options.emplace_back("k", std::to_string(v.bits));
  return abf_j::create(params).value();
}

status run(const experiment_options& options, std::ostream& csv) {
  TAMIS_TRY(const std::vector<trace> traces, traces_for(options));
  csv << "keys_per_word,variant,accesses,k,fresh,adapted\n";
  for (const std::uint64_t n : {8u, 12u, 16u}) {
    if (n * abf_words >= traces[0].flows.size()) continue;
    for (const variant& v : variants) {
      double fresh = 0.0;
      double adapted = 0.0;
      random_source random(options.seed);
      for (unsigned run = 0; run < options.runs; ++run) {
        const trace_sample sample = sample_flows(traces[0], n * abf_words, random.split());
        fresh += rate_on<never_adapts>(make(v, n), sample) / options.runs;
        adapted += rate_on<adapts>(make(v, n), sample) / options.runs;
      }
      std::string k;
      for (const auto& [name, value] : make(v, n).settings()) k = name == "k" ? value : k;
      csv << n << ',' << v.name << ',' << v.words << ',' << v.words * std::stoul(k) << ',' << fresh << ',' << adapted
          << std::endl;
    }
  }
  return {};
}

}  // namespace

extern const experiment abf_variants{
    "abf-variants", "Adaptive one memory access Bloom filters, section VI",
    "Bloom-j and bit-based filters can adapt in the same way, and have lower rates at the price of more memory accesses.",
    "at 8 bits per key the rate with adaptation falls from bloom-1 to bloom-2", run};

}  // namespace tamis::lab
