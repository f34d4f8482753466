"""Which C++ headers know an operating system: they include its headers. Only the folder `platform/` may, and the exceptions of scripts/check-layers."""

import pathlib
import re

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*<([^>\n]+)>', re.MULTILINE)
# Headers of POSIX, Linux and Windows, and <signal.h>, whose use here is POSIX's.
SYSTEM = re.compile(
    r"(sys|linux|asm|arpa|net|netinet|mach)/.*"
    r"|(dirent|dlfcn|elf|execinfo|fcntl|grp|ifaddrs|link|mqueue|netdb|poll|pthread|pwd|sched|semaphore|signal|spawn|strings|syslog|termios|ucontext|unistd|utime|wait"
    r"|windows|winsock2|io|process|evntprov|TraceLoggingProvider|processthreadsapi)\.h",
    re.IGNORECASE)


def headers(text):
    """The headers of an operating system that a file includes."""
    return sorted({name for name in INCLUDE.findall(text) if SYSTEM.fullmatch(name)})


def breaches(root, allowed):
    """Files below `root` that know a system and may not, and exceptions that are not needed any more. `allowed`: paths of files, and of folders with a slash behind."""
    found, used = [], set()
    for file in sorted(pathlib.Path(root).rglob("*")):
        if file.suffix not in {".h", ".hpp"}:
            continue
        name = file.relative_to(root).as_posix()
        known = headers(file.read_text())
        if not known:
            continue
        exception = next((path for path in allowed if name == path or path.endswith("/") and name.startswith(path)), None)
        if exception is None:
            found.append(f"{name}: includes {', '.join(f'<{header}>' for header in known)}; only platform/ knows the operating system")
        used.add(exception)
    found += [f"{path}: includes no system header any more; remove it from the exceptions" for path in allowed if path not in used]
    return found
