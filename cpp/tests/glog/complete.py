#!/usr/bin/env python3
"""Whether docs/guide/from-glog.md lists every macro and flag of the installed glog's headers, and whether those that it calls the same are compared.

    complete.py HEADERS PAGE SOURCE…
"""

import pathlib
import re
import sys

# Guards against including a header twice.
GUARDS = re.compile(r".*_H_*$")


def what_runs(source):
    """Code, and the lines that say how it is run: a name in any other comment compares nothing."""
    return re.sub(r"//(?! run: ).*", "", source)


def main():
    headers, page, sources = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).read_text(), sys.argv[3:]
    programs = "\n".join(what_runs(pathlib.Path(source).read_text()) for source in sources)
    texts = [path.read_text() for path in sorted(headers.glob("*.h"))]
    macros = {name for text in texts for name in re.findall(r"^\s*#\s*define\s+(\w+)", text, re.M) if not GUARDS.match(name)}
    flags = {name for text in texts for name in re.findall(r"^DECLARE_(?:bool|int32|uint32|string)\((\w+)\)", text, re.M)}
    wrong = []
    rows = [row.split("|")[1:3] for row in page.splitlines() if row.startswith("| `")]
    listed = {name: verdict.strip() for names, verdict in rows for name in re.findall(r"`(\w+)`", names)}
    wrong += [f"{name}: not in the page's tables" for name in sorted((macros | flags) - listed.keys())]
    used = set(re.findall(r"\w+", programs))
    for name, verdict in listed.items():
        # Variants for builds and conditions are compared by the macros that expand to them.
        if verdict.startswith("same") and "through" not in verdict and not {name, "FLAGS_" + name, "GLOG_" + name, "no" + name} & used:
            wrong.append(f"{name}: called the same, and no program uses it")
    for message in wrong:
        print(message)
    print(f"{len(macros)} macros, {len(flags)} flags, {len(wrong)} mistakes")
    return 1 if wrong or not macros or not flags else 0


if __name__ == "__main__":
    sys.exit(main())
