"""Logs: one JSON object a line, no secrets, the standard library's loggers in the same form."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from runtime.observability.logging import MASK, configure, is_secret_name, masked
from runtime.settings import LogSettings

TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1MSJ9.c2lnbmF0dXJlLW9mLXRoaXM"


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    out = io.StringIO()
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    configure("agent", LogSettings(format="json", level="info"), stream=out)
    yield out
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def events(out: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_an_event_is_one_json_object_with_time_level_and_service(lines: io.StringIO) -> None:
    structlog.get_logger("x").info("turn.answered", turn_id="t1", tokens=12)
    (event,) = events(lines)
    assert event.pop("time").endswith("Z")
    assert event == {"event": "turn.answered", "level": "info", "service": "agent", "turn_id": "t1", "tokens": 12}


def test_what_is_below_the_level_is_left_out(lines: io.StringIO) -> None:
    structlog.get_logger("x").debug("noise")
    logging.getLogger("nats").info("noise")
    assert not events(lines)


def test_other_libraries_log_in_the_same_form(lines: io.StringIO) -> None:
    logging.getLogger("uvicorn.error").warning("slow %s", "client")
    (event,) = events(lines)
    assert (event["event"], event["logger"], event["service"]) == ("slow client", "uvicorn.error", "agent")


def test_secrets_are_masked_by_name_and_by_look(lines: io.StringIO) -> None:
    log = structlog.get_logger("x")
    log.info(
        "called",
        api_key="sk-1",
        arguments={"password": "p", "nested": [{"accessToken": "t"}], "symbol": "AAPL"},
        url="redis://user:hunter2@host:6379/0",
        header=f"Bearer {TOKEN}",
        text=f"the token {TOKEN} was refused; key sk-proj-abcdefghijklmnop too",
        prompt_tokens=7,
    )
    try:
        raise ValueError(f"bad {TOKEN}")
    except ValueError:
        log.exception("failed")
    text = lines.getvalue()
    for secret in (TOKEN, "hunter2", "sk-1", '"p"', '"t"', "abcdefghijklmnop"):
        assert secret not in text
    event = events(lines)[0]
    assert event["arguments"] == {"password": MASK, "nested": [{"accessToken": MASK}], "symbol": "AAPL"}
    assert event["prompt_tokens"] == 7
    assert event["url"] == f"redis://user:{MASK}@host:6379/0"
    assert "ValueError" in events(lines)[1]["exception"]


@pytest.mark.parametrize("name", ["token", "apiKey", "API_KEY", "x-api-key", "userPassword", "principal", "set-cookie"])
def test_a_secret_is_known_by_its_name(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["prompt_tokens", "promptTokens", "tokens", "maxTokens", "tokenizer", "author"])
def test_what_only_sounds_like_a_secret_is_kept(name: str) -> None:
    assert not is_secret_name(name)


def test_masking_leaves_the_value_itself_alone() -> None:
    value = {"secret": "s", "list": ["a", ("b",)]}
    assert masked(value) == {"secret": MASK, "list": ["a", ["b"]]}
    assert value["secret"] == "s"


def test_the_readable_form_is_no_json() -> None:
    out = io.StringIO()
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        configure("agent", LogSettings(format="text"), stream=out)
        structlog.get_logger("x").info("turn.answered", turn_id="t1")
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
        structlog.reset_defaults()
    assert "turn.answered" in out.getvalue()
    assert "turn_id=t1" in out.getvalue()
    assert not out.getvalue().startswith("{")
