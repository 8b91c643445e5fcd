"""CPU time and age of processes, from /proc."""

import os
import time
from collections.abc import Iterable
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def seconds(pids: Iterable[int]) -> float:
    """The CPU seconds that these processes have used (proc(5), /proc/PID/stat, fields utime and stime)."""
    return sum(_of(pid) for pid in pids)


def age(pid: int) -> float:
    """Seconds since this process was started, to a hundredth (field starttime, in ticks after boot)."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) - int(_fields(pid)[19]) / _TICKS


def _of(pid: int) -> float:
    fields = _fields(pid)
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _fields(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
