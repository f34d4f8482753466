"""Tests of `scripts/windows`: sessions whose files are damaged, dead and living ones. The program on Windows says of them what that of Linux says."""

import random
import subprocess

from __main__ import OUT, PROGRAM, SILVERPOINT, SKIPPED, Endless, Place, Running, fine, has_no_rust, run, wait_until

# Of files of a session.
FILES = ("control", "rings", "owner", "collector")
# Most bits that are flipped in a file.
FLIPS = 40
# What reads living sessions.
VERBS = (
    ["ls", "--json", "--no-sweep"], ["ctl", "PID"], ["sites", "PID"], ["tail", "-n", "3", "--json", "PID"],
    ["top", "--json", "-n", "1", "-i", "100ms", "PID"], ["convert", "PID", "-", "--to", "jsonl"],
    ["attach", "PID", "--for", "50ms", "-o", "attached.silver"])


class Copies:
    """Copies of a session, whose files are damaged. Each has a number of its own, or a directory of sessions."""

    def __init__(self, place, session, are_apart):
        self.place, self.session, self.are_apart, self.damages = place, session, are_apart, {}

    def add(self, damage):
        pid, start, number = self.session.name.split("-")
        path = self.place.root / f"{1_000_000 + len(self.damages) * 4}-{start}-{number}"
        if self.are_apart:
            path = self.place.path / f"sessions-{len(self.damages)}" / self.session.name
            path.parent.mkdir()
        path.mkdir()
        for file in self.session.iterdir():
            # (Most of the rings is unused: copies have holes there, too.)
            fine("cp", "--sparse=always", "-p", file, path)
        self.damages[path] = damage(path)

    def add_all(self, count):
        for _ in range(count):
            self.add(flipped)
        for name in FILES[:2]:
            for _ in range(count // 2):
                self.add(lambda path, name=name: truncated(path / name))
        for name in FILES[:3]:
            self.add(lambda path, name=name: emptied(path / name))
            self.add(lambda path, name=name: removed(path / name))
        self.add(lambda path: replaced(path / "control"))


def flipped(path):
    """Bits of what a program has written; those at the front decide most."""
    file = path / random.choice(FILES[:2])
    content = bytearray(file.read_bytes())
    used = [at for at in range(0, len(content), 64) if any(content[at : at + 64])]
    flips = []
    for _ in range(random.randint(1, FLIPS)):
        at = random.choice(used[: random.choice((8, len(used)))]) + random.randrange(64)
        at = min(at, len(content) - 1)
        flips.append((at, random.randrange(8)))
        content[at] ^= 1 << flips[-1][1]
    with file.open("r+b") as to:
        for at, _ in flips:
            to.seek(at)
            to.write(content[at : at + 1])
    return f"{file.name}: {flips}"


def truncated(file):
    size = random.choice((random.randrange(4096), random.randrange(file.stat().st_size)))
    with file.open("r+b") as to:
        to.truncate(size)
    return f"{file.name}: {size} bytes"


def emptied(file):
    file.write_bytes(b"")
    return f"{file.name}: empty"


def removed(file):
    file.unlink()
    return f"{file.name}: missing"


def replaced(file):
    file.unlink()
    file.mkdir()
    return f"{file.name}: a directory"


def asked(place, command, *arguments, **environment):
    """Exit code, output and messages. Neither program may end by a fault of its own."""
    done = run(*command, *arguments, env=place.environment(TZ="UTC", **environment), cwd=place.path)
    assert done.returncode in range(8), f"{command} {arguments}: exit {done.returncode}: {done.stderr[-2000:]}"
    assert "panicked" not in done.stderr and "RUST_BACKTRACE" not in done.stderr, f"{command} {arguments}: {done.stderr[-2000:]}"
    return done


def both(place, *arguments, **environment):
    """What the programs of Linux and of Windows say."""
    return [asked(place, command, *arguments, **environment) for command in ([SILVERPOINT], ["wine", PROGRAM])]


def left_by(place):
    """The session of a program that has ended in disorder."""
    done = place.wine("records.exe", 2, 1_000_000, "progress", 300)
    assert done.returncode == 3, done
    (session,) = place.sessions()
    wait_until(lambda: '"alive":true' not in fine(SILVERPOINT, "ls", "--json", "--no-sweep", env=place.environment()), "its end")
    return session


def test_the_program_recovers_damaged_sessions_as_linuxs_does(rounds):
    if has_no_rust():
        return SKIPPED
    place = Place("hostile-dead")
    copies = Copies(place, left_by(place), False)
    copies.add_all(rounds)
    for number, (path, damage) in enumerate(({copies.session: "whole"} | copies.damages).items()):
        name = path.name
        said = []
        for system, command in (("linux", [SILVERPOINT]), ("windows", ["wine", PROGRAM])):
            file = f"{system}-{number}.silver"
            done = asked(place, command, "recover", "--keep", name, "-o", file)
            records = None
            if (place.path / file).exists():
                records = asked(place, [SILVERPOINT], "cat", "--json", file).stdout
                assert done.returncode in (0, 3, 5), (damage, done)
            else:
                # An error in one line, which names the session.
                assert done.returncode in (1, 6) and done.stderr.startswith("silverpoint: "), (damage, done)
            said.append((done.returncode, records))
            assert name != copies.session.name or done.returncode == 0 and records.count("numbers") > 100, done
        assert said[0] == said[1], f"{name}, {damage}: Linux {shortened(said[0])}, Windows {shortened(said[1])}"
    # All at once: one that is damaged keeps no other from being stored.
    done = asked(place, ["wine", PROGRAM], "recover", "--all", "-o", "all.silver")
    listed = asked(place, ["wine", PROGRAM], "ls", "--json", "--no-sweep")
    assert copies.session.name not in listed.stdout + listed.stderr, listed
    assert (place.path / "all.silver").exists(), done


def shortened(said):
    code, records = said
    return f"exit {code}, {records and (len(records), records[:300], records[-300:])}"


def test_the_program_refuses_damaged_living_sessions_as_linuxs_does(rounds):
    if has_no_rust():
        return SKIPPED
    place = Place("hostile-living")
    with Endless(place, False, SILVERPOINT_FILTER="trace") as program:
        program.wait_for(300)
        (session,) = place.sessions()
        # The number of a process that lives.
        pid = session.name.split("-")[0]
        copies = Copies(place, session, True)
        copies.add_all(rounds)
        codes = set()
        for path, damage in copies.damages.items():
            with Running() as running:
                hold(running, path)
                for verb in VERBS:
                    words = [pid if word == "PID" else word for word in verb]
                    linux, windows = both(place, *words, SILVERPOINT_DIR=str(path.parent))
                    assert linux.returncode == windows.returncode, (damage, verb, linux, windows)
                    codes.add(windows.returncode)
                    # An error is one line.
                    assert windows.returncode in (0, 3) or windows.stderr.startswith("silverpoint: "), (damage, verb, windows)
        assert len(codes) > 1, codes
        # The one that is whole.
        for verb in VERBS:
            asked(place, ["wine", PROGRAM], *[pid if word == "PID" else word for word in verb])
    assert "numbers" in asked(place, [SILVERPOINT], "cat", "attached.silver").stdout


def hold(running, session):
    """Its owner's lock, if it has the file: it looks alive until the end."""
    name = session / "owner"
    if not name.exists():
        return
    holder = running.begin(OUT / "owner.exe", name, out=subprocess.PIPE)
    assert holder.stdout.readline().strip() == b"holds", session
