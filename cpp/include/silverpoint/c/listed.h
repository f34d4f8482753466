/* What a program's file states about its tracepoints without being run (spec/sites-section.md): the same as
 * for C++ (silverpoint/detail/listed.hpp). -DSP_NO_SITE_SECTION leaves all out. */
#ifndef SILVERPOINT_C_LISTED_H
#define SILVERPOINT_C_LISTED_H

#define SP_C_LISTED_FIRST_NAME 64
#define SP_C_LISTED_FUNCTION 32

/* Version, kind, level, flags: pending, and names that are source. */
#define SP_C_LISTED_HEAD(kind, level, flags)                                           \
    (1 | ((kind) == SP_C_KIND_PERCENT ? SP_C_KIND_LOG : (kind)) << 8 | (level) << 16 | \
     (1 | 4 | ((kind) == SP_C_KIND_PERCENT ? 2 : 0) | (flags)) << 24)

#if defined(__aarch64__)
#    define SP_C_SYMBOL(address) "S"(address)
#else
#    define SP_C_SYMBOL(address) "i"(address)
#endif

#if !defined(SP_NO_SITE_SECTION) && defined(__ELF__) && defined(__LP64__) && \
    (defined(__x86_64__) || defined(__aarch64__))
#    define SP_C_LIST_SITE(head, category, names, text)                                                      \
        __asm__ __volatile__(                                                                                \
            ".Lsp_site_%=:\n\t"                                                                              \
            ".pushsection silverpoint_sites,\"ao?\",@progbits,.Lsp_site_%=\n\t"                              \
            ".balign 8\n\t"                                                                                  \
            ".long 64,%c0,%c1,3\n\t"                                                                         \
            ".long %c2 - .,-1\n\t"                                                                           \
            ".long %c3 - .,-1\n\t"                                                                           \
            ".long %c4 - .,-1\n\t"                                                                           \
            ".long %c5 - .,-1\n\t"                                                                           \
            ".long %c6 - .,-1\n\t"                                                                           \
            ".long 0,0\n\t"                                                                                  \
            ".popsection"                                                                                    \
            :                                                                                                \
            : "i"(head), "i"(__LINE__), SP_C_SYMBOL(category), SP_C_SYMBOL(__FILE__), SP_C_SYMBOL(__func__), \
              SP_C_SYMBOL(names), SP_C_SYMBOL(text))
#else
#    define SP_C_LIST_SITE(head, category, names, text) ((void)0)
#endif

#endif
