"""Logs: one event per line, as JSON or readable on a terminal, with secrets masked in both.

The service calls `configure` once. All other code calls `structlog.get_logger()` and logs an event name with fields:
`log.info("turn.answered", turn_id=…)`. Standard library loggers (uvicorn, nats, pymongo) write in the same form.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Mapping, MutableMapping
from typing import Any, TextIO, cast

import orjson
import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from runtime.observability import correlation
from runtime.settings import LogSettings

MASK = "***"
_SECRET_NAME = re.compile(
    r"(^|[_\-. ])(authorization|password|passwd|secret|token|api[_\-]?key|apikey|credentials?|cookie|principal|"
    r"private[_\-]?key|jwt|signature)([_\-. ]|$)",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_JWS = re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*")
_KEY = re.compile(r"\b(sk|gsk|pk|rk|xox[abp])[-_][A-Za-z0-9_-]{12,}")
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}")
_URL_PASSWORD = re.compile(r"(?<=://)([^\s/:@]*):[^\s/@]+@")
# Fields whose name contains one of the words above but whose value is only a count.
_HARMLESS = {"prompt_tokens", "completion_tokens", "tokens", "max_tokens", "token_budget", "token_count"}


def masked(value: object, name: str = "") -> object:
    """Returns `value` with secrets masked, recognised by field name and by the form of the text, to a depth of 6."""
    return _masked(value, name, 6)


def _masked(value: object, name: str, depth: int) -> object:
    if name and value is not None and not isinstance(value, bool) and is_secret_name(name):
        return MASK
    if isinstance(value, str):
        return masked_text(value)
    if depth == 0:
        return value
    if isinstance(value, Mapping):
        mapping = cast("Mapping[Any, object]", value)
        return {key: _masked(item, str(key), depth - 1) for key, item in mapping.items()}
    if isinstance(value, list | tuple):
        return [_masked(item, "", depth - 1) for item in cast("list[object]", value)]
    return value


def is_secret_name(name: str) -> bool:
    """Whether a field with this name (in snake, kebab or camel case) holds a secret."""
    snake = _CAMEL.sub("_", name).lower()
    return snake not in _HARMLESS and _SECRET_NAME.search(snake) is not None


def masked_text(text: str) -> str:
    """Returns `text` with tokens, provider keys, bearer headers and passwords in URLs masked."""
    if "eyJ" in text:
        text = _JWS.sub(MASK, text)
    if "://" in text:
        text = _URL_PASSWORD.sub(rf"\1:{MASK}@", text)
    text = _KEY.sub(MASK, text)
    return _BEARER.sub(rf"\1 {MASK}", text)


def configure(service: str, settings: LogSettings, *, stream: TextIO | None = None) -> None:
    """Sets up structlog and the standard library's logging for this process; a second call replaces the first."""
    out = stream or sys.stdout
    level = logging.getLevelNamesMapping()[settings.level.upper()]
    as_text = settings.format == "text" or (settings.format == "auto" and out.isatty())
    shared: list[Processor] = [
        _correlate,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
        _Stamp(service),
        structlog.processors.StackInfoRenderer(),
    ]
    # Exceptions become text before masking, so that a secret inside a message is masked as well.
    final: list[Processor] = (
        [structlog.processors.format_exc_info, _mask, structlog.dev.ConsoleRenderer(colors=out.isatty())]
        if as_text
        else [structlog.processors.format_exc_info, _mask, _render_json]
    )
    structlog.configure(
        processors=[*shared, *final],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(out),
        # An uncached logger is built again for each line, even one below the level. Tests replace stdout, so not there.
        cache_logger_on_first_use=out is sys.__stdout__,
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, _add_logger_name],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *final],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(max(level, logging.INFO))
    for name in ("uvicorn.access", "pymongo", "httpx", "httpcore", "nats"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
        logger.setLevel(max(level, logging.WARNING))


class _Stamp:
    def __init__(self, service: str) -> None:
        self._service = service

    def __call__(self, _logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        event.setdefault("service", self._service)
        return event


def _correlate(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Adds the current work's ids; a line's own fields take precedence."""
    ids = correlation.current()
    return {**ids.fields(), **event} if ids is not None else event


def _add_logger_name(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    record = event.get("_record")
    if isinstance(record, logging.LogRecord):
        event["logger"] = record.name
    return event


def _mask(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    masked_event: MutableMapping[str, object] = {key: masked(value, key) for key, value in event.items()}
    return masked_event


def _render_json(_logger: WrappedLogger, _method: str, event: EventDict) -> str:
    return orjson.dumps(event, default=repr, option=orjson.OPT_NON_STR_KEYS).decode()
