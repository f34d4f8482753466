// Writes containers of the standard library with <<, as glog's stl_logging.h does: "1 2 3", "(a, 1) (b, 2)",
// the first hundred elements. For programs that included that header; others record containers with types
// (SP_INFO).
#pragma once

#include <deque>
#include <list>
#include <map>
#include <ostream>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

template <class First, class Second>
std::ostream& operator<<(std::ostream& out, const std::pair<First, Second>& pair);

// clang-format off
#define SP_GLOG_SEQUENCES(each)                                                           \
    each(vector) each(deque) each(list) each(set) each(multiset) each(map) each(multimap) \
    each(unordered_set) each(unordered_multiset) each(unordered_map) each(unordered_multimap)
// clang-format on
#define SP_GLOG_DECLARE(container) \
    template <class... Ts>         \
    std::ostream& operator<<(std::ostream& out, const std::container<Ts...>& sequence);
SP_GLOG_SEQUENCES(SP_GLOG_DECLARE)
#undef SP_GLOG_DECLARE

// In a namespace without operators of its own, so that those above are found.
namespace silverpoint_glog_containers {

template <class Sequence>
void print(std::ostream& out, const Sequence& sequence) {
    unsigned left = 100;
    auto at = sequence.begin();
    for (; at != sequence.end() && left > 0; ++at, --left) {
        if (left < 100) out << ' ';
        out << *at;
    }
    if (at != sequence.end()) out << " ...";
}

}  // namespace silverpoint_glog_containers

template <class First, class Second>
std::ostream& operator<<(std::ostream& out, const std::pair<First, Second>& pair) {
    return out << '(' << pair.first << ", " << pair.second << ')';
}
#define SP_GLOG_DEFINE(container)                                                        \
    template <class... Ts>                                                               \
    std::ostream& operator<<(std::ostream& out, const std::container<Ts...>& sequence) { \
        silverpoint_glog_containers::print(out, sequence);                               \
        return out;                                                                      \
    }
SP_GLOG_SEQUENCES(SP_GLOG_DEFINE)
#undef SP_GLOG_DEFINE
#undef SP_GLOG_SEQUENCES
