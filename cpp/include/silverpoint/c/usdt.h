/* USDT probes (spec/usdt.md): the assembler's part, for C and C++. Compile with -DSILVERPOINT_USDT.
 *
 * A probe is a `nop` and a note in the file, which tells tracers its name and where its arguments are. The
 * assembler writes the note, since it alone knows the registers. Texts reach it as numbers of eight
 * characters each: they may hold what has a meaning in its language. */
#ifndef SILVERPOINT_C_USDT_H
#define SILVERPOINT_C_USDT_H

#if !defined(__ELF__) || !defined(__LP64__) || !(defined(__x86_64__) || defined(__aarch64__))
#    error "silverpoint: SILVERPOINT_USDT needs ELF on x86-64 or AArch64"
#endif

#ifdef __cplusplus
extern "C" {
#endif
/* Not 0 while a tracer is attached to a probe of this program or shared library: the kernel and tracers count
 * it up and down. Only in its section do they find it. */
extern __attribute__((visibility("hidden"))) unsigned short silverpoint_usdt_semaphore;
#ifdef __cplusplus
}
#endif

/* The section begins a page. lld and mold map the page at the end of relocated data twice, both times
 * writable. The kernel counts in the first of them, which the program does not read. */
#ifdef __x86_64__
#    define SP_C_USDT_PAGE "4096"
#else
#    define SP_C_USDT_PAGE "65536"
#endif
/* clang-format off */
__asm__(
    ".ifndef silverpoint_usdt_semaphore\n"
    ".pushsection .probes,\"awG\",\"progbits\",silverpoint_usdt_semaphore,comdat\n"
    ".balign " SP_C_USDT_PAGE "\n"
    ".weak silverpoint_usdt_semaphore\n"
    ".hidden silverpoint_usdt_semaphore\n"
    ".type silverpoint_usdt_semaphore,\"object\"\n"
    ".size silverpoint_usdt_semaphore,2\n"
    "silverpoint_usdt_semaphore: .2byte 0\n"
    ".popsection\n"
    ".endif");
/* clang-format on */

/* Numbers are printed by %n, which negates: other ways to print one differ, or know 32 bits only. */

/* clang-format off */
/* The probe, and its note up to the names. It goes where its function goes, if the linker drops that. */
#define SP_C_USDT_BEGIN                                                        \
    ".Lsp_usdt_%=: nop\n"                                                    \
    ".pushsection .note.stapsdt,\"o?\",\"note\",.Lsp_usdt_%=\n"              \
    ".balign 4\n"                                                            \
    ".4byte 992f-991f,994f-993f,3\n"                                         \
    "991: .asciz \"stapsdt\"\n"                                              \
    "992: .balign 4\n"                                                       \
    "993: .8byte .Lsp_usdt_%=,_.stapsdt.base,silverpoint_usdt_semaphore\n"

/* The base is there for tools that know of prelinked files. */
#define SP_C_USDT_END                                                          \
    ".byte 0\n"                                                              \
    "994: .balign 4\n"                                                       \
    ".popsection\n"                                                          \
    ".ifndef _.stapsdt.base\n"                                               \
    ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"  \
    ".weak _.stapsdt.base\n"                                                 \
    ".hidden _.stapsdt.base\n"                                               \
    "_.stapsdt.base: .space 1\n"                                             \
    ".size _.stapsdt.base,1\n"                                               \
    ".popsection\n"                                                          \
    ".endif"

/* One argument: its size and sign, four bits of the operand `sizes`, and where it is. */
#define SP_C_USDT_ARGUMENT(n)                                                  \
    ".if " #n "\n.byte 32\n.endif\n"                                         \
    ".if (%n[sizes]>>(4*" #n "))&1\n.byte 45\n.endif\n"                      \
    ".byte 48+(1<<((%n[sizes]>>(4*" #n "+1))&3)),64\n"                       \
    ".ascii \"%[a" #n "]\"\n"
/* clang-format on */

/* In registers, which all tools understand; of many arguments the last in memory, too. Not constants: perf
 * leaves them out. */
#define SP_C_USDT_VALUE(n, value) [a##n] "r"(value)
#define SP_C_USDT_VALUE_ANYWHERE(n, value) [a##n] "or"(value)

#ifndef __cplusplus

/* Without optimisation the compiler of C knows no character of a text: then there are no probes. */
#    ifdef __OPTIMIZE__

#        define SP_C_USDT_IS_ATTACHED() \
            __builtin_expect(__atomic_load_n(&silverpoint_usdt_semaphore, __ATOMIC_RELAXED) != 0, 0)

/* Eight characters from one on, the first lowest; 0 beyond the end. */
#        define SP_C_USDT_CHARACTER(text, at) \
            ((uint64_t)(unsigned char)((at) < sizeof(text) ? (text)[(at) < sizeof(text) ? (at) : 0] : 0))
