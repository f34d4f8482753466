// facility: silverpoint json numbers
// how: the same as JSON
// links: ours
// in: rate
#define BENCH_NUMBERS
#define BENCH_JSON
#include "silverpoint.hpp"
