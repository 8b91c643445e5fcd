"""A process' own memory in large pages: all of it that fills whole ones is asked for, and nothing in it changes."""

import ctypes
import mmap

from runtime.lifecycle.huge_pages import PAGE_BYTES, collapse_heap, whole_pages


def test_what_fills_whole_pages_is_put_together_and_stays_what_it_is() -> None:
    held = mmap.mmap(-1, 4 * PAGE_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    held.write(b"held" * PAGE_BYTES)
    start = ctypes.addressof(ctypes.c_char.from_buffer(held))
    pages = {page for first, size in whole_pages() for page in range(first, first + size, PAGE_BYTES)}
    mine = {page for page in pages if start <= page and page + PAGE_BYTES <= start + 4 * PAGE_BYTES}
    assert len(mine) >= 3
    assert all(page % PAGE_BYTES == 0 for page in pages)
    collapse_heap()
    assert held[:] == b"held" * PAGE_BYTES
