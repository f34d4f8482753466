// facility: nothing
// how: the two reads of the clock alone; where calls come at a rate, the sleeps between them alone
// in: s4 paced
#include "facility.hpp"

static void begin(const Run&) {}
static void flush() {}
static void end() {}
#define NO_CALL(what) asm volatile("" : : "r"(what) : "memory")
#define STATEMENT(title, count, pointer, string, real) NO_CALL(count)
#define LITERAL() NO_CALL(0)
#define THREE(id, index, fraction) NO_CALL(id)
#define TEXT(id, fraction, path) NO_CALL(id)
#define OFF(id, path) NO_CALL(id)
