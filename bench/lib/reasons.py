"""Why another is better, where code or a measurement says so. An empty text: nobody knows yet, and the report says that. What depends on other rows of the same run is asked of them, so that a reason is not given for
figures that it does not fit."""

BARE_WRITE = "it is the least that a call into the kernel takes: its message was made beforehand, of which ours makes tag, process and name in the call"
OTHER_MACHINE = "measured elsewhere and earlier, where the floor took 9 to 14 ns, and by its lowest figure; these are not in Debian, so they were not run here, and what makes the difference is neither confirmed nor explained"


def tracing(own, who, case, ns):
    """`ns`: {(backend, case): Measured}."""
    if who == "ticklog" and case == "event":
        return ("`tracing` hands a text over as `fmt::Arguments`, which is formatted in the call; ticklog is called by a macro of its own, which takes the text as it is written, and the time of its record is that at which its "
                "thread formats it")
    alone, theirs = ns.get(("no-op layer", case)), ns.get((who, case))
    if "layer" in own and alone and theirs and alone.value > theirs.value:
        return "tracing-subscriber's registry alone takes more, with a layer that does nothing (the row no-op layer)"
    return ""


def registry(own, case, ns):
    """`ns`: as above."""
    alone, ours = ns.get(("no-op layer", case)), ns.get((own, case))
    if "layer" in own and alone and ours and alone.value >= ours.value / 2:
        return "more than half of it is tracing-subscriber's registry (the row no-op layer)"
    return ""


def filtered(own, who, above):
    """`above`: {backend: Measured} of a filtered line over an empty loop."""
    least = [above[name].value for name in ("no-op subscriber", "no-op layer", "none") if name in above]
    if own in above and least and above[own].value <= max(least) * 1.2:
        return "`tracing` turns the line away before any subscriber is asked: those that do nothing, and none at all, take as long"
    return ""


# What is measured of a timer, and whether the row without any sender says as much about the machine.
LATENESS = ("median", "p99", "max")


def signals(part, what, own, who, found):
    """`found`: {(part, who, what): Measured}."""
    if part != "timer" or what not in LATENESS:
        return ""
    idle, ours = found.get((part, "no sender", what)), found.get((part, own, what))
    if not idle or not ours or idle.value < ours.value / 2:
        return ""
    if "latest" in own and what == "median":
        return "between its ticks the loop sleeps, and the system wakes it as late without any sender (the row no sender); a loop that events keep awake is there when a tick comes due"
    return "it is what the system's scheduler does to the timer: without any sender it is as late"


def loggers(key, own, who):
    if key == "peak_ns":
        first = "a thread that does nothing but log fills its ring of at most a megabyte faster than the collector empties it into the spool; then it waits for room, and up to a scheduler's turn when there are more threads than processors"
        if who.endswith(" async"):
            return f"{first}; theirs waits for one place in a queue of entries"
        return f"{first}; who writes within the call waits a little in each instead"
    if key in ("total_s", "cpu_s"):
        copies = "a record is copied twice before it is a line: into the ring, and by the collector into the spool, which survives the process; lines of JSON are longer besides"
        if key == "cpu_s":
            return copies
        who_formats = {"log4cplus": "log4cplus formats and writes in the callers' threads",
                       "spdlog": "spdlog formats and writes in the callers' threads, at once and on as many processors as there are",
                       "spdlog async": "spdlog's callers format the text of an entry themselves, and its one worker the rest of the line"}.get(who)
        return f"{copies}; one thread formats all lines of a file, where {who_formats}" if who_formats else ""
    if key == "entry_bytes":
        return {"silverpoint json": "each of its lines names its members, and has the template and the arguments beside the text; nobody else here writes JSON",
                "silverpoint glog.hpp": "it writes glog's line, which has level, date and time, thread, file and line; theirs has less of that"}.get(
            own, "each of its lines has date and time, level, thread, category, file and line, in columns; theirs has less of that")
    return ""


def modern(case, who):
    if case == "disabled":
        return "its level is a variable of the program; here the place's byte lies in shared memory, behind a pointer, so that another process can switch it"
    return ""


def paced(key, own, who, theirs, alone):
    """`alone`: what sleeping and waking take by themselves at that rate."""
    if alone and theirs <= alone:
        return "the sleeping and waking between the calls took more by themselves in that run (the row nothing): it is they that differ"
    if key == "cpu_per_record" and "text" in own and who == "spdlog async":
        return "both wake a thread for what has come; ours wakes two, and copies a record twice before it is a line: into the ring, and into the spool, which survives the process"
    if key == "cpu_per_record" and "text" in own and who == "spdlog":
        return "spdlog has no other thread: all is done in the call. Ours takes less in the caller (the other column), but the collector's thread and the sink's wake for what has come, and copy it twice before it is a line"
    return ""


def of_dotnet(case, key):
    if key == "flush_us":
        return "all but a tenth is the runtime's own first call of it: with no listener at all it takes as long" if case in ("none", "default") else ""
    return {"none": "nothing is recorded there", "default": "Mono's default listener hands the text to a debugger, and there is none",
            "text": "its text goes into a buffer of the process; here it is made UTF-8, leaves the runtime by a call of C, and is in shared memory then"}.get(case, "")


def bind(operation, case, who):
    return {("write JSON", "128 floats", "serde_json (Rust)"):
            "42 of the 128 need eight digits and take seven tenths of the instructions that numbers take here: the standard library's `to_chars` finds their digits, and a second pass places the point; serde_json's zmij "
            "finds them with fewer multiplications and writes them where they belong",
            ("read JSON", "128 floats", "serde_json (Rust)"):
            "30 of the 128 have more digits than a `float` holds exactly, so the standard library's `from_chars` rounds them, once; serde_json reads a `double` by one division and narrows it, which rounds twice"
            }.get((operation, case, who), "")
