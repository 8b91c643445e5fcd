"""This release's name, and which of two is the newer one.

What releases share on the bus bears the name of the one that has written it last; an older one that starts beside a
newer one takes nothing away from it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version

RELEASE = "nexus.release"
"""In the metadata of streams and consumers: the release that has made them what they are."""


@cache
def release() -> str:
    return version("nexus-runtime")


def is_newers(metadata: Mapping[str, str] | None) -> bool:
    """Whether a release newer than this one has written a stream or a consumer with this metadata; what bears no
    release's name is of an older one."""
    return _numbers((metadata or {}).get(RELEASE, "")) > _numbers(release())


def _numbers(name: str) -> tuple[int, ...]:
    found = re.match(r"\d+(\.\d+)*", name)
    return tuple(map(int, found[0].split("."))) if found else ()
