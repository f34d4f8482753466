/* For headers whose purpose exists on Linux only: one clear error elsewhere, before those of missing headers.
 */
#ifndef SILVERPOINT_PLATFORM_ONLY_LINUX_H
#define SILVERPOINT_PLATFORM_ONLY_LINUX_H

#ifndef __linux__
#    error \
        "silverpoint: this header works on Linux only: include it within #ifdef __linux__. silverpoint.hpp and silverpoint.h compile everywhere."
#endif

#endif
