// errno, which every platform's C library has; and what Windows has besides.
#pragma once

#include <cerrno>

#include "../detail/config.hpp"

#if defined(_WIN64)
#    include "windows/api.hpp"
#endif

SP_DETAIL_BEGIN

// Leaves errno as it was, and GetLastError().
class ErrnoGuard {
  public:
#if defined(_WIN64)
    ErrnoGuard() : saved_(errno), last_error_(GetLastError()) {}
    ~ErrnoGuard() {
        errno = saved_;
        SetLastError(last_error_);
    }
#else
    ErrnoGuard() : saved_(errno) {}
    ~ErrnoGuard() { errno = saved_; }
#endif
    ErrnoGuard(const ErrnoGuard&) = delete;
    ErrnoGuard& operator=(const ErrnoGuard&) = delete;

  private:
    int saved_;
#if defined(_WIN64)
    unsigned long last_error_;
#endif
};

SP_DETAIL_END
