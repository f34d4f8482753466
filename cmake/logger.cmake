# libsilverpoint: the logger inside the process, built by cargo.
#
#   target_link_libraries(app PRIVATE silverpoint::logger)          the static library
#   target_link_libraries(app PRIVATE silverpoint::logger_shared)   the shared one
find_program(SILVERPOINT_CARGO cargo HINTS $ENV{HOME}/.cargo/bin REQUIRED)
find_package(Threads REQUIRED)

set(SILVERPOINT_CARGO_PROFILE release CACHE STRING "Profile with which cargo builds libsilverpoint")
set(SILVERPOINT_CARGO_TARGET_DIR ${CMAKE_CURRENT_BINARY_DIR}/cargo CACHE PATH "Where cargo builds libsilverpoint")
# Cargo compiles a crate anew for every other set of features, and what is selected decides on them.
set(SILVERPOINT_CARGO_SELECTION --package silverpoint-ffi CACHE STRING "What cargo builds, with silverpoint-ffi in it")
mark_as_advanced(SILVERPOINT_CARGO_SELECTION)

if(SILVERPOINT_CARGO_PROFILE STREQUAL dev)
    set(silverpoint_cargo_out ${SILVERPOINT_CARGO_TARGET_DIR}/debug)
else()
    set(silverpoint_cargo_out ${SILVERPOINT_CARGO_TARGET_DIR}/${SILVERPOINT_CARGO_PROFILE})
endif()
set(silverpoint_static ${CMAKE_CURRENT_BINARY_DIR}/lib/libsilverpoint.a)
set(silverpoint_shared ${CMAKE_CURRENT_BINARY_DIR}/lib/libsilverpoint.so)
file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/lib)

# Always asked: cargo knows what has changed.
add_custom_target(
    silverpoint_cargo ALL
    COMMAND ${SILVERPOINT_CARGO} build --locked ${SILVERPOINT_CARGO_SELECTION} --profile ${SILVERPOINT_CARGO_PROFILE}
            --target-dir ${SILVERPOINT_CARGO_TARGET_DIR}
    COMMAND ${CMAKE_COMMAND} -E copy_if_different ${silverpoint_cargo_out}/libsilverpoint_ffi.a ${silverpoint_static}
    COMMAND ${CMAKE_COMMAND} -E copy_if_different ${silverpoint_cargo_out}/libsilverpoint_ffi.so ${silverpoint_shared}.0
    COMMAND ${CMAKE_COMMAND} -E create_symlink libsilverpoint.so.0 ${silverpoint_shared}
    BYPRODUCTS ${silverpoint_static} ${silverpoint_shared} ${silverpoint_shared}.0
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
    COMMENT "Building libsilverpoint (cargo shows what it compiles; the first time takes minutes)"
    USES_TERMINAL
    VERBATIM)

function(silverpoint_logger_target name file)
    add_library(${name} INTERFACE)
    add_dependencies(${name} silverpoint_cargo)
    # By path while it is built here, by name once it is installed.
    target_link_libraries(${name} INTERFACE silverpoint $<BUILD_INTERFACE:${file}> $<INSTALL_INTERFACE:${ARGN}> Threads::Threads
                                            ${CMAKE_DL_LIBS} m)
    install(TARGETS ${name} EXPORT silverpoint-targets)
endfunction()

silverpoint_logger_target(logger ${silverpoint_static} "\${_IMPORT_PREFIX}/${CMAKE_INSTALL_LIBDIR}/libsilverpoint.a")
silverpoint_logger_target(logger_shared ${silverpoint_shared} "\${_IMPORT_PREFIX}/${CMAKE_INSTALL_LIBDIR}/libsilverpoint.so")
add_library(silverpoint::logger ALIAS logger)
add_library(silverpoint::logger_shared ALIAS logger_shared)

# For a program whose sources include spdlog's headers: they find those of silverpoint/instead.
add_library(instead_of_spdlog INTERFACE)
target_include_directories(instead_of_spdlog BEFORE INTERFACE $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/cpp/include/silverpoint/instead>
                                                              $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/silverpoint/instead>)
target_link_libraries(instead_of_spdlog INTERFACE logger)
install(TARGETS instead_of_spdlog EXPORT silverpoint-targets)
add_library(silverpoint::instead_of_spdlog ALIAS instead_of_spdlog)

install(FILES ${silverpoint_static} ${silverpoint_shared} ${silverpoint_shared}.0 DESTINATION ${CMAKE_INSTALL_LIBDIR})
file(RELATIVE_PATH silverpoint_pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" silverpoint_pc_prefix ${silverpoint_pc_prefix})
configure_file(cmake/silverpoint.pc.in silverpoint.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/silverpoint.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
