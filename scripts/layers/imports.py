"""Which files of Python import which. An import within a function counts, too: it would only hide a circle."""

import ast


def graph(root):
    """Each file below a folder with the files of the folder that it imports; the folder is on Python's path."""
    files = set(root.rglob("*.py"))
    found = {}
    for file in files:
        uses = found[file] = set()
        for node in ast.walk(ast.parse(file.read_text(), str(file))):
            if isinstance(node, ast.Import):
                for name in node.names:
                    uses |= module(files, root, name.name.split("."))
            elif isinstance(node, ast.ImportFrom):
                folder = root if node.level == 0 else file.parents[node.level - 1]
                path = node.module.split(".") if node.module else []
                for name in node.names:
                    uses |= module(files, folder, path + [name.name]) or module(files, folder, path)
        uses.discard(file)
    return found


def module(files, folder, path):
    """The file of a module or package below a folder, as a set; an empty one if there is none."""
    place = folder.joinpath(*path)
    return {file for file in (place.with_suffix(".py"), place / "__init__.py") if file in files}
