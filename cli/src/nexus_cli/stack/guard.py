"""The guard: kills what the supervisor started, when the supervisor itself is gone.

Run as a script of its own (`python -I -S guard.py`), with a pipe from the supervisor as standard input. Lines are
`+PGID` and `-PGID`; at end of file, which the kernel delivers however the supervisor died, every group still listed
is killed. Children of the supervisor die by PR_SET_PDEATHSIG already; the guard reaches their children, and serves
systems that have no such signal. It imports next to nothing, to be running within milliseconds.
"""

import os
import signal
import sys


def main() -> None:
    """Reads groups from standard input until it ends, then kills those that are left."""
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    groups: set[int] = set()
    for line in sys.stdin.buffer:
        group = int(line[1:])
        if line.startswith(b"+"):
            groups.add(group)
        else:
            groups.discard(group)
    for group in groups:
        try:
            os.killpg(group, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue


if __name__ == "__main__":
    main()
