#!/usr/bin/env python3
"""Runs each program twice, built with glog and with silverpoint/glog.hpp, and compares what can be observed: the exit status, stdout and stderr,
and the files with their names, lines, links and permissions. Times, processes and threads are made the same before.

    run.py DIRECTORY_OF_THEIRS DIRECTORY_OF_OURS SOURCE…

A source says how it is run, one line each:

    // run: NAME [KEY=VALUE…] [OPTION…]         the program's arguments: NAME and the options
    // skip: NAME PATTERN                       lines on stderr and in files that are not compared in this run, with a reason behind
    // unordered: NAME                          threads: lines are compared without their order
    // times: NAME                              the hours by which times differ from UTC are compared, too

In a run, @WORD stands for the number of the line that ends in the comment `// @WORD`. What is not at the beginning of a line of its own, where it
would not be found, is a mistake.
"""

import concurrent.futures
import os
import pathlib
import re
import resource
import shlex
import stat
import subprocess
import sys
import tempfile
import time

RUN = re.compile(r"^// run: (.*)$", re.M)
SAID = re.compile(r"// .*\b(run|skip|unordered|times): ")
PREFIX = re.compile(r"([IWEF])(\d{8}|\d{4}) (\d\d):(\d\d):\d\d\.\d{6} +\d+ ")
RAW_PREFIX = re.compile(r"([IWEF]00000000 00:00:00\.000000) +\d+ ")
STAMP = re.compile(r"\d{8}-\d{6}\.\d+")


def hours_from_utc(hour, minute):
    """By how many hours a time of this moment differs from UTC's."""
    now = time.gmtime()
    return round(((int(hour) - now.tm_hour) * 60 + int(minute) - now.tm_min) / 60) % 24


def same(text, directory, times=False):
    """What differs from run to run, made the same."""
    text = text.replace(str(directory), "<dir>")

    def time_of(m):
        return f"<UTC+{hours_from_utc(m[3], m[4])}>" if times else "<time>"

    text = PREFIX.sub(lambda m: f"{m[1]}<{len(m[2])} digits> {time_of(m)} <thread> ", text)
    text = RAW_PREFIX.sub(r"\1 <thread> ", text)
    text = STAMP.sub("<stamp>", text)
    text = re.sub(r"Log file created at: .*", "Log file created at: <time>", text)
    text = re.sub(r"Aborted at \d+ \(unix time\) try \"date -d @\d+\"", 'Aborted at <time> (unix time) try "date -d @<time>"', text)
    text = re.sub(r"Running duration \(h:mm:ss\): .*", "Running duration (h:mm:ss): <time>", text)
    text = re.sub(r"/\S*/(\w+\.cpp)", r"<sources>/\1", text)
    text = re.sub(r"0x[0-9a-f]{8,}", "<address>", text)
    # Stack traces: that there is one, not which frames and names it has.
    text = re.sub(r"(?m)(^ +@ .*\n?)+", "    @ <stack>\n", text)
    return text


def files_of(directory, times):
    """Names, permissions, links and contents."""
    found = {}
    for path in sorted(directory.rglob("*")):
        # What a program that was killed leaves for `silverpoint recover`.
        if any(part.startswith("silverpoint-log-") for part in path.relative_to(directory).parts):
            continue
        name = same(str(path.relative_to(directory)), directory)
        while name in found:
            name += "+"
        if path.is_symlink():
            found[name] = "link to " + same(os.readlink(path), directory)
        elif path.is_file():
            text = path.read_bytes().decode("utf-8", "backslashreplace")
            found[name] = f"{stat.filemode(path.stat().st_mode)}\n" + same(text, directory, times)
        else:
            found[name] = "directory"
    return found


def observe(program, name, environment, options, skip, unordered, times):
    with tempfile.TemporaryDirectory(prefix="glog-") as work:
        # The program's name is part of the files' names: one name for both.
        work = pathlib.Path(work).resolve()
        directory = work / "d"
        directory.mkdir()
        env = {"PATH": os.environ["PATH"], "HOME": str(work), "USER": "somebody", "TZ": "UTC", "TMPDIR": str(directory), "LANG": "C"}
        env |= environment
        done = subprocess.run([str(program.resolve()), name, *options], cwd=directory, env=env, capture_output=True, stdin=subprocess.DEVNULL,
                              umask=0o022, timeout=120)

        def text(raw):
            return same(raw.decode("utf-8", "backslashreplace"), directory, times)

        seen = {"exit status": str(done.returncode), "stdout": text(done.stdout), "stderr": text(done.stderr)}
        for file, content in files_of(directory, times).items():
            seen["file " + file] = content
        for key in seen:
            lines = seen[key].split("\n")
            if skip:
                lines = [line for line in lines if not any(pattern.search(line) for pattern in skip)]
            seen[key] = "\n".join(sorted(lines) if unordered else lines)
        return seen


def compare(name, theirs, ours):
    wrong = []
    for key in sorted(theirs.keys() | ours.keys()):
        expected, found = theirs.get(key), ours.get(key)
        if expected == found:
            continue
        if expected is None or found is None:
            wrong.append(f"{name}: {key}: {'only ours' if expected is None else 'only theirs'}\n{found or expected}"[:3000])
            continue
        expected, found = expected.split("\n"), found.split("\n")
        for number, (one, other) in enumerate(zip(expected + [None] * len(found), found + [None] * len(expected))):
            if one != other:
                wrong.append(f"{name}: {key}, line {number + 1}:\n  theirs: {str(one)[:300]!r}\n  ours:   {str(other)[:300]!r}")
                break
    return wrong


def run(theirs, ours, text, line):
    places = {word: number for number, content in enumerate(text.split("\n"), 1) for word in re.findall(r"// @(\w+)$", content)}
    name, *words = shlex.split(re.sub(r"@(\w+)", lambda m: str(places[m[1]]), line))
    environment = dict(word.split("=", 1) for word in words if not word.startswith("-"))
    options = [word for word in words if word.startswith("-")]
    skip = [re.compile(pattern) for who, pattern in re.findall(r"^// skip: (\S+) (.*)$", text, re.M) if who in (name, "*")]
    unordered = name in re.findall(r"^// unordered: (\S+)$", text, re.M)
    times = name in re.findall(r"^// times: (\S+)$", text, re.M)
    seen = [observe(program, name, environment, options, skip, unordered, times) for program in (theirs, ours)]
    return compare(f"{ours.name} {line}", *seen)


def main():
    theirs_at, ours_at, sources = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    failures, runs = [], []
    # No core files beside the logs of the programs that crash: they are never the same.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for source in map(pathlib.Path, sources):
            text = source.read_text()
            variants = sorted(path.name for path in ours_at.iterdir() if path.name == source.stem or path.name.startswith(source.stem + "-"))
            if not variants:
                failures.append(f"{source.stem}: no such program in {ours_at}")
            lines = RUN.findall(text)
            for number, line in enumerate(text.split("\n"), 1):
                if (said := SAID.search(line)) and not line.startswith(f"// {said[1]}: "):
                    failures.append(f"{source.name}:{number}: '{said[1]}:' stands at the beginning of a line of its own, where it is looked for")
            for variant in variants:
                for line in lines:
                    runs.append(pool.submit(run, theirs_at / variant, ours_at / variant, text, line))
        for done in runs:
            failures += done.result()
    for failure in failures:
        print(failure)
    print(f"{len(runs)} runs compared, {len(failures)} differences")
    return 1 if failures or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
