// facility: silverpoint glog.hpp
// how: glog's program, below, with `#include <silverpoint/glog.hpp>`
// links: ours
// in: s4
#include <silverpoint/glog.hpp>

#include "glog_program.hpp"
