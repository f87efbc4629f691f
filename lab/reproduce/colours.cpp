// One colour for each filter, the same in all charts: related filters have related hues. All are of middling lightness, so that
// they can be told from white paper and from a dark screen.

#include <cstdio>
#include <string>
#include <utility>

#include "lab/reproduce/chart.hpp"

namespace tamis::lab {
namespace {

constexpr std::pair<std::string_view, unsigned> colours[] = {{"abf", 0x2f9e44},
                                                             {"abf-counting", 0x66a80f},
                                                             {"abf-j", 0x099268},
                                                             {"abf-spare", 0x5c940d},
                                                             {"acf-cuckooing", 0xf08c00},
                                                             {"acf-cyclic", 0x7a9a01},
                                                             {"acf-swapping", 0x8c5a2b},
                                                             {"ascf", 0x6741d9},
                                                             {"bloom", 0x868e96},
                                                             {"bloom1", 0x7d7468},
                                                             {"chain-geometric", 0xb5179e},
                                                             {"chain-linear", 0x9c6644},
                                                             {"counting-bloom", 0x5c7c9c},
                                                             {"cqf", 0x1098ad},
                                                             {"cuckoo", 0xe03131},
                                                             {"dleft", 0xa0703c},
                                                             {"evergreen", 0x0ca678},
                                                             {"evergreen-fixed", 0x4c9a52},
                                                             {"exaf", 0x9c5fd0},
                                                             {"infini", 0x3b5bdb},
                                                             {"quotient", 0x15aabf},
                                                             {"rank-indexed", 0x8a8a00},
                                                             {"rsqf", 0x5f7d8c},
                                                             {"sacrifice", 0xc2255c},
                                                             {"taf", 0x1c7ed6},
                                                             {"utaf", 0x0ca5b8},
                                                             {"vacuum", 0xe64fa0},
                                                             // lines that are no filters
                                                             {"one", 0x4263eb},
                                                             {"two", 0xe67700},
                                                             {"three", 0x2b8a3e},
                                                             {"four", 0xc92a2a}};
constexpr unsigned grey = 0x868e96;

// The second variant of a filter is lighter, the third darker.
unsigned shade(unsigned colour, char variant) {
  const unsigned towards = variant == '2' ? 0xf0 : 0x20;
  unsigned mixed = 0;
  for (unsigned shift = 0; shift < 24; shift += 8) mixed |= ((colour >> shift & 0xff) * 6 + towards * 4) / 10 << shift;
  return mixed;
}

}  // namespace

std::string colour_of(std::string_view id) {
  const std::string_view filter = id.substr(0, id.find('/'));
  unsigned colour = grey;
  for (const auto& [known, value] : colours) {
    if (known == filter) colour = value;
  }
  if (filter.size() + 2 == id.size()) colour = shade(colour, id.back());
  char text[16];
  std::snprintf(text, sizeof text, "#%06x", colour);
  return text;
}

}  // namespace tamis::lab
