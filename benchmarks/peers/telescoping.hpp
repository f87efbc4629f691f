#pragma once

// github.com/djslzx/telescoping-filter, what TAF and exAF share. To be included before taf.c or exaf.c, by one file each: both
// have the same names. They keep their keys in an array beside the table, which the bits do not count, and adapt inside every
// lookup that is wrong.

// All that they include, before their macros.
#include <assert.h>
#include <execinfo.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "benchmarks/peers/huge_memory.hpp"
#include "benchmarks/peers/rival.hpp"

#ifndef TAMIS_AS_PUBLISHED
#define __SSE4_2_ 1  // so that select is pdep: what the compiler defines has one underscore more
#endif
#define calloc tamis::benchmarks::huge_calloc

// clang-format off
#include "arcd.c"
#include "bit_util.c"
#include "murmur3.c"
// clang-format on
