include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/silverpoint-targets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/qt.cmake)
