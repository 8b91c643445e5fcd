"""Runs a service as a program: on uvloop, with one clear log line and exit code 1 if it cannot start."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Coroutine
from typing import Any

import structlog
import uvloop
from pydantic import ValidationError

from runtime.errors import NotReadyError
from runtime.observability import logging as logs
from runtime.setting_names import as_one_line, dotenv, secret_files
from runtime.settings import LogSettings


def run(service: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Runs a service until it ends, and the process with it. It has failed to start if it raises NotReadyError, or a
    setting is invalid."""
    try:
        dotenv()
        secret_files()
        uvloop.run(_complete(service))
    except NotReadyError as error:
        problem, retryable = str(error), error.retryable
    except ValidationError as error:
        text = as_one_line(error)
        if text is None:
            raise
        problem, retryable = text, False
    else:
        return
    if not structlog.is_configured():
        # It failed before it configured its logs.
        try:
            log_settings = LogSettings()
        except (ValidationError, UnicodeDecodeError):
            log_settings = LogSettings.model_construct()  # the defaults: a supervisor reads the line
        logs.configure(service.__module__.partition(".")[0].replace("_", "-"), log_settings)
    structlog.get_logger(__name__).error("service.not_ready", error=problem, retryable=retryable)
    sys.exit(1)


async def _complete(service: Callable[[], Coroutine[Any, Any, None]]) -> None:
    await service()
    # All work has ended. Python would still wait for threads, which may import a library for many seconds.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
