// C++ in the process of a .NET program: it has a copy of the headers of its own.
#include <silverpoint/silverpoint.hpp>

extern "C" [[gnu::visibility("default")]] void native_part(int number);

extern "C" void native_part(int number) { SP_INFO("step {} in C++", number); }
