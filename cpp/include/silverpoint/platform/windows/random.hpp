// Random bytes from Windows, whether it has sessions or not.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../detail/config.hpp"

// RtlGenRandom, as <ntsecapi.h> declares it.
extern "C" unsigned char __stdcall SystemFunction036(void*, unsigned long);
#if defined(_MSC_VER)
#    pragma comment(lib, "advapi32")
#endif

SP_DETAIL_BEGIN

// Returns how many.
inline std::size_t system_random(void* to, std::size_t size, bool) {
    return SystemFunction036(to, static_cast<unsigned long>(size)) != 0 ? size : 0;
}

SP_DETAIL_END
