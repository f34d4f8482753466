// What a program's file states about its tracepoints without being run (spec/sites-section.md): an entry for
// each in the section silverpoint_sites. The assembler puts it together from numbers and addresses of texts
// that the program has anyway. It costs no instruction, and nothing is relocated when the program is loaded.
//
// An entry belongs to the section of its function, and to its group if it has one (inline functions,
// templates). The linker keeps both or leaves both out. -DSP_NO_SITE_SECTION leaves all entries out. Use it
// for linkers that know no such sections, and for code that is too large for 32 bits.
#pragma once

#include "config.hpp"

SP_DETAIL_BEGIN

// Version, kind, level, flags. Always pending: the types of the arguments are not included.
consteval int listed_head(Kind kind, Level level) {
    const bool percent = kind == Kind::kPercent;
    return 1 | static_cast<int>(percent ? Kind::kLog : kind) << 8 | static_cast<int>(level) << 16 |
           (1 | 4 | (percent ? 2 : 0)) << 24;
}

// The same for a span named after its function.
consteval int listed_scope(Level level) { return listed_head(Kind::kSpan, level) | 32 << 24; }

// Line and level of a place, for what comes later in the same statement.
consteval std::uint64_t here(Level level, unsigned line) {
    return std::uint64_t{line} << 8 | static_cast<unsigned>(level);
}
consteval int line_of(std::uint64_t place) { return static_cast<int>(place >> 8); }
consteval Level level_of(std::uint64_t place) { return static_cast<Level>(place & 0xFF); }

SP_DETAIL_END

// An address as an operand. For AArch64 GCC accepts addresses in position-independent code by another
// constraint.
#if defined(__aarch64__)
#    define SP_DETAIL_SYMBOL(address) "S"(address)
#else
#    define SP_DETAIL_SYMBOL(address) "i"(address)
#endif

// A statement: lists a site. `head` of listed_head; category, names and template are constants.
#if !defined(SP_NO_SITE_SECTION) && defined(__ELF__) && defined(__LP64__) && \
    (defined(__x86_64__) || defined(__aarch64__))
#    define SP_DETAIL_LISTS_SITES 1
#    define SP_DETAIL_LIST(head, line, category, names, text)                                              \
        do {                                                                                               \
            constexpr const char* sp_listed_category_ = category;                                          \
            constexpr const char* sp_listed_text_ = SP_DETAIL_KNOWN(text);                                 \
            __asm__ __inline__ __volatile__(                                                               \
                ".Lsp_site_%=:\n\t"                                                                        \
                ".pushsection silverpoint_sites,\"ao?\",@progbits,.Lsp_site_%=\n\t"                        \
                ".balign 8\n\t"                                                                            \
                ".long 64,%c0,%c1,1\n\t"                                                                   \
                ".long %c2 - .,-1\n\t"                                                                     \
                ".long %c3 - .,-1\n\t"                                                                     \
                ".long %c4 - .,-1\n\t"                                                                     \
                ".long %c5 - .,-1\n\t"                                                                     \
                ".long %c6 - .,-1\n\t"                                                                     \
                ".long 0,0\n\t"                                                                            \
                ".popsection"                                                                              \
                :                                                                                          \
                : "i"(head), "i"(line), SP_DETAIL_SYMBOL(sp_listed_category_), SP_DETAIL_SYMBOL(__FILE__), \
                  SP_DETAIL_SYMBOL(__PRETTY_FUNCTION__), SP_DETAIL_SYMBOL(names),                          \
                  SP_DETAIL_SYMBOL(sp_listed_text_));                                                      \
        } while (false)
#else
#    define SP_DETAIL_LISTS_SITES 0
#    define SP_DETAIL_LIST(head, line, category, names, text) static_cast<void>(0)
#endif
