"""What no Linux machine, or not this one, can run of the sources' tables, and why."""

import shutil


def here():
    """[(what, why)]."""
    dotnet, wine = shutil.which("dotnet"), shutil.which("wine") or shutil.which("wine64")
    why = []
    if not dotnet:
        why.append("dotnet is not installed")
    if not wine:
        why.append("wine is not installed")
    lacking = " and ".join(why) or "dotnet and wine are there, but this suite has no driver of .NET yet"
    return [("S5: MD5 and Trace.Write with no listener, with the default listener, with ETW", f"System.Diagnostics.Trace needs .NET, OutputDebugString and ETW need Windows or Wine; {lacking}"),
            ("S1, Windows: qDebug and ETL to a file and to the console", "ETW needs Windows"),
            ("S2, libatrace itself", "a part of Android; trace_marker, into which it writes, is measured instead where tracefs can be written"),
            ("S4, g2log", "not in Debian, and its successor g3log neither; glog, the other half of the table, is measured")]
