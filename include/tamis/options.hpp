#pragma once

// Options of filters whose type is known when the program is compiled. What is not given is chosen by the filter; docs/filters/
// says how. The same options in words are what any_filter and the command line take (filter_params::options); what is out
// of range is refused in the same words.
//
//   list          the options that were set, in words
//   option_word   the word of a choice
//
//   auto seen = tamis::create<tamis::bloom>({.capacity = 1000, .fpr = 0.01}, {.k = 7}).value();

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "tamis/params.hpp"

namespace tamis {

namespace detail {

// Options in words, in the order in which they are added.
class option_words {
 public:
  template <class Value>
  option_words& add(std::string_view name, const std::optional<Value>& value) {
    if (value) list_.emplace_back(std::string(name), word_of(*value));
    return *this;
  }
  option_list take() { return std::move(list_); }

 private:
  template <class Value>
  static std::string word_of(Value value) {
    if constexpr (std::same_as<Value, bool>) {
      return value ? "yes" : "no";
    } else if constexpr (std::is_enum_v<Value>) {
      return std::string(option_word(value));  // beside the enumeration
    } else {
      return std::to_string(value);
    }
  }

  option_list list_;
};

}  // namespace detail

// bloom, counting-bloom
struct bloom_options {
  std::optional<unsigned> k = std::nullopt;  // bits or counters of a key, 1 to 64

  option_list list() const { return detail::option_words().add("k", k).take(); }
};

// bloom1
struct bloom1_options {
  std::optional<unsigned> word = std::nullopt;  // bits of the word that holds a key: 32, 64, 128, 256 or 512
  std::optional<unsigned> k = std::nullopt;     // bits that a key sets in its word, 1 to 16
  std::optional<bool> split = std::nullopt;     // one bit in each eighth of a word of 256 or 512 bits: faster

  option_list list() const { return detail::option_words().add("word", word).add("k", k).add("split", split).take(); }
};

// dleft, rank-indexed, cuckoo, ascf, vacuum
struct fingerprint_options {
  std::optional<unsigned> fingerprint = std::nullopt;  // bits of a fingerprint; each filter has its range

  option_list list() const { return detail::option_words().add("fingerprint", fingerprint).take(); }
};

// quotient, rsqf, cqf, utaf, exaf
struct remainder_options {
  std::optional<unsigned> remainder = std::nullopt;  // bits stored per key, 1 to 56

  option_list list() const { return detail::option_words().add("remainder", remainder).take(); }
};

enum class selector_code { paper, quarters };
constexpr std::string_view option_word(selector_code code) { return code == selector_code::paper ? "paper" : "quarters"; }

// taf
struct taf_options {
  std::optional<unsigned> remainder = std::nullopt;  // bits stored per key, 1 to 56
  std::optional<selector_code> code = std::nullopt;  // how 64 selectors become 56 bits

  option_list list() const { return detail::option_words().add("remainder", remainder).add("code", code).take(); }
};

enum class shadow_switch { checked, blind };
constexpr std::string_view option_word(shadow_switch how) { return how == shadow_switch::checked ? "checked" : "blind"; }

// abf, abf-counting, abf-spare
struct abf_options {
  std::optional<unsigned> word = std::nullopt;            // bits of the word that holds a key: 32, 64, 128, 256 or 512
  std::optional<unsigned> sets = std::nullopt;            // of hash functions that a word can choose from: 2, 4, 8 or 16
  std::optional<unsigned> k = std::nullopt;               // bits that a key sets in its word, 1 to 16
  std::optional<shadow_switch> switch_to = std::nullopt;  // the next set that rejects the key, or the next one unseen
  std::optional<std::uint32_t> decimate = std::nullopt;   // adapt only to every n-th false positive, 1 to 1,000,000
  std::optional<std::uint32_t> detect = std::nullopt;     // without a full table: check every n-th maybe, 0 to 1,000,000

  option_list list() const {
    return detail::option_words()
        .add("word", word)
        .add("sets", sets)
        .add("k", k)
        .add("switch", switch_to)
        .add("decimate", decimate)
        .add("detect", detect)
        .take();
  }
};

// abf-j
struct abf_j_options {
  std::optional<unsigned> j = std::nullopt;  // words of a key, 1 to 16
  abf_options each = {};                     // of them

