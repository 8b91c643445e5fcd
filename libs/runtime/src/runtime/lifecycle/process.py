"""The body of a service's `__main__`: imports the service, and runs it.

run("gateway.app:main")

Importing is most of a start. Two things make it shorter: packages that libraries import only because they happen to be
installed are kept away, and the garbage collector is off until the service is ready, since nothing imported is garbage.
"""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from typing import Any

COLLECT_AFTER = 10_000
"""New container objects before the youngest generation is collected (Python's default: 700)."""


def run(main: str) -> None:
    """Runs a service's coroutine function, given as `module:function`, as runtime.lifecycle.program does."""
    loaded = load(main)
    importlib.import_module("runtime.lifecycle.program").run(loaded)


def load(main: str) -> Callable[[], Coroutine[Any, Any, None]]:
    """Imports the function, without modules that no service needs; the garbage collector is off from now on."""
    module, _, function = main.partition(":")
    gc.disable()
    with _kept_away("aiohttp"):  # nats-py: for NATS over websockets
        importlib.import_module("nats.aio.client")
    with _kept_away("rich", "opentelemetry.sdk"):  # structlog: for tracebacks in colours; redis: for metrics of its own
        return getattr(importlib.import_module(module), function)


def freeze_heap() -> None:
    """Excludes existing modules, schemas and connections from garbage collection: they live for ever, and scanning
    them again and again would stop everything for tens of milliseconds."""
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(COLLECT_AFTER, 20, 20)


@contextmanager
def _kept_away(*names: str) -> Generator[None]:
    """Hides packages as if they were not installed. Later imports find them."""
    for name in names:
        sys.modules[name] = None  # pyright: ignore[reportArgumentType] - what `import` takes for "not to be found"
    try:
        yield
    finally:
        for name in names:
            del sys.modules[name]
