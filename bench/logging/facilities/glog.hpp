// facility: glog
// how: files only, its own buffering
// needs: /usr/include/glog/logging.h libgoogle-glog-dev
// links: -lglog -lgflags
// in: s4 cases paced
#include <glog/logging.h>

#include "glog_program.hpp"
