// ASCF paper, figure 1, with the other filters beside the XOR filter: bits per key between powers of two, at a rate of 8/2^12.

#include "lab/experiments/ascf_common.hpp"

namespace tamis::lab {
namespace {

constexpr double rate = 8.0 / 4096;
constexpr double ideal = 12 / 0.95;  // equation 6

result<table> run(const experiment_options& options) {
  table out({"keys"}, {"cuckoo", "vacuum", "ascf", "ideal"});
  const std::uint64_t steps = options.at<std::uint64_t>(25, 100);  // each size is larger by one part in so many
  constexpr std::uint64_t most = 10'000'000;
  for (std::uint64_t keys = 1000; keys <= most; keys += keys / steps) {
    std::vector<double> bits;
    for (const char* id : {"cuckoo", "vacuum", "ascf"}) {
      TAMIS_TRY(const any_filter f, any_filter::create(id, {.capacity = keys, .fpr = rate}));
      bits.push_back(bits_per_key(f, keys));
    }
    bits.push_back(ideal);
    out.add({keys}, bits);
    options.done(keys, most);
  }
  return out;
}

std::vector<verdict> judge(const table& seen) {
  tally constant("ascf takes a constant number of bits per key: within 2 % of log2(8/eps)/0.95 at every size");
  range saw;
  double mean = 0;
  for (const table::row& r : seen.rows()) {
    constant.at_most(r, r.value("ascf"), 1.02 * ideal);
    saw.see(r.value("cuckoo") / ideal);
    mean += r.value("cuckoo") / ideal / static_cast<double>(seen.rows().size());
  }
  return {constant.judge(),
          decide(saw.low() < 1.1 && saw.high() > 1.8 && saw.high() < 2.1, "the XOR filter's bits per key saw between 1x and 2x",
                 saw.text("x") + ", " + brief(mean) +
                     "x on average, which is what a user saves who does not choose the number of keys")};
}

std::vector<chart> draw(const table& seen) {
  chart c{.name = "figure-1",
          .title = "Figure 1: bits per key at a rate of 8/2^12, for any number of keys",
          .x = {.label = "keys", .log = true},
          .y = {.label = "bits per key", .low = 0.0}};
  const auto points = [&seen](std::string_view column) { return points_of(seen.rows(), "keys", column); };
  c.panels.push_back({"",
                      {{"ascf", "ascf", mark::line, points("ascf")},
                       {"vacuum", "vacuum", mark::line, points("vacuum")},
                       {"cuckoo (XOR)", "cuckoo", mark::line, points("cuckoo")},
                       {"log2(8/eps)/0.95", "grey", mark::dashed, points("ideal")}}});
  return {c};
}

const registered it({.name = "ascf-sizes",
                     .paper = ascf_paper,
                     .figures = "figure 1 and table II",
                     .claim = "The XOR filter's bits per key saw between 1x and 2x, those of ascf are constant.",
                     .parameters = "eps = 8/2^12; n from 1,000 to 10 million, in steps of 1 % (quick: 4 %).",
                     .agrees = "ascf is within 2 % of 12/0.95 bits per key for every n, cuckoo between 1 and 2 times that",
                     .runs = {1, 1},
                     .seconds = {0.1, 0.4},
                     .run = run,
                     .judge = judge,
                     .draw = draw});

}  // namespace
}  // namespace tamis::lab
