// A shared library with a probe.
#include <silverpoint/silverpoint.hpp>

SP_CATEGORY("part")

extern "C" void part_of_shop(int number);
extern "C" void part_of_shop(int number) { SP_EVENT("called", number); }
