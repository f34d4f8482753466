// Whether this thread is inside the library, so that a message from there does not recurse without end.
#pragma once

#include <utility>

namespace google::glog_internal_namespace_ {

// How deep this thread is inside library code that may allocate. A message from there comes from the
// program's operator new, or from what that calls. It is written without memory (last_words.hpp).
inline thread_local unsigned inside = 0;
struct Inside {
    Inside() { ++inside; }
    ~Inside() { --inside; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
};
// While the program's own functions are called, which may log.
struct Outside {
    Outside() : before_(std::exchange(inside, 0)) {}
    ~Outside() { inside = before_; }
    Outside(const Outside&) = delete;
    Outside& operator=(const Outside&) = delete;

  private:
    unsigned before_;
};

}  // namespace google::glog_internal_namespace_
