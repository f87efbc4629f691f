// AdaptiveQF as its authors published it: slots of a width that is known at run time, select without pdep. Only the erase is
// corrected.

#define TAMIS_AS_PUBLISHED 1
#include "benchmarks/peers/aqf.cpp"
