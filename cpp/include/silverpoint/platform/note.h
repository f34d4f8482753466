/* The one note that a source file causes where tracepoints are off. */
#ifndef SILVERPOINT_PLATFORM_NOTE_H
#define SILVERPOINT_PLATFORM_NOTE_H

/* (Under -Werror it stays a note.) */
#pragma message( \
        "silverpoint: nothing is recorded on this system, only on Linux and 64-bit Windows; every tracepoint compiles to off")

#endif
