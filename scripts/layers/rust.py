"""Which files of a crate use which, from their `use` declarations and paths. A name counts for the file that defines it, not for one that re-exports it."""

import re
from collections import defaultdict

VISIBLE = r"(?:pub(?:\([^)]*\))?\s+)?"
MODULE = re.compile(rf"^\s*{VISIBLE}mod (\w+);", re.MULTILINE)
INLINE = re.compile(rf"^\s*{VISIBLE}mod \w+ \{{", re.MULTILINE)
USE = re.compile(r"^\s*(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);", re.MULTILINE)
DEFINITION = re.compile(
    rf'^\s*{VISIBLE}(?:default\s+|unsafe\s+|const\s+|async\s+|extern\s+""\s+)*'
    r"(?:fn|struct|enum|trait|type|const|static|union|macro_rules!)\s+(?:mut\s+)?(\w+)", re.MULTILINE)
# Paths of expressions and types: from the crate, from here, or from a module that is declared here.
ROOTED = re.compile(r"(?<![\w:])((?:crate|super|self)(?:::\w+)+)")
RELATIVE = re.compile(r"(?<![\w:.])(\w+(?:::\w+)+)")
# A chain of re-exports is followed so far.
DEEPEST = 8


def code(text):
    """The text of a file without comments, strings and its tests."""
    for pattern, instead in ((r"//[^\n]*", ""), (r"/\*.*?\*/", ""), (r'r(#+)".*?"\1', '""'), (r'"(?:\\.|[^"\\])*"', '""'), (r"#\[cfg\(test\)\]\s*mod \w+ \{.*", "")):
        text = re.sub(pattern, instead, text, flags=re.DOTALL)
    return text


def flat(text):
    """The text with what stands in inline modules as if it stood in the file itself: their `super` is the file."""
    for module in reversed(list(INLINE.finditer(text))):
        end, depth = module.end(), 1
        while depth and end < len(text):
            depth += (text[end] == "{") - (text[end] == "}")
            end += 1
        inner = re.sub(r"\bsuper::(super::)?", lambda path: path[1] or "self::", text[module.end():end])
        text = text[:module.end()] + inner + text[end:]
    return text


def names(tree):
    """The names that a tree of `use` brings, each with its path: `a::{b, c as d}` is b from a::b, and d from a::c."""
    tree = tree.strip()
    group = re.match(r"^(.*?)\{(.*)\}$", tree, re.DOTALL)
    if group:
        found = {}
        for part in parts(group[2]):
            found |= names(re.sub(r"::self\b", "", group[1] + part))
        return found
    path, _, name = re.sub(r"\s+", " ", tree).partition(" as ")
    path = tuple(path.split("::"))
    return {name or path[-1]: path[1:] if path[0] == "" else path}


def parts(inner):
    """The parts between commas, outside braces."""
    depth, part = 0, ""
    for character in inner:
        depth += (character == "{") - (character == "}")
        if character == "," and depth == 0:
            yield part.strip()
            part = ""
        else:
            part += character
    if part.strip():
        yield part.strip()


class Module:
    """One file of a crate: what it declares, brings and uses."""

    def __init__(self, file, path):
        self.file, self.path = file, path
        text = flat(code(file.read_text()))
        self.children = set(MODULE.findall(text))
        self.defined = set(DEFINITION.findall(text))
        # Names that it brings, with their paths; the globs; and paths that it uses itself.
        self.brought, self.globs, self.used = {}, [], set()
        for public, tree in USE.findall(text):
            for name, path in names(tree).items():
                if name == "*":
                    self.globs.append(path[:-1])
                else:
                    self.brought[name] = path
                if not public:
                    self.used.add(path)
        text = USE.sub("", text)
        self.used |= {tuple(path.split("::")) for path in ROOTED.findall(text)}
        self.used |= {path for path in (tuple(path.split("::")) for path in RELATIVE.findall(text)) if path[0] in self.children}

    def absolute(self, path):
        """A path as it is written here, from the root of the crate; None for one of another crate."""
        if path[0] == "crate":
            return path[1:]
        base, at = self.path, 0
        if path[0] == "self":
            return base + path[1:]
        while at < len(path) and path[at] == "super":
            base, at = base[:-1], at + 1
        if at > 0 or path[0] in self.children or path[0] in self.defined:
            return base + path[at:]
        return None


class Crate:
    """The modules of a crate, from the file of its root."""

    def __init__(self, root):
        self.modules = {}
        self.load(root, (), root.parent)

    def load(self, file, path, folder):
        module = self.modules[path] = Module(file, path)
        for name in sorted(module.children):
            for candidate in (folder / f"{name}.rs", folder / name / "mod.rs"):
                if candidate.exists():
                    self.load(candidate, path + (name,), folder / name)

    def definer(self, path, depth=0):
        """The module that defines what an absolute path names; None where that is another crate."""
        at = 0
        while at < len(path) and path[:at + 1] in self.modules:
            at += 1
        module = self.modules[path[:at]]
        if at == len(path) or path[at] == "*" or path[at] in module.defined or depth == DEEPEST:
            return module
        if path[at] in module.brought:
            whole = module.absolute(module.brought[path[at]])
            return None if whole is None else self.definer(whole + path[at + 1:], depth + 1)
        for glob in module.globs:
            whole = module.absolute(glob)
            found = None if whole is None else self.definer(whole + path[at:], depth + 1)
            if found and path[at] in found.defined:
                return found
        return module

    def graph(self):
        """Each file with the files that it uses."""
        found = defaultdict(set)
        for module in self.modules.values():
            uses = found[module.file]
            for path in module.used:
                whole = module.absolute(path)
                used = None if whole is None else self.definer(whole)
                if used and used is not module:
                    uses.add(used.file)
        return dict(found)
