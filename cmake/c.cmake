# libsilverpoint_c: what tracepoints in C do once for a place, a thread or a process. Compiled as C++, linked by any C compiler.
#
#   target_link_libraries(app PRIVATE silverpoint::c)
add_library(silverpoint_c STATIC cpp/src/silverpoint_c.cpp cpp/src/context_c.cpp cpp/src/trace_context_c.cpp)
if(SILVERPOINT_RECORDS OR SILVERPOINT_RECORDS_ON_WINDOWS)
    target_sources(silverpoint_c PRIVATE cpp/src/crash_c.cpp)
endif()
target_include_directories(silverpoint_c PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/cpp/include)
target_compile_options(silverpoint_c PRIVATE ${SILVERPOINT_LIBRARY_OPTIONS})
set(silverpoint_c_file ${CMAKE_STATIC_LIBRARY_PREFIX}silverpoint_c${CMAKE_STATIC_LIBRARY_SUFFIX})
set_target_properties(
    silverpoint_c PROPERTIES CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden
                             POSITION_INDEPENDENT_CODE ON
                             # (By an expression: without a folder for each configuration.)
                             ARCHIVE_OUTPUT_DIRECTORY $<1:${CMAKE_CURRENT_BINARY_DIR}/lib>)

# By path, so that a project in C alone needs no C++ compiler.
add_library(silverpoint_for_c INTERFACE)
add_library(silverpoint::c ALIAS silverpoint_for_c)
set_target_properties(silverpoint_for_c PROPERTIES EXPORT_NAME c)
add_dependencies(silverpoint_for_c silverpoint_c)
target_include_directories(
    silverpoint_for_c INTERFACE $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/cpp/include>
                                       $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(
    silverpoint_for_c INTERFACE $<BUILD_INTERFACE:${CMAKE_CURRENT_BINARY_DIR}/lib/${silverpoint_c_file}>
                                $<INSTALL_INTERFACE:\${_IMPORT_PREFIX}/${CMAKE_INSTALL_LIBDIR}/${silverpoint_c_file}>)
install(TARGETS silverpoint_for_c EXPORT silverpoint-targets)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/lib/${silverpoint_c_file} DESTINATION ${CMAKE_INSTALL_LIBDIR})
file(RELATIVE_PATH silverpoint_pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" silverpoint_pc_prefix ${silverpoint_pc_prefix})
configure_file(cmake/silverpoint_c.pc.in silverpoint_c.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/silverpoint_c.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