#        define SP_C_USDT_WORD(text, at)                                                             \
            (SP_C_USDT_CHARACTER(text, at) | SP_C_USDT_CHARACTER(text, (at) + 1) << 8 |              \
             SP_C_USDT_CHARACTER(text, (at) + 2) << 16 | SP_C_USDT_CHARACTER(text, (at) + 3) << 24 | \
             SP_C_USDT_CHARACTER(text, (at) + 4) << 32 | SP_C_USDT_CHARACTER(text, (at) + 5) << 40 | \
             SP_C_USDT_CHARACTER(text, (at) + 6) << 48 | SP_C_USDT_CHARACTER(text, (at) + 7) << 56)

/* Within SP_C_ON: whether a tracer is attached, whether the site is on, and the category. */
#        define SP_C_USDT_DECLARE(category, on)                                                            \
            const bool sp_recorded_ = (on), sp_attached_ = SP_C_USDT_IS_ATTACHED();                        \
            const uint64_t sp_category_[4] = {SP_C_USDT_WORD(category, 0), SP_C_USDT_WORD(category, 8),    \
                                              SP_C_USDT_WORD(category, 16), SP_C_USDT_WORD(category, 24)}; \
            (void)sp_recorded_;                                                                            \
            (void)sp_attached_;                                                                            \
            (void)sp_category_;

