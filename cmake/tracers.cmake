# Libraries that give a program's tracepoints to a tracer of the system. No program links one: the frontends load it when SILVERPOINT_PROBES asks for it. None needs
# anything of its tracer where it is built, nor anything of the C++ library.
function(silverpoint_tracer name)
    set(library silverpoint_${name})
    add_library(${library} SHARED cpp/src/${library}.cpp)
    target_include_directories(${library} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/cpp/include)
    target_compile_options(${library} PRIVATE ${SILVERPOINT_LIBRARY_OPTIONS})
    target_link_libraries(${library} PRIVATE ${ARGN})
    set_target_properties(
        ${library} PROPERTIES CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden
                              VISIBILITY_INLINES_HIDDEN ON VERSION 0 SOVERSION 0
                              LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/lib
                              RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/lib)
    # (Of a DLL no program needs the import library.)
    install(TARGETS ${library} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_SKIP
            RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} ARCHIVE EXCLUDE_FROM_ALL)
endfunction()
