#pragma once

// The adaptive quotient filters under test, each with its options.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tamis/detail/io/archive.hpp"
#include "tamis/filters/exaf.hpp"
#include "tamis/filters/taf.hpp"
#include "tamis/filters/utaf.hpp"

namespace tamis::test {

struct paper_taf {
  using tested = taf;
  static option_list extra() { return {}; }
};
struct quarters_taf {
  using tested = taf;
  static option_list extra() { return {{"code", "quarters"}}; }
};
struct plain_utaf {
  using tested = utaf;
  static option_list extra() { return {}; }
};
struct plain_exaf {
  using tested = exaf;
  static option_list extra() { return {}; }
};
using adaptive_kinds = testing::Types<paper_taf, quarters_taf, plain_utaf, plain_exaf>;

template <class Kind>
typename Kind::tested make_adaptive(std::uint64_t capacity, unsigned remainder) {
  option_list options = Kind::extra();
  options.emplace_back("remainder", std::to_string(remainder));
  return Kind::tested::create({.capacity = capacity, .fpr = 0.5, .options = options}).value();
}

// A saved filter without the frame around it, and back.
template <class Filter>
std::vector<std::byte> payload_of(const Filter& filter) {
  memory_sink sink;
  detail::writer out(sink);
  out(filter);
  out.finish().value();
  return sink.bytes();
}
template <class Filter>
result<Filter> loaded_from(const std::vector<std::byte>& payload) {
  memory_source source(payload);
  detail::reader in(source);
  Filter loaded = detail::stored_access::blank<Filter>();
  in(loaded);
  if (!in.ok()) return failure{in.state().message()};
  return loaded;
}
template <class Filter>
Filter saved_and_loaded(const Filter& filter) {
  return loaded_from<Filter>(payload_of(filter)).value();
}

}  // namespace tamis::test
