"""The contracts' streams on a real server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from time import monotonic, time
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg
from pydantic import ValidationError

from contracts.streams import CHAT, STREAMS, TOOLS, TURNS
from runtime.bus import clock, streams
from runtime.bus.connection import connect, subscribe
from runtime.bus.jetstream_api import call
from runtime.bus.publisher import Publisher
from runtime.bus.replies import ReplyInbox
from runtime.bus.streams import await_streams, ensure_streams, stream_config
from runtime.errors import NotReadyError
from runtime.settings import NatsSettings, StreamSettings
from runtime.testing.network import proxy_to
from runtime.testing.servers import NatsServer, eventually


async def config(client: Client, name: str) -> dict[str, Any]:
    answer = orjson.loads((await client.request(f"$JS.API.STREAM.INFO.{name}", b"", timeout=10)).data)
    return answer["config"]


async def test_a_clock_that_is_off_goes_by_the_bus(nats_streams: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "time", SimpleNamespace(time=lambda: time() - 300, monotonic=monotonic))
    bus_clock = clock.JetStreamClock(ReplyInbox.of(nats_streams), TOOLS.name)
    assert bus_clock.now() < time() - 200
    assert abs(await bus_clock.time() - time()) < 10
    assert abs(bus_clock.now() - time()) < 10


async def test_every_stream_is_made_as_the_contracts_say(nats_streams: Client) -> None:
    for stream in STREAMS:
        made = await config(nats_streams, stream.name)
        assert tuple(made["subjects"]) == stream.subjects
        assert made["retention"] == stream.retention
        assert made["discard"] == stream.discard
        assert made["duplicate_window"] == stream.duplicate_window * 1e9
        assert made["allow_direct"] is stream.allow_direct
    chat = await config(nats_streams, "CHAT")
    assert chat["deny_delete"] is True
    # Each of these would let a narrow publisher forge or wipe facts.
    assert not any(chat.get(name) for name in ("allow_msg_schedules", "allow_rollup_hdrs", "allow_msg_ttl"))


async def test_a_second_time_changes_nothing_and_many_at_once_do_no_harm(nats_server: NatsServer) -> None:
    clients = [await connect(NatsSettings(url=nats_server.url), name=f"n{number}") for number in range(4)]
    await asyncio.gather(*(ensure_streams(client) for client in clients))
    await ensure_streams(clients[0])
    for client in clients:
        await client.close()


async def test_a_server_that_does_not_know_a_new_stream_yet_is_asked_again(
    nats_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    smaller = replace(CHAT, max_bytes=1024 * 1024)
    await ensure_streams(nats_client, [smaller])
    asked: list[str] = []

    async def call_lagging_server(inbox: ReplyInbox, form: Any, method: str, *rest: Any) -> Any:
        asked.append(method)
        if method == "STREAM.INFO.CHAT" and asked.count(method) <= 2:
            return {"error": {"code": 404, "err_code": 10059, "description": "stream not found"}}
        return await call(inbox, form, method, *rest)

    monkeypatch.setattr(streams, "call", call_lagging_server)
    await ensure_streams(nats_client, [CHAT])
    assert (await config(nats_client, "CHAT"))["max_bytes"] == CHAT.max_bytes


async def test_a_newer_version_adds_a_subject_and_keeps_what_is_stored(nats_client: Client) -> None:
    await ensure_streams(nats_client, [replace(CHAT, subjects=("chat.a.>",))])
    await Publisher(nats_client).append("chat.a.b.message.visitor.v1", b"1", stream="CHAT", msg_id="1")
    await ensure_streams(nats_client, [CHAT])
    stored = await Publisher(nats_client).append("chat.b.b.message.visitor.v1", b"2", stream="CHAT", msg_id="2")
    assert stored.seq == 2


@pytest.mark.parametrize("newer", ["turn.*.*.later.v1", "turn.*.*.journal.v2"])
async def test_an_older_release_beside_a_newer_one_leaves_its_subjects(nats_client: Client, newer: str) -> None:
    await ensure_streams(nats_client, [replace(TURNS, subjects=(*TURNS.subjects, newer))])
    await ensure_streams(nats_client, [TURNS])
    assert (await config(nats_client, "TURNS"))["subjects"] == [*TURNS.subjects, newer]


async def test_an_older_release_makes_a_newer_ones_stream_hold_no_less(
    nats_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as tomorrow:
        tomorrow.setattr("runtime.bus.streams.release", lambda: "999.0")
        await ensure_streams(nats_client, [replace(TURNS, max_bytes=2 * TURNS.max_bytes, duplicate_window=60.0)])
    before = await config(nats_client, "TURNS")
    await ensure_streams(nats_client, [replace(TURNS, max_age=2 * TURNS.max_age)])
    assert await config(nats_client, "TURNS") == {**before, "max_age": int(2 * TURNS.max_age * 10**9)}


async def test_an_older_release_starts_where_a_newer_one_has_made_a_subject_wider(nats_client: Client) -> None:
    await ensure_streams(nats_client, [replace(TURNS, subjects=("turn.>",))])
    await ensure_streams(nats_client, [TURNS])
    assert (await config(nats_client, "TURNS"))["subjects"] == ["turn.>"]


async def test_a_newer_release_starts_beside_an_older_one_that_makes_the_streams(nats_client: Client) -> None:
    await ensure_streams(nats_client, [replace(TURNS, subjects=TURNS.subjects[:1])])
    await await_streams(nats_client, [TURNS], deadline=0.5)


@pytest.mark.parametrize(
    "odd",
    [
        {"allow_rollup_hdrs": True, "deny_delete": False},
        {"no_ack": True},
        {"subject_transform": {"src": "chat.>", "dest": "chat.x.>"}},
        {"max_consumers": 2, "max_msgs": 5, "max_msgs_per_subject": 1},
    ],
    ids=lambda odd: next(iter(odd)),
)
async def test_what_somebody_else_has_set_and_can_be_changed_is_changed(
    nats_client: Client, odd: dict[str, Any]
) -> None:
    await made_otherwise(nats_client, odd)
    await ensure_streams(nats_client, [CHAT])
    now = await config(nats_client, "CHAT")
    assert {key: now.get(key) or False for key in odd} == {key: stream_config(CHAT).get(key, False) for key in odd}


@pytest.mark.parametrize(
    "odd", [{"storage": "memory"}, {"allow_msg_ttl": True}, {"deny_purge": True}, {"persist_mode": "async"}], ids=str
)
async def test_what_nats_never_changes_stops_the_start_with_its_name(nats_client: Client, odd: dict[str, Any]) -> None:
    await made_otherwise(nats_client, odd)
    with pytest.raises(NotReadyError, match=f"stream CHAT is not what this release needs: {next(iter(odd))} is "):
        await ensure_streams(nats_client, [CHAT])


async def made_otherwise(client: Client, odd: dict[str, Any]) -> None:
    body = orjson.dumps({**stream_config(CHAT), **odd})
    assert "error" not in orjson.loads((await client.request("$JS.API.STREAM.CREATE.CHAT", body, timeout=10)).data)


async def test_a_stream_that_cannot_be_changed_is_named(nats_client: Client) -> None:
    await ensure_streams(nats_client, [replace(TOOLS, retention="limits")])
    with pytest.raises(NotReadyError, match="stream TOOLS"):
        await ensure_streams(nats_client, [TOOLS])


@pytest.mark.own_servers
async def test_a_small_disk_gets_smaller_streams(tmp_path: Path, nats_server: NatsServer) -> None:
    nats_server.stop()
    small = tmp_path / "small.conf"
    small.write_text("jetstream { max_file_store: 300M }\n")
    nats_server.options = ("-c", str(small))
    nats_server.start()
    client = await connect(NatsSettings(url=nats_server.url), name="test")
    await ensure_streams(client)
    total = sum([(await config(client, stream.name))["max_bytes"] for stream in STREAMS])
    assert 0 < total <= 300 * 1024 * 1024
    await ensure_streams(client)
    await client.close()


async def test_stored_facts_are_republished_with_their_sequence(nats_streams: Client) -> None:
    seen: list[tuple[str, str]] = []

    async def take(message: Any) -> None:
        seen.append((message.subject, message.headers["Nats-Sequence"]))

    await subscribe(nats_streams, "live.chat.>", take)
    await nats_streams.flush()
    stored = await Publisher(nats_streams).append("chat.a.b.owner.changed.v1", b"1", stream="CHAT", msg_id="1")
    await eventually(lambda: seen == [("live.chat.a.b.owner.changed.v1", str(stored.seq))])


async def test_who_may_not_make_streams_waits_for_who_may(nats_client: Client) -> None:
    waiting = asyncio.create_task(await_streams(nats_client))
    for stream in STREAMS:
        assert not waiting.done()
        await ensure_streams(nats_client, [stream])
    async with asyncio.timeout(20):
        await waiting


async def test_streams_that_nobody_makes_are_named_in_the_error(nats_client: Client) -> None:
    with pytest.raises(NotReadyError, match=r"no stream CHAT .* NEXUS_NATS_MANAGE_STREAMS"):
        await await_streams(nats_client, [CHAT], deadline=0.3)


async def test_sizes_and_ages_are_settings_and_hold_for_streams_that_are_there(nats_client: Client) -> None:
    await ensure_streams(nats_client)
    wanted = StreamSettings(sizes="CHAT=16GiB, TRACES=1MiB", ages="FACTS=60d,CHAT=14d").applied(STREAMS)
    await ensure_streams(nats_client, wanted)
    assert (await config(nats_client, "CHAT"))["max_bytes"] == 16 * 1024**3
    assert (await config(nats_client, "TRACES"))["max_bytes"] == 1024**2
    assert (await config(nats_client, "FACTS"))["max_age"] == 60 * 86_400 * 10**9
    # The server itself must drop nothing of the log: what is older than the window is trimmed behind its readers.
    assert (await config(nats_client, "CHAT"))["max_age"] == 0
    assert wanted[0].window == 14 * 86_400


@pytest.mark.parametrize(
    "given",
    [{"sizes": "CHATS=1GiB"}, {"sizes": "CHAT"}, {"sizes": "CHAT=few"}, {"sizes": "CHAT=1"}, {"ages": "CHAT=7"}],
)
def test_a_size_that_cannot_be_meant_is_refused(given: dict[str, str]) -> None:
    with pytest.raises(ValidationError, match=r"CHAT|few: write .* such as 16GiB"):
        StreamSettings.model_validate(given)


async def test_a_log_is_never_made_smaller_than_what_it_holds(nats_client: Client) -> None:
    await ensure_streams(nats_client)
    for number in range(20):
        body = b"x" * 200_000
        await Publisher(nats_client).append("chat.a.b.owner.changed.v1", body, stream="CHAT", msg_id=str(number))
    await ensure_streams(nats_client, StreamSettings(sizes="CHAT=1MiB").applied(STREAMS))
    assert (await config(nats_client, "CHAT"))["max_bytes"] == CHAT.max_bytes
    held = orjson.loads((await nats_client.request("$JS.API.STREAM.INFO.CHAT", b"", timeout=10)).data)["state"]
    assert held["messages"] == 20


@pytest.mark.own_servers
async def test_a_stream_that_the_server_has_no_room_to_enlarge_stays_as_it_is(
    tmp_path: Path, nats_server: NatsServer
) -> None:
    nats_server.stop()
    small = tmp_path / "small.conf"
    small.write_text("jetstream { max_file_store: 300M }\n")
    nats_server.options = ("-c", str(small))
    nats_server.start()
    client = await connect(NatsSettings(url=nats_server.url), name="test")
    await ensure_streams(client, [replace(CHAT, max_bytes=200 * 1024**2, subjects=("chat.a.>",))])
    await ensure_streams(client, [CHAT])
    made = await config(client, "CHAT")
    assert (made["max_bytes"], made["subjects"]) == (200 * 1024**2, ["chat.>"])
    await client.close()


@pytest.mark.parametrize("look", [ensure_streams, await_streams])
async def test_all_streams_are_looked_for_in_one_round_trip(
    look: Callable[[Client], Coroutine[Any, Any, None]], nats_server: NatsServer, nats_streams: Client
) -> None:
    asked: list[str] = []

    async def hear(message: Msg) -> None:
        asked.append(message.subject)

    async with proxy_to(nats_server.url) as proxy:
        client = await connect(NatsSettings(url=proxy.url), name="looks")
        await ensure_streams(client, [CHAT])  # its inbox is known to the server from now on
        await subscribe(nats_streams, "$JS.API.STREAM.INFO.*", hear)
        await nats_streams.flush()
        proxy.hold_replies()
        looking = asyncio.create_task(look(client))
        await eventually(lambda: len(set(asked)) == len(STREAMS))  # on a busy machine one may be asked for twice
        proxy.release_replies()
        async with asyncio.timeout(20):
            await looking
        await client.close()
