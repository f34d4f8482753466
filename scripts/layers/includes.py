"""Which headers and sources of C and C++ include which."""

import re

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)
ENDINGS = {".h", ".hpp", ".c", ".cpp"}


def graph(*roots):
    """Each file below the roots with the files that it includes: those beside it come first, then those of a root."""
    roots = [root.resolve() for root in roots]
    files = {file for root in roots for file in root.rglob("*") if file.suffix in ENDINGS}
    found = {}
    for file in files:
        uses = found[file] = set()
        for name in INCLUDE.findall(file.read_text()):
            candidates = [(folder / name).resolve() for folder in (file.parent, *roots)]
            uses |= set([candidate for candidate in candidates if candidate in files][:1])
        uses.discard(file)
    return found
