"""Circles of files: sets of files that all need each other, through others or at once.

A graph is a dictionary: a file with the set of files that it uses.
"""

# A circle of more files than this fails the check.
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
                if other in waiting:
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


def breaches(graph):
    """The circles that are too large, as texts, with the uses that make them."""
    too_large = [circle for circle in circles(graph) if len(circle) > MOST]
    return [f"{len(circle)} files need each other in a circle (at most {MOST}): {', '.join(circle)}{''.join(edges(graph, circle))}" for circle in too_large]


def edges(graph, circle):
    """A line for each use within a circle."""
    for file in circle:
        for other in sorted(graph[file] & set(circle)):
            yield f"\n  {file} uses {other}"
