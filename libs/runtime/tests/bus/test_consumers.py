"""Durable consumers that several releases share."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import orjson
import pytest
from nats.aio.client import Client

from contracts.channels import fact
from runtime.bus.consumers import ConsumerSpec, ensure_consumer
from runtime.bus.publisher import Publisher
from runtime.bus.subjects import combined, covers
from runtime.errors import NotReadyError
from runtime.release import RELEASE, is_of_newer_release
from runtime.testing.servers import eventually

OLDER = ConsumerSpec("FACTS", "shared", ("feedback.given.v1.acme.>",))
NEWER = replace(OLDER, subjects=("feedback.given.v1.>", "usage.recorded.v1.>"))


async def info(client: Client) -> dict[str, Any]:
    return orjson.loads((await client.request("$JS.API.CONSUMER.INFO.FACTS.shared", b"", timeout=10)).data)


async def test_what_a_newer_release_takes_is_not_passed_over_by_an_older_one_beside_it(nats_streams: Client) -> None:
    for spec in (OLDER, NEWER, replace(OLDER, max_ack_pending=7)):
        await ensure_consumer(nats_streams, spec)
    subject = fact("usage.recorded.v1", "acme", None)
    await Publisher(nats_streams).append(subject, b"{}", stream="FACTS", msg_id="1")
    config = (await info(nats_streams))["config"]
    assert (config["max_ack_pending"], config["filter_subjects"]) == (7, [*NEWER.subjects])

    async def waits() -> bool:
        return (await info(nats_streams))["num_pending"] == 1  # the server tells its consumers behind the append

    assert await eventually(waits)


@pytest.mark.parametrize("order", [(OLDER, NEWER), (NEWER, OLDER)])
async def test_two_releases_that_make_it_at_once_make_the_wider_one(
    nats_streams: Client, order: tuple[ConsumerSpec, ...]
) -> None:
    await asyncio.gather(*(ensure_consumer(nats_streams, spec) for spec in order))
    assert sorted((await info(nats_streams))["config"]["filter_subjects"]) == sorted(NEWER.subjects)


async def test_an_older_release_adds_to_a_newer_ones_consumer_what_it_needs_and_changes_nothing_else(
    nats_streams: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = replace(NEWER, ack_wait=5.0, max_ack_pending=9, subjects=("usage.recorded.v1.>",))
    with monkeypatch.context() as tomorrow:
        tomorrow.setattr("runtime.bus.consumers.release", lambda: "999.10")
        await ensure_consumer(nats_streams, moved)
    await ensure_consumer(nats_streams, OLDER)
    config = (await info(nats_streams))["config"]
    assert (config["ack_wait"], config["max_ack_pending"]) == (5_000_000_000, 9)
    assert sorted(config["filter_subjects"]) == [*OLDER.subjects, *moved.subjects]
    assert config["metadata"][RELEASE] == "999.10"
    # The newer one starts again: its own release is no newer than it is.
    monkeypatch.setattr("runtime.release.release", lambda: "999.10")
    await ensure_consumer(nats_streams, replace(moved, max_ack_pending=8))
    assert (await info(nats_streams))["config"]["max_ack_pending"] == 8


@pytest.mark.parametrize(
    ("other", "newer"),
    [("0.1.0", False), ("0.0.9", False), ("0.10", True), ("1.0.0rc1", True), ("", False), ("x", False)],
)
def test_releases_are_compared_by_their_numbers(monkeypatch: pytest.MonkeyPatch, other: str, newer: bool) -> None:
    monkeypatch.setattr("runtime.release.release", lambda: "0.1.0")
    assert is_of_newer_release({RELEASE: other}) is newer


async def test_a_consumer_that_is_as_it_should_be_is_not_written_again(nats_streams: Client) -> None:
    asked: list[str] = []

    async def note(message: Any) -> None:
        asked.append(message.subject)

    await ensure_consumer(nats_streams, NEWER)
    await nats_streams.subscribe("$JS.API.CONSUMER.DURABLE.CREATE.>", cb=note)  # pyright: ignore[reportUnknownMemberType]
    await ensure_consumer(nats_streams, NEWER)
    await nats_streams.flush()
    assert asked == []


async def test_what_the_server_refuses_is_said_in_its_words(nats_streams: Client) -> None:
    with pytest.raises(NotReadyError, match=r"consumer shared of stream FACTS is unavailable: .*overlap"):
        await ensure_consumer(nats_streams, replace(OLDER, subjects=("usage.recorded.v1.>", "usage.recorded.v1.a.b")))
    with pytest.raises(NotReadyError, match=r"stream NONE is unavailable: .*not found"):
        await ensure_consumer(nats_streams, replace(OLDER, stream="NONE"), deadline=0.3)


@pytest.mark.parametrize(
    ("pattern", "subject", "falls"),
    [
        ("a.>", "a.b", True),
        ("a.>", "a", False),
        ("a.*", "a.b", True),
        ("a.*", "a.>", False),
        ("a.*.c", "a.b.c", True),
        ("a.b", "a.*", False),
        ("a.b", "a.b.c", False),
        (">", "a.>", True),
    ],
)
def test_a_pattern_covers_what_falls_under_it_whole(pattern: str, subject: str, falls: bool) -> None:
    assert covers(pattern, subject) is falls


def test_of_two_subjects_the_wider_one_is_wanted_and_their_order_is_no_difference() -> None:
    assert combined(["a.b"], ["a.>"]) == ["a.>"]
    assert combined(["a.>"], ["a.b", "c"]) == ["a.>", "c"]
    assert combined(["b", "a"], ["a", "c", "b"]) == ["a", "c", "b"]
