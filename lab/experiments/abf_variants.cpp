// ABF paper, section VI, which proposes the generalisations and leaves measuring them to others: Bloom-2, Bloom-3 and the
// bit-based variant on the first trace, at the fast memory of figures 7 to 9, with S = 4 and Algorithm 3. `fresh` is the rate
// without adaptation, `accesses` the words that a lookup of a key that is in reads.

#include "lab/experiments/abf_filters.hpp"
#include "lab/experiments/abf_trace.hpp"

namespace tamis::lab {

using namespace detail;

namespace {

struct variant {
  const char* name;
  unsigned words;  // j
  unsigned bits;   // in each word; 0: the best
};
constexpr variant variants[] = {{"bloom-1", 1, 0}, {"bloom-2", 2, 0}, {"bloom-3", 3, 0}, {"bit-based", 4, 1}};

any_filter make(const variant& v, std::uint64_t n) {
  filter_params params;
  params.capacity = abf_words * n;
  params.bits_per_key = static_cast<double>(abf_word_bits) / static_cast<double>(n) * (1 - 1e-9);
  params.options = {{"word", std::to_string(abf_word_bits)}, {"sets", "4"}, {"j", std::to_string(v.words)}};
  if (v.bits != 0) params.options.emplace_back("k", std::to_string(v.bits));
  return any_filter::create("abf-j", params).value();
}

unsigned long bits_of(const variant& v, std::uint64_t n) {
  std::string k;
  for (const auto& [name, value] : make(v, n).settings()) k = name == "k" ? value : k;
  return v.words * std::stoul(k);
}

result<table> run(const experiment_options& options) {
  TAMIS_TRY(const std::vector<trace> traces, traces_for(options, 1));
  table out({"keys_per_word", "variant", "accesses", "k"}, {"fresh", "adapted"});
  random_source random = options.random();
  std::uint64_t done = 0;
  for (const std::uint64_t n : {8u, 12u, 16u}) {
    if (n * abf_words >= traces[0].flows.size()) continue;
    const trace_sample sample = sample_flows(traces[0], n * abf_words, random.split());
    for (const variant& v : variants) {
      out.add({n, v.name, v.words, bits_of(v, n)}, {after(make(v, n), sample, false).rate(), after(make(v, n), sample).rate()});
      options.done(++done, 3 * std::size(variants));
    }
  }
  return out;
}

std::vector<verdict> judge(const table& seen) {
  tally adapts("the variants can adapt in the same way: adapting at least halves the rate");
  for (const table::row& r : seen.rows()) adapts.at_most(r, r.value("adapted"), r.value("fresh") / 2);
  std::vector<verdict> all{adapts.judge()};
  for (const std::string& n : distinct(seen.rows(), "keys_per_word")) {
    const row_list rows = where(seen.rows(), "keys_per_word", n);
    const double one = row_of(rows, "variant", "bloom-1").value("adapted");
    const double two = row_of(rows, "variant", "bloom-2").value("adapted");
    all.push_back(decide(two < one, "a second memory access lowers the rate at N = " + n + "M",
                         "by " + brief(100 * (1 - two / one)) + " % (the paper gives no number)"));
  }
  return all;
}

std::vector<chart> draw(const table& seen) {
  chart c{.name = "section-6",
          .title = "Section VI: Bloom-j and bit-based filters, S = 4",
          .x = {.label = "variant"},
          .y = {.label = "false positives, %", .log = true, .factor = 100}};
  for (const variant& v : variants) c.x.names.emplace_back(v.name);
  for (const std::string& n : distinct(seen.rows(), "keys_per_word")) {
    line fresh{"without adapting", "bloom1", mark::dots, {}};
    line adapted{"adapting", "abf-j", mark::dots, {}};
    double x = 0;
    for (const table::row& r : where(seen.rows(), "keys_per_word", n)) {
      x += 1;
      fresh.points.push_back({x, r.value("fresh"), r.error("fresh")});
      adapted.points.push_back({x, r.value("adapted"), r.error("adapted")});
    }
    c.panels.push_back({"N = " + n + "M", {fresh, adapted}});
  }
  return {c};
}

const registered it(
    {.name = "abf-variants",
     .paper = "Adaptive one memory access Bloom filters",
     .figures = "section VI",
     .claim =
         "Bloom-j and bit-based filters can adapt in the same way, and have lower rates at the price of more memory accesses.",
     .parameters =
         "the first synthetic trace (500,000 flows); M = 1024 words of 64 bits; N = 8M, 12M, 16M; S = 4; Algorithm 3. Quick: "
         "fewer runs. The paper proposes these filters and measures none.",
     .agrees = "adapting at least halves every rate, and the adapted rate falls from bloom-1 to bloom-2",
     .runs = {2, 10},
     .seconds = {1.6, 1.6},
     .run = run,
     .judge = judge,
     .draw = draw});

}  // namespace
}  // namespace tamis::lab
