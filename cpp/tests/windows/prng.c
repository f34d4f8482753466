// x86_64-w64-mingw32-gcc -shared prng.c -o bcryptprimitives.dll -ladvapi32
// As far as the library of Rust needs it.
#include <stddef.h>

unsigned char __stdcall SystemFunction036(void* to, unsigned long bytes);  // RtlGenRandom
__declspec(dllexport) int __stdcall ProcessPrng(unsigned char* to, size_t bytes);

int __stdcall ProcessPrng(unsigned char* to, size_t bytes) {
    return SystemFunction036(to, (unsigned long)bytes);
}
