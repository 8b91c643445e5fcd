"""This release's name, and comparing releases.

What releases share on the bus carries the name of the one that wrote it last; an older one that starts beside a newer
one removes nothing from it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version

RELEASE = "nexus.release"
"""Key in the metadata of streams and consumers: the release that configured them."""


@cache
def release() -> str:
    return version("nexus-runtime")


def is_of_newer_release(metadata: Mapping[str, str] | None) -> bool:
    """Whether a newer release has written a stream or a consumer with this metadata; one without a name is older."""
    return _numbers((metadata or {}).get(RELEASE, "")) > _numbers(release())


def _numbers(name: str) -> tuple[int, ...]:
    found = re.match(r"\d+(\.\d+)*", name)
    return tuple(map(int, found[0].split("."))) if found else ()
