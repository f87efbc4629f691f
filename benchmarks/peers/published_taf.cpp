// TAF as its authors published it: select without pdep.

#define TAMIS_AS_PUBLISHED 1
#include "benchmarks/peers/authors_taf.cpp"
