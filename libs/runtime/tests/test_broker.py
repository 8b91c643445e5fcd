"""What of FastStream's own log is news."""

import logging
import sys
from types import TracebackType

import pytest

from runtime.broker import is_news

Raised = tuple[type[BaseException], BaseException, TracebackType | None]


def record(text: str, error: Exception | None) -> logging.LogRecord:
    raised: Raised | None = (type(error), error, None) if error is not None else None
    return logging.LogRecord("faststream", logging.ERROR, __file__, sys.maxsize, text, (), raised)


@pytest.mark.parametrize(
    ("text", "error", "news"),
    [
        ("Task-179 raised an exception, retrying...", TimeoutError(), False),
        ("Task-179 raised an exception, retrying...", ConnectionError("gone"), True),
        ("a handler failed", TimeoutError(), True),
        ("started", None, True),
    ],
)
def test_a_pull_that_ended_in_silence_is_no_news(text: str, error: Exception | None, news: bool) -> None:
    assert is_news(record(text, error)) is news
