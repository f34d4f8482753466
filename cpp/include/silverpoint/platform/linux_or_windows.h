/* For headers whose purpose exists on Linux and 64-bit Windows only: one clear error elsewhere. */
#ifndef SILVERPOINT_PLATFORM_LINUX_OR_WINDOWS_H
#define SILVERPOINT_PLATFORM_LINUX_OR_WINDOWS_H

#if !defined(__linux__) && !defined(_WIN64)
#    error \
        "silverpoint: this header works on Linux and 64-bit Windows only: include it within #if defined(__linux__) || defined(_WIN64). silverpoint.hpp and silverpoint.h compile everywhere."
#endif

#endif
