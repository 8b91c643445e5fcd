"""This release's name, and the comparison of releases.

Streams and consumers, which releases share, carry the name of the release that configured them last; an older release
that starts beside a newer one removes nothing from them.
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
    """Whether a newer release has configured a stream or a consumer with this metadata; one without a name counts as
    older."""
    return _numbers((metadata or {}).get(RELEASE, "")) > _numbers(release())


def _numbers(name: str) -> tuple[int, ...]:
    match = re.match(r"\d+(\.\d+)*", name)
    return tuple(map(int, match[0].split("."))) if match else ()
