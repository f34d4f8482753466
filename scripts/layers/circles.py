"""Circles of files: sets of files that all need each other, through others or at once.

A graph is a dictionary: a file with the set of files that it uses.
"""

# A circle of more files than this fails the check, unless KNOWN has it.
MOST = 3


def circles(graph):
    """The strongly connected components of more than one file, each sorted (Tarjan's algorithm)."""
    number, lowest, stack, waiting, found = {}, {}, [], set(), []
    for start in graph:
        if start in number:
            continue
        # A stack of our own in place of recursion: a chain of files may be longer than Python allows.
        walk = [(start, None)]
        while walk:
            file, used = walk.pop()
            if used is None:
                number[file] = lowest[file] = len(number)
                stack.append(file)
                waiting.add(file)
                used = iter(sorted(graph.get(file, ())))
            for other in used:
                if other not in number:
                    walk += [(file, used), (other, None)]
                    break
                if other in stack:
                    lowest[file] = min(lowest[file], number[other])
            else:
                if walk:
                    before = walk[-1][0]
                    lowest[before] = min(lowest[before], lowest[file])
                if lowest[file] == number[file]:
                    circle = [stack.pop()]
                    while circle[-1] != file:
                        circle.append(stack.pop())
                    waiting.difference_update(circle)
                    if len(circle) > 1:
                        found.append(sorted(circle))
    return sorted(found)


def breaches(graph, known):
    """What is wrong with the circles of a part, as texts. `known` has a file of each larger circle that is allowed, with its largest size."""
    wrong, left = [], dict(known)
    for circle in circles(graph):
        if len(circle) <= MOST:
            continue
        allowed = [file for file in left if file in circle]
        bound = max((left.pop(file) for file in allowed), default=MOST)
        if len(circle) > bound:
            wrong.append(f"{len(circle)} files need each other in a circle (at most {bound}): {', '.join(circle)}{''.join(edges(graph, circle))}")
        elif len(circle) < bound:
            wrong.append(f"the circle of {allowed[0]} has {len(circle)} files: change KNOWN in scripts/layers/known.py from {bound}")
        elif len(allowed) > 1:
            wrong.append(f"the circle has two entries in KNOWN of scripts/layers/known.py: {', '.join(allowed)}")
    wrong += [f"{file} is in no circle of more than {MOST} files: remove it from KNOWN in scripts/layers/known.py" for file in left]
    return wrong


def edges(graph, circle):
    """A line for each use within a circle."""
    for file in circle:
        for other in sorted(graph[file] & set(circle)):
            yield f"\n  {file} uses {other}"
