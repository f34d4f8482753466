/* How tracepoints of C and C++ hand records over to functions that are called before they return
 * (silverpoint/logger.h, silverpoint_add_synchronous_handler). For the headers alone: programs use
 * silverpoint::synchronous_handler (C++) and sp_add_synchronous_handler (C). */
#ifndef SILVERPOINT_C_MADE_H
#define SILVERPOINT_C_MADE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A record as it was made. What it refers to lives until the function returns. */
struct silverpoint_made {
    const unsigned char* record; /* header, packed arguments, zeros up to a multiple of 8 */
    size_t record_size;
    const unsigned char* site; /* its description; of one site_id always the same (spec/wire.md section 7) */
    size_t site_size;
    const unsigned char* context; /* pairs of CBOR items, names and values; may be null */
    size_t context_size;
    uint32_t site_id;
    uint32_t tid;
};

/* In libsilverpoint: calls the functions; and how many there are, as long as the process lives. */
void silverpoint_hand_over(const struct silverpoint_made* made);
const uint32_t* silverpoint_synchronous_handlers(void);

#ifdef __cplusplus
}
#endif

#endif
