// Names of one letter that a system's header, or a program's, may have made macros of before ours is read. (T
// is not in use.)
#include <complex.h>
#define A 1
#define B 1
#define C 1
#define D 1
#define E 1
#define F 1
#define K 1
#define M 1
#define N 1
#define P 1
#define R 1
#define U 1
#define V 1
#define W 1
