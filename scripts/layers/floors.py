"""What may use what: the tables of ARCHITECTURE.md, which a person reads, and whether the code keeps to them."""

import re

# From the bottom up.
FLOORS = ["contract", "record", "collect", "read", "programs"]
HEADING = "## What may use what"


def rows(text, first):
    """The rows of the table whose first column has this heading, each as its cells."""
    _, heading, section = text.partition(HEADING)
    table = section.partition("\n## ")[0].partition(f"\n| {first} |")[2].partition("\n\n")[0]
    if not heading or not table:
        raise ValueError(f"ARCHITECTURE.md has no table of '{first}' below '{HEADING}'")
    return [[cell.strip() for cell in row.strip("| ").split("|")] for row in re.findall(r"^\|(?! ?-).*\|$", table, re.MULTILINE)]


def words(cell):
    """What stands between backticks."""
    return re.findall(r"`([^`]+)`", cell)


def crates(text, uses, folders=None):
    """Crates that use what the table does not name, or what is above them, or lie on another floor; and rows that are not needed. `uses`: each crate with those that it uses. `folders`: of those
    below `crates/`, the folder that each lies in."""
    def whole(name):
        return f"silverpoint-{name}" if f"silverpoint-{name}" in uses else name

    table = {whole(words(row[1])[0]): (row[0], {whole(name) for name in words((row + [""])[2])}) for row in rows(text, "floor")}
    found = [f"{name} is not in the table of ARCHITECTURE.md" for name in sorted(uses.keys() - table.keys())]
    unknown = [f"{name}: '{floor}' is no floor" for name, (floor, _) in table.items() if floor not in FLOORS]
    if unknown:
        return unknown
    for name, (floor, may) in table.items():
        if (folders or {}).get(name, floor) != floor:
            found.append(f"{name} is on the floor '{floor}': move it to crates/{floor}")
        above = {other for other in may if other in table and FLOORS.index(table[other][0]) > FLOORS.index(floor)}
        found += [f"{name} is on the floor '{floor}', below {other}" for other in sorted(above)]
        found += [f"{name} must not use {other}" for other in sorted(uses.get(name, set()) - may)]
        found += [f"{name} does not use {other}: remove it from the table of ARCHITECTURE.md" for other in sorted(may - uses.get(name, may))]
    return found


def folders(text, graph, roots):
    """Files of C++ in folders that include what the table does not name, and names that are not needed. A path ends with a slash if it is a folder; it counts from the first root that
    it is below. Of several rows for a file the first counts."""
    table = [(words(row[0]), words(row[1])) for row in rows(text, "folder")]
    found, used = [], set()

    def below(file):
        root = next((root for root in roots if root in file.parents), None)
        return file.relative_to(root).as_posix() if root else file.as_posix()

    for file, includes in graph.items():
        name = below(file)
        of = next(((number, folder) for number, (some, _) in enumerate(table) for folder in some if name.startswith(folder)), None)
        if of is None:
            if "/" in name:
                found.append(f"{name}: its folder is not in the table of ARCHITECTURE.md")
            continue
        number, folder = of
        for other in map(below, includes):
            allowed = [path for path in table[number][1] if other == path or path.endswith("/") and other.startswith(path)]
            used.update((number, path) for path in allowed)
            if not allowed and not other.startswith(folder):
                found.append(f"{name} must not include {other} (the table of ARCHITECTURE.md)")
    found += [f"{some[0]} does not include {path}: remove it from the table of ARCHITECTURE.md" for number, (some, may) in enumerate(table) for path in may if (number, path) not in used]
    return sorted(found)
