# silverpoint_capture_qt(target): qDebug(), qCWarning(…) and their like in all C++ files of a target record what they are given, typed,
# without a change of the source (docs/qt.md). The target links Qt 6 itself.
function(silverpoint_capture_qt target)
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include silverpoint/qt/debug.hpp>")
    # (Not target_link_libraries: a target may have its own calls without keywords.)
    set_property(TARGET ${target} APPEND PROPERTY LINK_LIBRARIES silverpoint::silverpoint)
endfunction()
