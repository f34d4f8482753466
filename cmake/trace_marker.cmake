# libsilverpoint_trace_marker: writes lines of a program's tracepoints into the kernel's trace_marker. No program links it: the frontends load it when
# SILVERPOINT_PROBES=trace_marker asks for it. It needs nothing of the kernel where it is built, and nothing of the C++ library.
add_library(silverpoint_trace_marker SHARED cpp/src/silverpoint_trace_marker.cpp)
target_include_directories(silverpoint_trace_marker PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/cpp/include)
# Optimised in every configuration: what is not inlined would want the C++ library.
target_compile_options(silverpoint_trace_marker PRIVATE -O2 -fno-exceptions -fno-rtti)
find_package(Threads REQUIRED)
target_link_libraries(silverpoint_trace_marker PRIVATE Threads::Threads)
set_target_properties(
    silverpoint_trace_marker
    PROPERTIES CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden
               VISIBILITY_INLINES_HIDDEN ON VERSION 0 SOVERSION 0 LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/lib)
install(TARGETS silverpoint_trace_marker LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_SKIP)
