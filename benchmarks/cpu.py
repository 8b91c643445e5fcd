"""CPU time of processes, from /proc: user and system seconds since they started."""

import os
from collections.abc import Iterable
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def seconds(pids: Iterable[int]) -> float:
    """The CPU seconds that these processes have used (proc(5), /proc/PID/stat, fields utime and stime)."""
    return sum(_of(pid) for pid in pids)


def _of(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS
