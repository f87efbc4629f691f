// The counting quotient filter as its authors published it: slots of a width that is known at run time, a lock around every
// counter, select without pdep. Only the erase is corrected.

#define TAMIS_AS_PUBLISHED 1
#include "benchmarks/peers/cqf.cpp"
