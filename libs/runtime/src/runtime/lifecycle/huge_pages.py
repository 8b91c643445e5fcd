"""Moves a service's heap into pages of 2 MiB.

A turn touches code objects, classes and tables all over an interpreter's memory, while other processes use the
processor between its steps. Each small page costs a walk through the page tables, in a virtual machine through two of
them. Linux (6.1 and later) merges the pages on request; on other systems nothing happens. docs/decisions/0124.
"""

import ctypes
import threading
from collections.abc import Iterator
from pathlib import Path

DELAY_SECONDS = 20.0
"""Seconds to wait after a service's start; it is not worth it for a short-lived service."""
PAGE_BYTES = 2 * 1024 * 1024
MADV_COLLAPSE = 25
"""madvise(2): merge these pages now."""


def begin() -> None:
    """Merges the pages in a thread, in some 50 ms; other threads run meanwhile."""
    threading.Thread(target=collapse_heap, name="huge pages", daemon=True).start()


def collapse_heap() -> None:
    """Merges the parts of the heap that fill whole pages; parts that the kernel refuses stay as they are."""
    try:
        advise = ctypes.CDLL(None).madvise
    except (AttributeError, OSError, TypeError):
        return  # not on Linux
    for start, size in whole_pages():
        advise(ctypes.c_void_p(start), ctypes.c_size_t(size), MADV_COLLAPSE)


def whole_pages() -> Iterator[tuple[int, int]]:
    """Yields start and size of the whole pages in anonymous memory (proc_pid_maps(5))."""
    maps = Path("/proc/self/maps")
    for line in maps.read_text().splitlines() if maps.exists() else ():
        addresses, permissions, _, _, _, *name = line.split()
        if permissions.startswith("rw") and name in ([], ["[heap]"]):
            first, last = (int(address, 16) for address in addresses.split("-"))
            start, end = -(-first // PAGE_BYTES) * PAGE_BYTES, last // PAGE_BYTES * PAGE_BYTES
            if start < end:
                yield start, end - start
