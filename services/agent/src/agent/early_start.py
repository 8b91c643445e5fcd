"""Starts work before anybody waits for it."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

_T = TypeVar("_T")


def start_early(work: Coroutine[Any, Any, _T]) -> "asyncio.Task[_T]":
    """Starts a task whose error is not logged if nobody awaits it."""
    task = asyncio.create_task(work)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    return task
