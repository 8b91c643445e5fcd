"""The guard: kills the processes of the supervisor when the supervisor itself has died.

It runs as a script (`python -I -S guard.py`) with a pipe from the supervisor as standard input. Lines are `+PGID` and
`-PGID`; at end of file, which the kernel delivers however the supervisor died, every group still listed is killed.
Children of the supervisor already die by PR_SET_PDEATHSIG; the guard reaches their children, and serves systems that
have no such signal. It imports almost nothing, to be running within milliseconds.
"""

import os
import signal
import sys


def main() -> None:
    """Reads groups from standard input until it ends, then kills the remaining groups."""
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