  option_list list() const {
    option_list all = detail::option_words().add("j", j).take();
    for (auto& option : each.list()) all.push_back(std::move(option));
    return all;
  }
};

enum class mirror_place { memory, file };
constexpr std::string_view option_word(mirror_place where) { return where == mirror_place::memory ? "memory" : "file"; }

// acf-swapping, and what the other two have as well
struct acf_options {
  std::optional<unsigned> k = std::nullopt;            // tables: bins of a key, 2 to 8
  std::optional<unsigned> b = std::nullopt;            // slots of a bin, 1 (acf-swapping: 2) to 8
  std::optional<unsigned> fingerprint = std::nullopt;  // bits of a fingerprint, 4 to 48
  std::optional<unsigned> load = std::nullopt;         // percent of the slots that the capacity fills, 10 to 96
  std::optional<mirror_place> mirror = std::nullopt;   // of the stored digests: in RAM, or in a mapped file in TMPDIR

  option_list list() const {
    return detail::option_words()
        .add("k", k)
        .add("b", b)
        .add("fingerprint", fingerprint)
        .add("load", load)
        .add("mirror", mirror)
        .take();
  }
};

enum class cuckoo_path { guided, shortest, paper };
constexpr std::string_view option_word(cuckoo_path path) {
  return path == cuckoo_path::guided ? "guided" : path == cuckoo_path::shortest ? "shortest" : "paper";
}

struct acf_cuckooing_options {
  acf_options table = {};
  std::optional<cuckoo_path> path = std::nullopt;  // how keys move after a false positive

  option_list list() const {
    option_list all = table.list();
    for (auto& option : detail::option_words().add("path", path).take()) all.push_back(std::move(option));
    return all;
  }
};

struct acf_cyclic_options {
  acf_options table = {};
  std::optional<unsigned> selector = std::nullopt;  // bits of a slot that choose its fingerprint, 1 to 4

  option_list list() const {
    option_list all = table.list();
    for (auto& option : detail::option_words().add("selector", selector).take()) all.push_back(std::move(option));
    return all;
  }
};

// chain-linear, sacrifice
struct growth_options {
  std::optional<unsigned> fingerprint = std::nullopt;  // bits stored per key at first, 1 to 56
  std::optional<unsigned> threshold = std::nullopt;    // slots in use, in percent, at which it grows, 50 to 95

  option_list list() const { return detail::option_words().add("fingerprint", fingerprint).add("threshold", threshold).take(); }
};

enum class chain_rates { equal, decreasing };
constexpr std::string_view option_word(chain_rates rates) { return rates == chain_rates::equal ? "equal" : "decreasing"; }

// chain-geometric
struct chain_geometric_options {
  std::optional<unsigned> fingerprint = std::nullopt;  // bits stored per key at first, 1 to 56
  std::optional<unsigned> threshold = std::nullopt;    // slots in use, in percent, at which it grows, 50 to 95
  std::optional<chain_rates> rates = std::nullopt;  // of the i-th filter: decreasing (1/i²) keeps a rate, the default with one

  option_list list() const {
    return detail::option_words().add("fingerprint", fingerprint).add("threshold", threshold).add("rates", rates).take();
  }
};

enum class infini_mode { basic, chained, growing };
constexpr std::string_view option_word(infini_mode mode) {
  return mode == infini_mode::basic ? "basic" : mode == infini_mode::chained ? "chained" : "growing";
}

// infini
struct infini_options {
  std::optional<unsigned> fingerprint = std::nullopt;  // bits stored per new key, 1 to 56
  std::optional<unsigned> threshold = std::nullopt;    // slots in use, in percent, at which it doubles, 50 to 95
  std::optional<infini_mode> mode = std::nullopt;  // growing keeps the rate, the default with one; basic: F doublings at most

  option_list list() const {
    return detail::option_words().add("fingerprint", fingerprint).add("threshold", threshold).add("mode", mode).take();
  }
};

enum class fingerprint_growth { growing, fixed };
constexpr std::string_view option_word(fingerprint_growth how) {
  return how == fingerprint_growth::fixed ? "fixed" : "growing";
}

// evergreen
struct evergreen_options {
  std::optional<unsigned> remainder = std::nullopt;               // bits stored per key, 4 to 24
  std::optional<unsigned> segment = std::nullopt;                 // quotients of a segment, a power of two, 64 to 65,536
  std::optional<fingerprint_growth> fingerprints = std::nullopt;  // do new keys get more bits after growth without a store?

  option_list list() const {
    return detail::option_words().add("remainder", remainder).add("segment", segment).add("fingerprints", fingerprints).take();
  }
};

enum class memory_budget { hard, soft };
constexpr std::string_view option_word(memory_budget budget) { return budget == memory_budget::hard ? "hard" : "soft"; }

// evergreen-fixed
struct evergreen_fixed_options {
  std::optional<unsigned> remainder = std::nullopt;    // bits stored per key, 4 to 56
  std::optional<memory_budget> budget = std::nullopt;  // when fixes fill the table: fix no more, or get more slots

  option_list list() const { return detail::option_words().add("remainder", remainder).add("budget", budget).take(); }
};

}  // namespace tamis
