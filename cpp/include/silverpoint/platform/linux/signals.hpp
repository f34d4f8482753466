// Names of signals that end programs, and of their causes, on Linux.
#pragma once

#include <signal.h>

#include "../../detail/config.hpp"

SP_DETAIL_BEGIN

SP_DETAIL_COLD const char* signal_name(int signal) {
    switch (signal) {
        case SIGSEGV:
            return "SIGSEGV";
        case SIGBUS:
            return "SIGBUS";
        case SIGILL:
            return "SIGILL";
        case SIGFPE:
            return "SIGFPE";
        case SIGABRT:
            return "SIGABRT";
        case SIGSYS:
            return "SIGSYS";
        case SIGTRAP:
            return "SIGTRAP";
        case SIGTERM:
            return "SIGTERM";
        default:
            return "";
    }
}

// As in <signal.h>; empty when it has no name.
SP_DETAIL_COLD const char* code_name(int signal, int code) {
    struct Known {
        int signal, code;
        const char* name;
    };
    static constexpr Known known[] = {
        {SIGSEGV, 1, "SEGV_MAPERR"},  {SIGSEGV, 2, "SEGV_ACCERR"},  {SIGSEGV, 3, "SEGV_BNDERR"},
        {SIGSEGV, 4, "SEGV_PKUERR"},  {SIGSEGV, 8, "SEGV_MTEAERR"}, {SIGSEGV, 9, "SEGV_MTESERR"},
        {SIGBUS, 1, "BUS_ADRALN"},    {SIGBUS, 2, "BUS_ADRERR"},    {SIGBUS, 3, "BUS_OBJERR"},
        {SIGBUS, 4, "BUS_MCEERR_AR"}, {SIGBUS, 5, "BUS_MCEERR_AO"}, {SIGILL, 1, "ILL_ILLOPC"},
        {SIGILL, 2, "ILL_ILLOPN"},    {SIGILL, 3, "ILL_ILLADR"},    {SIGILL, 4, "ILL_ILLTRP"},
        {SIGILL, 5, "ILL_PRVOPC"},    {SIGILL, 6, "ILL_PRVREG"},    {SIGILL, 7, "ILL_COPROC"},
        {SIGILL, 8, "ILL_BADSTK"},    {SIGFPE, 1, "FPE_INTDIV"},    {SIGFPE, 2, "FPE_INTOVF"},
        {SIGFPE, 3, "FPE_FLTDIV"},    {SIGFPE, 4, "FPE_FLTOVF"},    {SIGFPE, 5, "FPE_FLTUND"},
        {SIGFPE, 6, "FPE_FLTRES"},    {SIGFPE, 7, "FPE_FLTINV"},    {SIGFPE, 8, "FPE_FLTSUB"},
        {SIGTRAP, 1, "TRAP_BRKPT"},   {SIGTRAP, 2, "TRAP_TRACE"},   {SIGTRAP, 3, "TRAP_BRANCH"},
        {SIGTRAP, 4, "TRAP_HWBKPT"},  {SIGSYS, 1, "SYS_SECCOMP"},
    };
    switch (code) {
        case 0:
            return "SI_USER";
        case -1:
            return "SI_QUEUE";
        case -6:
            return "SI_TKILL";
        case 128:
            return "SI_KERNEL";
        default:
            break;
    }
    for (const Known& one : known)
        if (one.signal == signal && one.code == code) return one.name;
    return "";
}

SP_DETAIL_END
