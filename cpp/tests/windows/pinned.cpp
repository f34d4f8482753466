// A session where an open file keeps its directory from being renamed, as on Windows: compiled with
// SILVERPOINT_TEST_PINNED_DIRECTORIES. Ends with 0 if it holds its owner's lock.
#include <silverpoint/silverpoint.hpp>

SP_CATEGORY("pinned")

int main() {
    SP_INFO("pinned");
    silverpoint::detail::Path path = silverpoint::detail::session.path;
    const auto owner = silverpoint::detail::open_file(path.add("/owner").c_str());
    return owner && silverpoint::detail::is_locked(owner) ? 0 : 2;
}
