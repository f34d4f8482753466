# silverpoint_capture_qt(target): qDebug(), qCWarning(…) and their like in all C++ files of a target record what they are given, typed,
# without a change of the source (docs/qt.md). The target links Qt 6 itself.
function(silverpoint_capture_qt target)
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include silverpoint/qt/debug.hpp>")
    target_link_libraries(${target} PRIVATE silverpoint::silverpoint)
endfunction()
