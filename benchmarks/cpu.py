"""CPU time and age of processes, from /proc."""

import os
import time
from collections.abc import Iterable
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def seconds(pids: Iterable[int]) -> float:
    """Returns the CPU seconds that these processes have used (proc(5), /proc/PID/stat, fields utime and stime)."""
    return sum(_cpu_seconds(pid) for pid in pids)


def age(pid: int) -> float:
    """Returns the seconds since this process was started, to a hundredth (field starttime, in ticks after boot)."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) - int(_fields(pid)[19]) / _TICKS


def _cpu_seconds(pid: int) -> float:
    fields = _fields(pid)
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _fields(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