/* Adds the numbers of an argument. '*' has none, a text its address and length, 128 bits two halves. */
#        define SP_C_USDT_ADD(n, argument)                                                      \
            if (SP_C_CODE(argument) == 's' || SP_C_CODE(argument) == 'y') {                     \
                const struct sp_c_argument sp_text_ = sp_c_measured(sp_argument_##n);           \
                sp_c_usdt_add(sp_numbers_, &sp_sizes_, 6, (uint64_t)(uintptr_t)sp_text_.block); \
                sp_c_usdt_add(sp_numbers_, &sp_sizes_, 6, sp_text_.bits);                       \
            } else if (SP_C_CODE(argument) != '*') {                                            \
                sp_c_usdt_add(sp_numbers_, &sp_sizes_, sp_c_usdt_size(SP_C_CODE(argument)),     \
                              sp_argument_##n.bits);                                            \
                if (SP_C_CODE(argument) == 'o' || SP_C_CODE(argument) == 'O')                   \
                    sp_c_usdt_add(sp_numbers_, &sp_sizes_, 6, sp_argument_##n.high);            \
            }

/* `sizes`: four bits for each of the first twelve numbers, then how many there are. */
SP_C_HOT void sp_c_usdt_add(uint64_t* numbers, uint64_t* sizes, unsigned size, uint64_t number) {
    const unsigned count = (unsigned)(*sizes >> 48);
    if (count >= 12) return;
    numbers[count] = number;
    *sizes += (uint64_t)size << (4 * count);
    *sizes += (uint64_t)1 << 48;
}
SP_C_HOT unsigned sp_c_usdt_size(char code) {
    switch (code) {
        case 'b':
        case 'A':
            return 0;
        case 'a':
            return 1;
        case 'c':
            return (char)-1 < 0 ? 1 : 0;
        case 'H':
            return 2;
        case 'h':
            return 3;
        case 'I':
        case 'f':
            return 4;
        case 'i':
            return 5;
        case 'l':
            return 7;
        default:
            return 6;
    }
}

/* clang-format off */
/* Writes the characters of words as an identifier: each run of others is one underscore, and none at the
 * ends. A template of printf (`percent`) loses its conversions. */
#        define SP_C_USDT_IDENTIFIER(words, percent)                                                   \
            ".set .Lsp_usdt_size,0\n.set .Lsp_usdt_gap,0\n.set .Lsp_usdt_skip,0\n"                      \
            ".irp sp_word," words "\n"                                                                  \
            ".set .Lsp_usdt_left,\\sp_word\n"                                                           \
            ".rept 8\n"                                                                                 \
            ".set .Lsp_usdt_c,.Lsp_usdt_left&255\n"                                                     \
            ".set .Lsp_usdt_left,.Lsp_usdt_left>>8\n"                                                   \
            ".set .Lsp_usdt_digit,((.Lsp_usdt_c>=48)&(.Lsp_usdt_c<=57))\n"                              \
            ".if .Lsp_usdt_skip\n"                                                                      \
            ".if (((.Lsp_usdt_digit==0)&(.Lsp_usdt_c!=35)&(.Lsp_usdt_c!=43)&(.Lsp_usdt_c!=45)&(.Lsp_usdt_c!=32)" \
            "&(.Lsp_usdt_c!=39)&(.Lsp_usdt_c!=46)&(.Lsp_usdt_c!=42)&(.Lsp_usdt_c!=36)&(.Lsp_usdt_c!=104)"        \
            "&(.Lsp_usdt_c!=108)&(.Lsp_usdt_c!=106)&(.Lsp_usdt_c!=122)&(.Lsp_usdt_c!=116)&(.Lsp_usdt_c!=76)"     \
            "&(.Lsp_usdt_c!=113)&(.Lsp_usdt_c!=119))!=0)\n"                                             \
            ".set .Lsp_usdt_skip,0\n"                                                                   \
            ".set .Lsp_usdt_gap,.Lsp_usdt_size\n"                                                       \
            ".endif\n"                                                                                  \
            ".elseif ((.Lsp_usdt_c==37)&(" percent "))\n"                                               \
            ".set .Lsp_usdt_skip,1\n"                                                                   \
            ".elseif .Lsp_usdt_digit|((.Lsp_usdt_c>=65)&(.Lsp_usdt_c<=90))|((.Lsp_usdt_c>=97)&(.Lsp_usdt_c<=122))" \
            "|(.Lsp_usdt_c==95)\n"                                                                      \
            ".if .Lsp_usdt_gap|(.Lsp_usdt_digit&(.Lsp_usdt_size==0))\n"                                 \
            ".byte 95\n.set .Lsp_usdt_size,1\n"                                                         \
            ".endif\n"                                                                                  \
            ".byte .Lsp_usdt_c\n"                                                                       \
            ".set .Lsp_usdt_size,1\n"                                                                   \
            ".set .Lsp_usdt_gap,0\n"                                                                    \
            ".elseif .Lsp_usdt_c\n"                                                                     \
            ".set .Lsp_usdt_gap,.Lsp_usdt_size\n"                                                       \
            ".endif\n"                                                                                  \
            ".endr\n"                                                                                   \
            ".endr\n"
#        define SP_C_USDT_ENDING(kind)                                                                  \
            ".if " SP_C_TEXT_OF(kind) "==3\n.ascii \"_entry\"\n.endif\n"                                \
            ".if (" SP_C_TEXT_OF(kind) "==6)|(" SP_C_TEXT_OF(kind) "==9)\n.ascii \"_begin\"\n.endif\n"  \
            ".if (" SP_C_TEXT_OF(kind) "==7)|(" SP_C_TEXT_OF(kind) "==11)\n.ascii \"_end\"\n.endif\n"   \
            ".if " SP_C_TEXT_OF(kind) "==10\n.ascii \"_step\"\n.endif\n"
#        define SP_C_TEXT_OF(number) SP_C_TEXT_OF2(number)
#        define SP_C_TEXT_OF2(number) #number
#        define SP_C_USDT_NUMBER(n) ".if (%n[sizes]>>48)>" #n "\n" SP_C_USDT_ARGUMENT(n) ".endif\n"

/* Provider and name, without the ending, of these operands. */
#        define SP_C_USDT_NAMES(kind)                                                                     \
            SP_C_USDT_IDENTIFIER("%n[p0],%n[p1],%n[p2],%n[p3]", "0")                                      \
            ".if .Lsp_usdt_size==0\n.ascii \"silverpoint\"\n.endif\n"                                     \
            ".byte 0\n"                                                                                   \
            SP_C_USDT_IDENTIFIER("%n[n0],%n[n1],%n[n2],%n[n3],%n[n4],%n[n5]",                             \
                                 SP_C_TEXT_OF(kind) "==255")                                              \
            ".if .Lsp_usdt_size==0\n.ascii \"line_" SP_C_TEXT_OF(__LINE__) "\"\n.endif\n"
#        define SP_C_USDT_WORDS(...)                                                                      \
            [p0] "i"(0 - sp_category_[0]), [p1] "i"(0 - sp_category_[1]),                                 \
                [p2] "i"(0 - sp_category_[2]), [p3] "i"(0 - sp_category_[3]),                             \
                [n0] "i"(0 - SP_C_USDT_WORD(SP_C_FIRST(__VA_ARGS__), 0)),                                 \
                [n1] "i"(0 - SP_C_USDT_WORD(SP_C_FIRST(__VA_ARGS__), 8)),                                 \
                [n2] "i"(0 - SP_C_USDT_WORD(SP_C_FIRST(__VA_ARGS__), 16)),                                \
                [n3] "i"(0 - SP_C_USDT_WORD(SP_C_FIRST(__VA_ARGS__), 24)),                                \
                [n4] "i"(0 - SP_C_USDT_WORD(SP_C_FIRST(__VA_ARGS__), 32)),                                \
                [n5] "i"(0 - SP_C_USDT_WORD(SP_C_FIRST(__VA_ARGS__), 40))

/* The probe of a record; its arguments are captured. */
#        define SP_C_USDT_PROBE(kind, ...)                                                                \
            if (sp_attached_) {                                                                           \
                uint64_t sp_numbers_[12] = {0}, sp_sizes_ = 0;                                            \
                SP_C_EACH(SP_C_USDT_ADD, __VA_ARGS__)                                                     \
                __asm__ __inline__ __volatile__(                                                          \
                    SP_C_USDT_BEGIN                                                                         \
                    SP_C_USDT_NAMES(kind)                                                                 \
                    SP_C_USDT_ENDING(kind)                                                                \
                    ".byte 0\n"                                                                           \
                    SP_C_USDT_NUMBER(0) SP_C_USDT_NUMBER(1) SP_C_USDT_NUMBER(2) SP_C_USDT_NUMBER(3)       \
                    SP_C_USDT_NUMBER(4) SP_C_USDT_NUMBER(5) SP_C_USDT_NUMBER(6) SP_C_USDT_NUMBER(7)       \
                    SP_C_USDT_NUMBER(8) SP_C_USDT_NUMBER(9) SP_C_USDT_NUMBER(10) SP_C_USDT_NUMBER(11)     \
                    SP_C_USDT_END                                                                           \
                    :                                                                                     \
                    : SP_C_USDT_WORDS(__VA_ARGS__),                                                       \
                      [sizes] "i"(0 - sp_sizes_), SP_C_USDT_VALUE(0, sp_numbers_[0]),                       \
                      SP_C_USDT_VALUE(1, sp_numbers_[1]), SP_C_USDT_VALUE(2, sp_numbers_[2]),                 \
                      SP_C_USDT_VALUE(3, sp_numbers_[3]), SP_C_USDT_VALUE(4, sp_numbers_[4]),                 \
                      SP_C_USDT_VALUE(5, sp_numbers_[5]), SP_C_USDT_VALUE_ANYWHERE(6, sp_numbers_[6]),        \
                      SP_C_USDT_VALUE_ANYWHERE(7, sp_numbers_[7]), SP_C_USDT_VALUE_ANYWHERE(8, sp_numbers_[8]), \
                      SP_C_USDT_VALUE_ANYWHERE(9, sp_numbers_[9]), SP_C_USDT_VALUE_ANYWHERE(10, sp_numbers_[10]), \
                      SP_C_USDT_VALUE_ANYWHERE(11, sp_numbers_[11]));                                       \
            }                                                                                             \
            if (!sp_recorded_) {                                                                          \
            } else

/* The probe of a span's end lies beside that of its begin, as a function of a few instructions. Its address
 * goes with the span, which may end anywhere. The first instruction is where a call may lead (Intel's and
 * Arm's control-flow protection), and does nothing elsewhere. The function has no section of its own: the
 * compiler describes the frame of the function around it. */
#        ifdef __x86_64__
#            define SP_C_USDT_EXIT_BEGIN "jmp .Lsp_usdt_past_%=\n.Lsp_usdt_exit_%=: endbr64\n"
#            define SP_C_USDT_EXIT_ARGUMENT ".ascii \"8@%%rdi\"\n"
#            define SP_C_USDT_EXIT_END \
                "\nret\n.Lsp_usdt_past_%=: leaq .Lsp_usdt_exit_%=(%%rip), %[address]"
#        else
#            define SP_C_USDT_EXIT_BEGIN "b .Lsp_usdt_past_%=\n.Lsp_usdt_exit_%=: hint #34\n"
#            define SP_C_USDT_EXIT_ARGUMENT ".ascii \"8@x0\"\n"
#            define SP_C_USDT_EXIT_END "\nret\n.Lsp_usdt_past_%=: adr %[address], .Lsp_usdt_exit_%="
#        endif

/* Behind the begin of a span, in the same block. The span then holds one of these instead of its site. */
#        define SP_C_USDT_UNTIL_END(span, ...)                                                          \
            if (sp_attached_) {                                                                           \
                static struct sp_c_usdt_end sp_ends_[2];                                                  \
                void (*sp_hit_)(uint64_t);                                                                \
                __asm__ __volatile__(                                                                     \
                    SP_C_USDT_EXIT_BEGIN                                                                  \
                    SP_C_USDT_BEGIN                                                                       \
                    SP_C_USDT_NAMES(SP_C_KIND_SPAN)                                                       \
                    ".ascii \"_exit\"\n.byte 0\n"                                                         \
                    SP_C_USDT_EXIT_ARGUMENT                                                               \
                    SP_C_USDT_END                                                                         \
                    SP_C_USDT_EXIT_END                                                                    \
                    : [address] "=r"(sp_hit_)                                                             \
                    : SP_C_USDT_WORDS(__VA_ARGS__));                                                      \
                sp_c_usdt_until_end(&(span), sp_ends_, sp_hit_);                                          \
            }
/* clang-format on */

#    endif
#endif

#endif
