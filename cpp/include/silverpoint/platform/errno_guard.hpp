// errno, which every platform's C library has.
#pragma once

#include <cerrno>

#include "../detail/config.hpp"

SP_DETAIL_BEGIN

// Leaves errno as it was.
class ErrnoGuard {
  public:
    ErrnoGuard() : saved_(errno) {}
    ~ErrnoGuard() { errno = saved_; }
    ErrnoGuard(const ErrnoGuard&) = delete;
    ErrnoGuard& operator=(const ErrnoGuard&) = delete;

  private:
    int saved_;
};

SP_DETAIL_END
