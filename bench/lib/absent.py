"""What no Linux machine can run of the sources' tables, and why."""


def here():
    """[(what, why)]."""
    return [("S5, OutputDebugString and ETW", "both are Windows'; System.Diagnostics.Trace is measured under Mono, whose default listener has no OutputDebugString"),
            ("S1, Windows: qDebug and ETL to a file and to the console", "ETW needs Windows"),
            ("S2, libatrace itself", "a part of Android; trace_marker, into which it writes, is measured instead where tracefs can be written"),
            ("S4, g2log", "not in Debian, and its successor g3log neither; glog, the other half of the table, is measured")]
