"""A session daemon of LTTng of one's own, and programs that wait until it knows their events."""

import os
import subprocess
import sys
import time

# Of a machine that has much else to do.
PATIENCE = 300


def lttng(*words):
    done = subprocess.run(["lttng", "--no-sessiond", *words], capture_output=True, text=True, timeout=PATIENCE)
    if done.returncode != 0:
        raise SystemExit(f"lttng {' '.join(words)}: {done.stdout}{done.stderr}")
    return done.stdout


class Daemon:
    """lttng-sessiond, ended with this process."""

    def __enter__(self):
        self.output = open("output", "w")
        self.process = subprocess.Popen(["lttng-sessiond", "--no-kernel"], stdout=self.output, stderr=self.output)
        wait("lttng-sessiond", self.is_ready)
        return self

    def is_ready(self):
        if self.process.poll() is not None:
            raise SystemExit(f"lttng-sessiond has ended: {open('output').read()}")
        return subprocess.run(["lttng", "--no-sessiond", "list"], capture_output=True, timeout=PATIENCE).returncode == 0

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(PATIENCE)


def wait(what, done):
    begun = time.monotonic()
    while not done():
        if time.monotonic() - begun > PATIENCE:
            raise SystemExit(f"waited in vain for {what}")
        time.sleep(0.05)


def listed():
    return {line.strip().split(" (loglevel")[0] for line in lttng("list", "--userspace").splitlines() if "(loglevel" in line}


def start(command, **variables):
    environment = dict(os.environ, LTTNG_UST_REGISTER_TIMEOUT="5000", **variables)
    return subprocess.Popen(command, stdin=subprocess.PIPE, env=environment, text=True)


def go(process, names, then=lambda: None):
    """Lets the program go on, once LTTng knows its events, and waits for its end."""
    wait(f"{names} in {sorted(listed())}", lambda: names <= listed())
    process.stdin.write("\n")
    process.stdin.flush()
    then()
    process.communicate(timeout=PATIENCE)
    if process.returncode != 0:
        raise SystemExit(f"the program ended with {process.returncode}")


def in_own_namespace():
    """Root's daemon is the system's: here its directory is one of our own."""
    if os.geteuid() != 0 or os.environ.get("CHECK_IN_NAMESPACE"):
        return
    script = 'mkdir -p /run/lttng && mount -t tmpfs lttng /run/lttng && exec "$@"'
    os.environ["CHECK_IN_NAMESPACE"] = "1"
    if subprocess.run(["unshare", "--mount", "sh", "-c", script, "sh", "true"], capture_output=True).returncode != 0:
        print("no mount namespace of its own can be made here")
        raise SystemExit(77)
    os.execvp("unshare", ["unshare", "--mount", "sh", "-c", script, "sh", sys.executable, *sys.argv])
