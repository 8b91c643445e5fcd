"""Makes clocks and random numbers depend on the seed alone: patches the functions that read them from the machine."""

from __future__ import annotations

import gc
import logging
import os
import random
import secrets
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime as _datetime
from datetime import tzinfo
from types import FunctionType
from typing import Any
from unittest.mock import patch

import structlog
from structlog.typing import EventDict
from typing_extensions import override

from tests.simulation.loop import PROCESS, SimulatedLoop
from tests.simulation.streams import EPOCH

_PATCHED_PACKAGES = ("agent", "contracts", "gateway", "memory", "runtime", "nats", "jwt", "prometheus_client")
"""The packages whose functions read the machine's time or random numbers."""


class _Sources:
    """The loop and the random generator that the patched functions use; one simulation at a time."""

    loop: SimulatedLoop | None = None
    random: random.Random = random.Random(0)


def _monotonic() -> float:
    loop = _Sources.loop
    return 0.0 if loop is None else loop.time() + 1000.0


def _wall() -> float:
    loop = _Sources.loop
    return EPOCH if loop is None else EPOCH + loop.time() + loop.clock_ahead.get(PROCESS.get(), 0.0)


class _Kind(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _datetime)


class _Datetime(_datetime, metaclass=_Kind):
    """Reads the wall clock of the current process. Its constructors return plain datetimes."""

    def __new__(cls, *args: Any, **options: Any) -> Any:
        return _datetime(*args, **options)

    @override
    @classmethod
    def now(cls, tz: tzinfo | None = None) -> _datetime:  # pyright: ignore[reportIncompatibleMethodOverride]
        return _datetime.fromtimestamp(_wall(), tz)


def _bytes(size: int | None = None) -> bytes:
    return _Sources.random.randbytes(32 if size is None else size)


def _below(most: int) -> int:
    return _Sources.random.randrange(most)


_REPLACEMENTS: dict[Any, Any] = {
    time.time: _wall,
    time.time_ns: lambda: int(_wall() * 1e9),
    time.monotonic: _monotonic,
    time.monotonic_ns: lambda: int(_monotonic() * 1e9),
    time.perf_counter: _monotonic,
    time.perf_counter_ns: lambda: int(_monotonic() * 1e9),
    os.urandom: _bytes,
    secrets.token_bytes: _bytes,
    secrets.randbelow: _below,
    _datetime: _Datetime,
}
"""The machine's functions and their replacements."""
_BY_ID = {id(asked): answer for asked, answer in _REPLACEMENTS.items()}


def _replacement_of(held: object) -> Any:
    """Returns the replacement of a function, or the object itself."""
    return _BY_ID.get(id(held), held)


def _changes() -> Generator[tuple[Any, str, Any]]:
    """Yields every name and every parameter default that holds a function to replace: object, attribute, new value."""
    for name, module in list(sys.modules.items()):
        ours = name.split(".")[0] in _PATCHED_PACKAGES or name.startswith("tests.simulation")
        if name != __name__ and (ours or module in (os, secrets, time)):
            for attribute, held in list(vars(module).items()):
                if id(held) in _BY_ID:
                    yield module, attribute, _replacement_of(held)
    for function in gc.get_objects():
        if isinstance(function, FunctionType) and str(function.__module__).split(".")[0] in _PATCHED_PACKAGES:
            usual, named = function.__defaults__ or (), function.__kwdefaults__ or {}
            if any(id(held) in _BY_ID for held in usual):
                yield function, "__defaults__", tuple(map(_replacement_of, usual))
            if any(id(held) in _BY_ID for held in named.values()):
                yield function, "__kwdefaults__", {name: _replacement_of(held) for name, held in named.items()}


@contextmanager
def deterministic() -> Generator[None]:
    """Replaces clocks and random numbers by those of the running simulation."""
    structlog.configure(processors=[note_errors], wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    patches = [patch.object(target, name, new) for target, name, new in _changes()]
    for patched in patches:
        patched.start()
    try:
        yield
    finally:
        for patched in reversed(patches):
            patched.stop()
        structlog.reset_defaults()


@contextmanager
def going_by(loop: SimulatedLoop, seed: int) -> Generator[None]:
    """Uses this loop's time and this seed's random numbers."""
    _Sources.loop, _Sources.random = loop, random.Random(seed)
    random.seed(seed)
    try:
        yield
    finally:
        _Sources.loop = None


_ERRORS: list[str] = []
_EXPECTED = ("storage.refuses", "the store is older than it was")
"""Errors about an absent bus and a restored store, which simulations cause on purpose."""


def note_errors(_: object, name: str, event: EventDict) -> EventDict:
    """A processor for structlog: records every logged error except the expected ones."""
    if (
        name in ("error", "exception", "critical")
        and event.get("event") not in _EXPECTED
        and not _is_of_newer_release(event)
    ):
        error = sys.exc_info()[1]
        _ERRORS.append(f"logged: {event.get('event')} {error!r}")
    raise structlog.DropEvent


def _is_of_newer_release(event: EventDict) -> bool:
    """Returns whether it reports the dead letter of a fact of a newer release, which plans write on purpose."""
    return event.get("event") == "dead_letter" and "is no subject of a conversation" in str(event.get("reason"))


def said_as_error() -> list[str]:
    """Returns the errors logged since the last call."""
    errors = list(_ERRORS)
    _ERRORS.clear()
    return errors
