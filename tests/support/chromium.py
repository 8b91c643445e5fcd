"""Which Chromium tests, pictures and benchmarks use."""

import os
import shutil

PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser")
"""The first one draws no window around a page, which halves what a page costs."""


def chromium() -> str:
    """Returns the path of the browser: the one that NEXUS_CHROMIUM names, or the machine's.

    Raises:
        RuntimeError: there is none.
    """
    program = os.environ.get("NEXUS_CHROMIUM") or next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        raise RuntimeError(f"Chromium is missing: apt-get install {PROGRAMS[0]}, or set NEXUS_CHROMIUM to its path")
    return program
