# Tracepoints from definitions (docs/guide/tracegen.md):
#
#   silverpoint_tracegen(app net.tracepoints disk.tracepoints)     a header for each: net_tracepoints_p.h, disk_tracepoints_p.h
#   silverpoint_tracegen(app PROVIDER editor view.cpp text.cpp)    one of Qt's macros in sources: editor_tracepoints_p.h
#
# Sources of the target find the headers by these names. They are made when the target is built, and again when a definition changes. Headers that define
# enumerations (`AUTO`) are searched where the target includes from. The program is SILVERPOINT_PROGRAM, by default the installed one.
function(silverpoint_tracegen target)
    cmake_parse_arguments(PARSE_ARGV 1 tracegen "" "PROVIDER" "")
    if(NOT tracegen_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "silverpoint_tracegen(${target} …): expected files with definitions")
    endif()
    # (The first: that of this package.)
    find_program(SILVERPOINT_PROGRAM silverpoint HINTS ${SILVERPOINT_TRACEGEN_HINT})
    if(NOT SILVERPOINT_PROGRAM)
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
    target_link_libraries(${target} PRIVATE silverpoint::silverpoint)
endfunction()

# One header; variables are those of silverpoint_tracegen.
macro(silverpoint_tracegen_header name inputs)
    set(header ${directory}/${name}_tracepoints_p.h)
    add_custom_command(
        OUTPUT ${header}
        COMMAND ${SILVERPOINT_PROGRAM} tracegen ${inputs} ${ARGN} "${options}" -o ${header}
        DEPENDS ${inputs} ${SILVERPOINT_PROGRAM}
        COMMENT "tracegen ${name}" COMMAND_EXPAND_LISTS VERBATIM)
    target_sources(${target} PRIVATE ${header})
endmacro()

get_filename_component(SILVERPOINT_TRACEGEN_HINT "${CMAKE_CURRENT_LIST_DIR}/../../../bin" ABSOLUTE)
