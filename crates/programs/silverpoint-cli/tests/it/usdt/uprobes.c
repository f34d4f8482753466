/* A library to preload, which stands for a tracer and the kernel's uprobes in its own process: for machines
 * whose kernel has none. It reads the notes of the program's file, counts the semaphore up, and puts a
 * breakpoint at each probe. A probe that is hit prints PROVIDER:NAME to standard error, and its numbers,
 * which it finds as the note says. TEXTS names those that are addresses of texts, each in spaces:
 * `NAME=INDEX`. x86-64. */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

struct probe {
    unsigned char* place;
    const char *provider, *name, *arguments;
};
static struct probe probes[512];
static unsigned count = 0;

static void refuse(const char* what) {
    fprintf(stderr, "uprobes: %s\n", what);
    abort();
}

/* The value of a register by its name, which has a size. */
static uint64_t of_register(const char* name, size_t size, const greg_t* all) {
    static const struct {
        const char* names;
        int number;
    } known[] = {
        {"rax eax ax al", REG_RAX},
        {"rbx ebx bx bl", REG_RBX},
        {"rcx ecx cx cl", REG_RCX},
        {"rdx edx dx dl", REG_RDX},
        {"rsi esi si sil", REG_RSI},
        {"rdi edi di dil", REG_RDI},
        {"rbp ebp bp bpl", REG_RBP},
        {"rsp esp sp spl", REG_RSP},
        {"r8 r8d r8w r8b", REG_R8},
        {"r9 r9d r9w r9b", REG_R9},
        {"r10 r10d r10w r10b", REG_R10},
        {"r11 r11d r11w r11b", REG_R11},
        {"r12 r12d r12w r12b", REG_R12},
        {"r13 r13d r13w r13b", REG_R13},
        {"r14 r14d r14w r14b", REG_R14},
        {"r15 r15d r15w r15b", REG_R15},
        {"rip", REG_RIP},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i)
        for (const char* at = known[i].names; *at != 0; at += strspn(at, " ")) {
            const size_t length = strcspn(at, " ");
            if (length == size && memcmp(at, name, size) == 0) return (uint64_t)all[known[i].number];
            at += length;
        }
    refuse(name);
    return 0;
}

/* `%reg`, or `NUMBER(%reg)`. Stands behind it afterwards. */
static uint64_t operand(const char** at, const greg_t* all, uint64_t size) {
    if (**at == '$') {
        ++*at;
        return (uint64_t)strtoll(*at, (char**)at, 0);
    }
    const uint64_t offset = **at == '%' ? 0 : (uint64_t)strtoll(*at, (char**)at, 0);
    const bool is_memory = **at == '(';
    if (is_memory) ++*at;
    if (**at != '%') refuse(*at);
    const size_t length = strcspn(++*at, "), ");
    uint64_t value = of_register(*at, length, all);
    *at += length;
    if (!is_memory) return value;
    if (**at != ')') refuse(*at);
    ++*at;
    const uint64_t address = value + offset;
    value = 0;
    memcpy(&value, (const void*)address, size); /* NOLINT */
    return value;
}

static void hit(int number, siginfo_t* info, void* context) {
    (void)number, (void)info;
    const greg_t* const all = ((ucontext_t*)context)->uc_mcontext.gregs;
    /* Behind the breakpoint, which stands for an instruction that does nothing. */
    const unsigned char* const place = (const unsigned char*)all[REG_RIP] - 1;
    const struct probe* of = probes;
    while (of != probes + count && of->place != place) ++of;
    if (of == probes + count) refuse("no probe");
    char line[1024];
    size_t end = (size_t)snprintf(line, sizeof line, "%s:%s", of->provider, of->name);
    uint64_t last = 0;
    const char* const texts = getenv("TEXTS");
    unsigned index = 0;
    for (const char* at = of->arguments; *at != 0; at += strspn(at, " ")) {
        const long size = strtol(at, (char**)&at, 10);
        if (*at++ != '@' || size == 0) refuse(of->arguments);
        const unsigned bits = 8 * (unsigned)labs(size);
        uint64_t value = operand(&at, all, bits / 8) << (64 - bits);
        value = size < 0 ? (uint64_t)((int64_t)value >> (64 - bits)) : value >> (64 - bits);
        end +=
            (size_t)snprintf(line + end, sizeof line - end, size < 0 ? " %lld" : " %llu", (long long)value);
        char text[128];
        snprintf(text, sizeof text, " %s=%u ", of->name, index - 1);
        if (index > 0 && texts != NULL && strstr(texts, text) != NULL)
            end += (size_t)snprintf(line + end, sizeof line - end, " '%.*s'", (int)value, (const char*)last);
        last = value;
        ++index;
    }
    line[end++] = '\n';
    if (write(2, line, end) != (ssize_t)end) abort();
}

static int first(struct dl_phdr_info* info, size_t size, void* base) {
    (void)size;
    *(uintptr_t*)base = info->dlpi_addr;
    return 1;
}

static void put(unsigned char* place, const void* bytes, size_t size, int rights) {
    unsigned char* const page = (unsigned char*)((uintptr_t)place & ~(uintptr_t)4095);
    const size_t length = (size_t)(place + size - page);
    if (mprotect(page, length, rights | PROT_WRITE) != 0) refuse("mprotect");
    memcpy(place, bytes, size);
    if (mprotect(page, length, rights) != 0) refuse("mprotect");
}

__attribute__((constructor)) static void attach(void) {
    const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0) refuse("the program's file");
    const char* const elf = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (elf == MAP_FAILED) refuse("mmap");
    uintptr_t base = 0;
    dl_iterate_phdr(&first, &base);
    const Elf64_Ehdr* const head = (const Elf64_Ehdr*)elf;
    const Elf64_Shdr* const sections = (const Elf64_Shdr*)(elf + head->e_shoff);
    const char* const names = elf + sections[head->e_shstrndx].sh_offset;
    uintptr_t semaphore = 0;
    for (unsigned i = 0; i < head->e_shnum; ++i) {
        if (strcmp(names + sections[i].sh_name, ".note.stapsdt") != 0) continue;
        const char *at = elf + sections[i].sh_offset, *const end = at + sections[i].sh_size;
        while (at < end) {
            Elf64_Nhdr note;
            memcpy(&note, at, sizeof note);
            const char* const content = at + sizeof note + ((note.n_namesz + 3) & ~3U);
            at = content + ((note.n_descsz + 3) & ~3U);
            uint64_t addresses[3];
            memcpy(addresses, content, sizeof addresses);
            if (count == sizeof probes / sizeof probes[0]) refuse("too many probes");
            struct probe* const of = &probes[count++];
            of->place = (unsigned char*)(base + addresses[0]); /* NOLINT */
            of->provider = content + sizeof addresses;
            of->name = of->provider + strlen(of->provider) + 1;
            of->arguments = of->name + strlen(of->name) + 1;
            if (*of->place != 0x90) refuse("no nop");
            semaphore = base + addresses[2];
        }
    }
    struct sigaction action = {.sa_sigaction = &hit, .sa_flags = SA_SIGINFO};
    sigaction(SIGTRAP, &action, NULL);
    const unsigned char breakpoint = 0xCC;
    for (unsigned i = 0; i < count; ++i) put(probes[i].place, &breakpoint, 1, PROT_READ | PROT_EXEC);
    const unsigned short attached = 1;
    if (count != 0)
        put((unsigned char*)semaphore, &attached, sizeof attached, PROT_READ | PROT_WRITE); /* NOLINT */
    close(file);
}
