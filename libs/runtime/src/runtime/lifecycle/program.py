"""A service as a program: on uvloop, and with one clear line and exit code 1 when it cannot start."""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

import structlog
import uvloop
from pydantic import ValidationError

from runtime.errors import NotReadyError
from runtime.observability import logging as logs
from runtime.setting_names import as_one_line, dotenv, secret_files
from runtime.settings import LogSettings


def run(service: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Runs a service to its end. It cannot start if it raises NotReadyError, or a setting is invalid."""
    try:
        dotenv()
        secret_files()
        uvloop.run(service())
    except NotReadyError as error:
        problem, again = str(error), error.retryable
    except ValidationError as error:
        told = as_one_line(error)
        if told is None:
            raise
        problem, again = told, False
    else:
        return
    if not structlog.is_configured():
        # It ended before it could say how it logs.
        with suppress(ValidationError, UnicodeDecodeError):  # then it logs as without settings
            logs.configure(service.__module__.partition(".")[0].replace("_", "-"), LogSettings())
    structlog.get_logger(__name__).error("service.not_ready", error=problem, retryable=again)
    sys.exit(1)
