// facility: silverpoint numbers
// how: one text file; the entry: `x iteration #N of M: 3.14`
// links: ours
// in: rate
#define BENCH_NUMBERS
#include "silverpoint.hpp"
