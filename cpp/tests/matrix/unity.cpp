// Files of a unity build, each with its own category in a scope of its own.
#include <silverpoint/silverpoint.hpp>

#include "use.cpp"
namespace other {
SP_CATEGORY("other")
inline void work() { SP_INFO("other {}", 2); }
}  // namespace other
#include "logging.cpp"
