// A shared library with probes.
#include "owner.hpp"

SP_CATEGORY("part")

extern "C" void part_of_shop(int number);
extern "C" void part_of_shop(int number) {
    SP_EVENT("called", number);
    const Owner owner{SP_ASYNC_SPAN("owned", number)};
}
