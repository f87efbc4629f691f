// TAF paper, Corollary 3 and appendix C: how hash selectors are distributed after c unique queries per key, what that
// distribution's entropy is, and how many bits the codes take for the selectors of a real table.

#include <algorithm>
#include <cmath>
#include <span>

#include "lab/experiments/taf_common.hpp"
#include "tamis/detail/math/quotient.hpp"
#include "tamis/detail/telescoping/code/selector_model.hpp"
#include "tamis/filters/utaf.hpp"

namespace tamis::lab {

using namespace detail;

namespace {

constexpr double rate = 1.0 / 256;
constexpr double counts[] = {4, 8, 16, 32, 48, 64, 96};  // c
constexpr unsigned shown_selectors = 4;

// What a code spends on the selectors of a table: the logarithms of their parts of the whole range. And how many blocks of 64
// do not fit its 56 bits.
struct coder_space {
  double bits = 0.0;
  std::uint64_t blocks = 0;
  std::uint64_t overflows = 0;

  template <class Model>
  void add(const Model& model, std::span<const std::uint8_t> selectors) {
    ++blocks;
    overflows += !interval_of(model, selectors).has_value();
    for (const std::uint8_t selector : selectors) {
      const std::uint64_t part = model.part(code_range, selector).size;
      if (part != 0) bits += 56.0 - std::log2(static_cast<double>(part));  // else the code has no such symbol: an overflow
    }
  }
  double per_selector() const { return bits / static_cast<double>(blocks * coded_symbols); }
  double overflow_share() const { return static_cast<double>(overflows) / static_cast<double>(blocks); }
};

// A table of `stored_keys` keys after c unique queries per quotient.
utaf asked_table(std::uint64_t stored_keys, double c, random_source& random) {
  utaf filter = utaf::create({.capacity = stored_keys, .fpr = 0.4, .options = {{"remainder", "8"}}}).value();
  memory_remote stored;
  for (std::uint64_t k = 0; k < stored_keys; ++k) {
    const digest d = random_digest(random);
    if (filter.insert(d) == insert_result::inserted) stored.insert(d);
  }
  // Corollary 3 counts queries per quotient: c n of them meet a key with probability c · rate.
  const auto queries = static_cast<std::uint64_t>(c * static_cast<double>(stored_keys) / 0.95);
  for (std::uint64_t q = 0; q < queries; ++q) {
    const digest d = random_digest(random);
    if (filter.may_contain(d)) filter.adapt(d, stored);
  }
  return filter;
}

result<table> run(const experiment_options& options) {
  table out({"c"}, {"s0", "s1", "s2", "s3", "corollary0", "corollary1", "corollary2", "corollary3", "entropy", "tuned_bits",
                    "general_bits", "tuned_overflows", "general_overflows", "keys"});
  const std::uint64_t stored_keys = options.at<std::uint64_t>(31130, 124518);  // 0.95 of 2^15 and of 2^17
  random_source random = options.random();
  for (const double c : counts) {
    std::vector<double> having(256);
    double keys = 0;
    coder_space tuned;
    coder_space general;
    std::vector<std::uint8_t> block;
    asked_table(stored_keys, c, random).for_each_symbol([&](std::uint8_t selector) {
      ++having[selector];
      ++keys;
      block.push_back(selector);
      if (block.size() != coded_symbols) return;
      tuned.add(tuned_selector_model(), block);
      general.add(general_selector_model::for_remainder(8), block);
      block.clear();
    });
    std::vector<double> row;
    for (unsigned k = 0; k < shown_selectors; ++k) row.push_back(having[k] / keys);
    for (unsigned k = 0; k < shown_selectors; ++k) row.push_back(selector_probability(c, rate, k));
    for (const double value : {selector_entropy(c, rate), tuned.per_selector(), general.per_selector(), tuned.overflow_share(),
                               general.overflow_share(), keys}) {
      row.push_back(value);
    }
    out.add({c}, row);
    options.done(out.rows().size(), std::size(counts));
  }
  return out;
}

std::vector<verdict> judge(const table& seen) {
  tally zero("a selector is 0 with the probability of Corollary 3 (within three standard deviations)");
  tally larger("selectors 1 and 2 are at most as likely as Corollary 3 says");
  for (const table::row& r : seen.rows()) {
    const double keys = r.value("keys") * static_cast<double>(r.samples("keys").size());
    const auto deviation = [keys](double share) { return std::sqrt(share * (1 - share) / keys); };
    zero.at_most(r, std::abs(r.value("s0") - r.value("corollary0")), 3 * deviation(r.value("corollary0")));
    for (const char* k : {"1", "2"}) {
      const double bound = r.value(std::string("corollary") + k);
      larger.at_most(r, r.value(std::string("s") + k), bound, deviation(bound));
    }
  }
  const table::row at_64 = row_of(seen.rows(), "c", "64");
  const double excess = std::max(at_64.value("tuned_bits"), at_64.value("general_bits")) / at_64.value("entropy") - 1;
  const table::row at_32 = row_of(seen.rows(), "c", "32");
  return {
      zero.judge(), larger.judge(),
      decide(excess < 0.03, "the codes are close to the entropy at c = 64: within 3 %", brief(100 * excess) + " % above it"),
      decide(at_32.value("tuned_overflows") < 0.1,
             "56 bits for 64 slots suffice for moderate c: fewer than a tenth of the blocks overflow at c = 32",
             brief(100 * at_32.value("tuned_overflows")) + " % of the blocks at c = 32, " +
                 brief(100 * at_64.value("tuned_overflows")) + " % at 64")};
}

std::vector<chart> draw(const table& seen) {
  chart shares{.name = "selectors",
               .title = "Corollary 3: hash selectors after c unique queries per quotient, rate 1/256",
               .x = {.label = "c", .log = true},
               .y = {.label = "share of the slots", .log = true},
               .note = "Hollow marks on the lower edge: none seen."};
  const char* colours[] = {"one", "two", "three", "four"};
  panel p{"", {}};
  for (unsigned k = 0; k < shown_selectors; ++k) {
    const std::string number = std::to_string(k);
    p.lines.push_back({"selector " + number + ", measured", colours[k], mark::dots, points_of(seen.rows(), "c", "s" + number)});
    p.lines.push_back({"Corollary 3", colours[k], mark::dashed, points_of(seen.rows(), "c", "corollary" + number)});
  }
  shares.panels.push_back(std::move(p));
  chart bits{.name = "codes",
             .title = "Appendix C: bits that the codes spend on a selector",
             .x = {.label = "c"},
             .y = {.label = "bits per selector", .low = 0.0}};
  line room{"56 bits for 64 slots", "grey", mark::dashed, {{counts[0], 0.875}, {96, 0.875}}};
  const auto points = [&seen](std::string_view column) { return points_of(seen.rows(), "c", column); };
  bits.panels.push_back({"",
                         {{"C.2, tuned", "one", mark::line, points("tuned_bits")},
                          {"C.3, general", "two", mark::line, points("general_bits")},
                          {"entropy of Corollary 3", "three", mark::dashed, points("entropy")},
                          room}});
  return {shares, bits};
}

const registered it(
    {.name = "taf-selectors",
     .paper = taf_paper,
     .figures = "Corollary 3 and appendix C",
     .claim = "After c unique queries per key a selector is 0 with the probability of Corollary 3, and larger ones are at most "
              "as likely.",
     .parameters = "124,518 keys at load 0.95 of 2^17 quotients (quick: 31,130 of 2^15); rate 1/256; c = 4 to 96.",
     .agrees =
         "selector 0 within three standard deviations, 1 and 2 not above the bound; codes within 3 % of the entropy at c = 64",
     .runs = {2, 10},
     .seconds = {0.8, 3.5},
     .run = run,
     .judge = judge,
     .draw = draw});

}  // namespace
}  // namespace tamis::lab
