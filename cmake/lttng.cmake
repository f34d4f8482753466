# libsilverpoint_lttng: makes events of LTTng-UST of a program's tracepoints. No program links it: the frontends load it when SILVERPOINT_PROBES=lttng asks for it. It
# needs nothing of LTTng where it is built, and nothing of the C++ library.
add_library(silverpoint_lttng SHARED cpp/src/silverpoint_lttng.cpp)
target_include_directories(silverpoint_lttng PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/cpp/include)
# Optimised in every configuration: what is not inlined would want the C++ library.
target_compile_options(silverpoint_lttng PRIVATE -O2 -fno-exceptions -fno-rtti)
target_link_libraries(silverpoint_lttng PRIVATE ${CMAKE_DL_LIBS})
set_target_properties(
    silverpoint_lttng PROPERTIES CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden
                                 VISIBILITY_INLINES_HIDDEN ON VERSION 0 SOVERSION 0
                                 LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/lib)
install(TARGETS silverpoint_lttng LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_SKIP)
