# Tracepoints from definitions (docs/guide/tracegen.md):
#
#   silverpoint_tracegen(app net.tracepoints disk.tracepoints)     a header for each: net_tracepoints_p.h, disk_tracepoints_p.h
#   silverpoint_tracegen(app PROVIDER editor view.cpp text.cpp)    one of Qt's macros in sources: editor_tracepoints_p.h
#
# Sources of the target find the headers by these names. They are made when the target is built, and again when a definition or a header that
# was read for it changes. Headers that define enumerations (`AUTO`) are searched where the target includes from. The program is SILVERPOINT_PROGRAM,
# by default the installed one.
if(POLICY CMP0116)
    cmake_policy(SET CMP0116 NEW)  # paths in a DEPFILE
endif()

function(silverpoint_tracegen target)
    cmake_parse_arguments(PARSE_ARGV 1 tracegen "" "PROVIDER" "")
    if(NOT tracegen_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "silverpoint_tracegen(${target} …): expected files with definitions")
    endif()
    if(NOT SILVERPOINT_PROGRAM)
        # The program of this package comes first: it is above the directory of this file, by as many steps as the distribution has.
        set(places)
        foreach(steps ../../.. ../../../..)
            get_filename_component(place "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${steps}/bin" ABSOLUTE)
            list(APPEND places ${place})
        endforeach()
        find_program(SILVERPOINT_PROGRAM silverpoint PATHS ${places} NO_DEFAULT_PATH)
        find_program(SILVERPOINT_PROGRAM silverpoint)
    endif()
    set(program "${SILVERPOINT_PROGRAM}")
    if(program AND NOT IS_ABSOLUTE "${program}")
        find_program(SILVERPOINT_TRACEGEN_PROGRAM NAMES "${program}")
        set(program "${SILVERPOINT_TRACEGEN_PROGRAM}")
    endif()
    if(NOT program)
        message(FATAL_ERROR "silverpoint_tracegen: the program silverpoint is not in PATH; name it by -DSILVERPOINT_PROGRAM=…")
    endif()
    set(files)
    foreach(file ${tracegen_UNPARSED_ARGUMENTS})
        get_filename_component(file ${file} ABSOLUTE)
        list(APPEND files ${file})
    endforeach()
    set(directory ${CMAKE_CURRENT_BINARY_DIR}/${target}_tracegen)
    file(MAKE_DIRECTORY ${directory})
    set(included $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
    set(options "$<$<BOOL:${included}>:-I$<JOIN:${included},;-I>>" --force)
    if(tracegen_PROVIDER)
        silverpoint_tracegen_header(${tracegen_PROVIDER} "${files}" --provider ${tracegen_PROVIDER})
    else()
        foreach(file ${files})
            get_filename_component(provider ${file} NAME_WE)
            silverpoint_tracegen_header(${provider} ${file})
        endforeach()
    endif()
    target_include_directories(${target} PRIVATE ${directory})
    # (Not target_link_libraries: a target may have its own calls without keywords.)
    set_property(TARGET ${target} APPEND PROPERTY LINK_LIBRARIES silverpoint::silverpoint)
endfunction()

# One header; variables are those of silverpoint_tracegen.
macro(silverpoint_tracegen_header name inputs)
    set(header ${directory}/${name}_tracepoints_p.h)
    # Headers that were read for AUTO are dependencies, too, where the generator of CMake can have them.
    set(depfile)
    if(CMAKE_GENERATOR MATCHES "Ninja|Makefiles")
        set(depfile DEPFILE ${header}.d)
    endif()
    add_custom_command(
        OUTPUT ${header}
        COMMAND ${program} tracegen ${inputs} ${ARGN} "${options}" -o ${header} --depfile ${header}.d
        DEPENDS ${inputs} ${program}
        ${depfile}
        COMMENT "tracegen ${name}" COMMAND_EXPAND_LISTS VERBATIM)
    target_sources(${target} PRIVATE ${header})
    set_source_files_properties(${header} PROPERTIES SKIP_AUTOGEN ON)
endmacro()
