// facility: silverpoint json
// how: the same, one line of JSON an entry
// links: ours
// in: s4
#define BENCH_JSON
#include "silverpoint.hpp"
