"""What no Linux machine can run of the sources' tables, or what does not exist to be run, and why: for the list on the page, and for the cells of the tables that stay empty."""

WINDOWS = "needs Windows"
LIBRARY = "the source's own library, modmedLog, was never published"
ANDROID = "libatrace and its subscriber are parts of Android"
G2LOG = "g2log is not in Debian, nor is its successor g3log"
ETW = "ETW needs Windows"
NO_SUCH_CONNECTION = "Qt has no such connection"
# Text of a cell that could have been measured and was not.
NOT_MEASURED = "not in the results of this run"


def here():
    """[(what, why)]."""
    return [("S5, OutputDebugString and ETW", "both are Windows'; System.Diagnostics.Trace is measured under Mono, whose default listener has no OutputDebugString"),
            ("S1, Windows: qDebug and ETL to a file and to the console", "ETW needs Windows; the source's figures stand in its table without any beside them"),
            ("S1, TSV+JSON, ~default message and Summary of the source's own library", LIBRARY),
            ("S2, libatrace itself, and its subscriber", f"{ANDROID}, and no other library writes their messages; trace_marker, into which it writes, is measured instead where tracefs can be written"),
            ("S4, g2log", f"{G2LOG}; glog, the other half of the table, is measured")]
