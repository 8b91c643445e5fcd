"""The body of a service's `__main__`: imports the service and runs it.

run("gateway.app:main")

Imports take most of a start. Two things shorten them: packages that libraries import only because they happen to be
installed are hidden, and the garbage collector is off until the service is ready, since nothing imported is garbage.
"""

from __future__ import annotations

import gc
import importlib
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from typing import Any

COLLECT_AFTER = 10_000
"""New container objects before the youngest generation is collected (Python's default: 700)."""


def run(main: str) -> None:
    """Runs a service's coroutine function, given as `module:function`, as runtime.lifecycle.program does."""
    # Nothing is served yet, so it may end at once. Process 1 of a container ignores SIGTERM unless there is a handler.
    signal.signal(signal.SIGTERM, lambda number, _: os._exit(128 + number))
    service = load(main)
    importlib.import_module("runtime.lifecycle.program").run(service)


def load(main: str) -> Callable[[], Coroutine[Any, Any, None]]:
    """Imports the function, without modules that no service needs; the garbage collector is off from now on."""
    module, _, function = main.partition(":")
    gc.disable()
    with _hidden_packages("aiohttp"):  # nats-py: for NATS over websockets
        importlib.import_module("nats.aio.client")
    with _hidden_packages(
        "rich", "opentelemetry.sdk"
    ):  # structlog: for tracebacks in colours; redis: for metrics of its own
        return getattr(importlib.import_module(module), function)


def freeze_heap() -> None:
    """Excludes existing objects (modules, schemas, connections) from garbage collection: they live for ever, and each
    scan would stop the process for tens of milliseconds."""
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(COLLECT_AFTER, 20, 20)


@contextmanager
def _hidden_packages(*names: str) -> Generator[None]:
    """Hides packages during the block, as if they were not installed."""
    for name in names:
        sys.modules[name] = None  # pyright: ignore[reportArgumentType] - what `import` takes for "not to be found"
    try:
        yield
    finally:
        for name in names:
            del sys.modules[name]
