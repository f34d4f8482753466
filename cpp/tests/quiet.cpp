// Has tracepoints, records none: what is left of such a program?
#include <silverpoint/silverpoint.hpp>

int main(int argc, char**) {
    SP_TRACE("never {}", argc);
    SP_EVENT("never", argc);
}
