"""Checks the bus from outside: does it answer, do its streams have quorum, room and their consumers, and does waiting
work proceed?"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.errors import NoRespondersError

from contracts.streams import CHAT, STREAMS, Stream
from nexus_cli.doctor.diagnosis import Diagnosis, fine, wrong
from nexus_cli.stack.services import SERVICES
from runtime.bus.jetstream_api import (
    AccountInfo,
    AnswerT,
    ConsumerInfo,
    ConsumerPage,
    StreamInfo,
    ask,
    error_code,
    error_text,
    metadata_of,
)
from runtime.bus.replies import ReplyInbox
from runtime.bus.storage import fullness_problem, quorum_problem
from runtime.bus.streams import LOST_END, conflicts_with
from runtime.errors import RuntimeLibraryError
from runtime.workers.dead_letters import DeadLetters

ANSWER = 2.0
MOVES = 3.0
"""Seconds within which something of what waits must be taken."""
NEW = 3_600.0
"""Seconds for which a dead letter is news."""
SHOWN = 20
QUORUM = "start the missing nats-servers: with a quorum it goes on by itself"
OFFLINE = 10194
"""The server's error code for a stream that it cannot serve, for a file of it is damaged or of a newer server."""
DAMAGED = (
    "the log of nats-server names the file (`metafile`): stop nats-server, move the file's directory away, start it "
    "again; memory makes anew what is missing"
)
CONSUMERS = {
    ("CHAT", "agent"): "agent",
    ("CHAT", "memory-projection"): "memory",
    ("TOOLS", "tool-executor"): "tool-executor",
}
"""The consumers without which nobody is answered, and whose they are."""
DELAYED = {"agent", "agent-analysis"}
"""Consumers that hand back what is not due yet: a redelivery of theirs means nothing."""


@dataclass(frozen=True)
class _Place:
    """A consumer's position in its stream."""

    waiting: int
    delivered: int
    acknowledged: int
    asking: int
    again: int
    paused: str | None
    """Until when somebody has paused it."""

    @classmethod
    def of(cls, info: ConsumerInfo) -> _Place:
        return cls(
            paused=info["config"].get("pause_until") if info.get("paused") else None,
            waiting=info["num_pending"],
            delivered=info["delivered"]["consumer_seq"],
            acknowledged=info["ack_floor"]["stream_seq"],
            asking=info.get("num_waiting", 0),
            again=info["num_redelivered"],
        )


async def look(client: Client) -> list[Diagnosis]:
    """Everything there is to say of streams, consumers and dead letters."""
    asking = ReplyInbox.of(client)
    try:
        account = await _ask(asking, AccountInfo, "INFO")
    except (TimeoutError, NatsError):
        return [
            wrong(
                "nats",
                "JetStream does not answer: it is off, or a cluster has no quorum",
                "start the missing nats-servers; look at their logs for `JetStream` and `RAFT`",
            )
        ]
    streams, (consumers, letters) = await asyncio.gather(
        asyncio.gather(*(_stream(asking, one) for one in STREAMS)),
        asyncio.gather(_consumers(asking), _dead_letters(client)),
    )
    found = with_one_cause([one for group in streams for one in group])
    found += [*consumers, *letters, *_room(account)]
    return found or [fine("nats", f"{len(STREAMS)} streams with room, nothing stands still")]


def with_one_cause(found: list[Diagnosis]) -> list[Diagnosis]:
    """Returns the findings about the streams, with one finding if all of them lack their quorum."""
    if len(found) == len(STREAMS) and all(one.advice == QUORUM for one in found):
        return [wrong("nats", "no quorum: most of the nats-servers that hold the streams are away", QUORUM)]
    return found


async def _ask(asking: ReplyInbox, of: type[AnswerT], method: str, body: Mapping[str, object] | None = None) -> AnswerT:
    try:
        return await ask(asking, of, method, body, deadline=ANSWER)
    except NoRespondersError as error:
        raise TimeoutError from error


async def _stream(asking: ReplyInbox, stream: Stream) -> list[Diagnosis]:
    name = stream.name
    try:
        info = await _ask(asking, StreamInfo, f"STREAM.INFO.{name}")
    except (TimeoutError, NatsError):
        text = "nobody answers for it: it has no leader, most of its nats-servers are away"
        return [wrong(f"stream {name}", text, QUORUM)]
    if "error" in info:
        if error_code(info) == 10059:
            advice = "memory makes the streams when it starts: is NEXUS_NATS_MANAGE_STREAMS true there? Start it again"
            return [wrong(f"stream {name}", "it is missing", advice)]
        advice = DAMAGED if error_code(info) == OFFLINE else "start the missing nats-servers, or look at their logs"
        return [wrong(f"stream {name}", error_text(info), advice)]
    if changed := conflicts_with(stream, info["config"]):
        advice = "restart memory: it makes the stream right, or says what cannot be changed"
        return [wrong(f"stream {name}", f"somebody has changed it: {'; '.join(changed)}", advice)]
    if lost := metadata_of(info).get(LOST_END):
        kept = "conversations are whole in MongoDB" if stream == CHAT else "MongoDB has what was taken from it before"
        text = f"a file of it was damaged: it lost {lost}; {kept}"
        advice = "look at that disk; who had asked in its last seconds may have to ask again; `nexus backup` now"
        return [Diagnosis(f"stream {name}", "note", text, advice)]
    if problem := quorum_problem(info):
        return [wrong(f"stream {name}", problem, QUORUM)]
    if problem := fullness_problem(info):
        advice = f"raise NEXUS_STREAMS_SIZES={name}=… and restart memory; what is stored stays"
        return [wrong(f"stream {name}", problem, advice)]
    return []


def _room(account: AccountInfo) -> list[Diagnosis]:
    limit, used = account.get("limits", {}).get("max_storage", -1), account.get("storage", 0)
    if 0 < limit <= used * 10 // 9:
        text = f"JetStream holds {used} of {limit} bytes"
        return [wrong("nats", text, "raise max_file_store in nats.conf, or lower NEXUS_STREAMS_SIZES")]
    return []


async def _consumers(asking: ReplyInbox) -> list[Diagnosis]:
    before = await _places(asking)
    missing = [
        wrong(
            f"consumer {durable}",
            f"it is missing on {stream}: {owner} takes nothing",
            f"start {owner} (again): it makes its consumer, and what waits is delivered",
        )
        for (stream, durable), owner in CONSUMERS.items()
        if (places := before.get(stream)) is not None and durable not in places
    ]
    there = [(stream, durable, place) for stream, of in before.items() for durable, place in (of or {}).items()]
    paused = [
        wrong(
            f"consumer {durable}",
            f"somebody has paused it until {place.paused}: nothing of {stream} is delivered",
            f"let it go on, as the operator: nats consumer resume {stream} {durable}",
        )
        for stream, durable, place in there
        if place.paused
    ]
    waiting = [one for one in there if not one[2].paused and (one[2].waiting or one[2].again)]
    if not waiting:
        return [*missing, *paused]
    await asyncio.sleep(MOVES)
    after = await _places(asking)
    still = [
        finding
        for stream, durable, place in waiting
        if (now := (after.get(stream) or {}).get(durable)) is not None
        if (finding := _stands_still(stream, durable, place, now)) is not None
    ]
    return [*missing, *paused, *still]


def _stands_still(stream: str, durable: str, before: _Place, now: _Place) -> Diagnosis | None:
    if now.waiting and now.delivered == before.delivered:
        who = "nobody asks for them" if not now.asking else "none is delivered"
        return wrong(
            f"consumer {durable}",
            f"{now.waiting} messages of {stream} wait, and {who}",
            f"is {_owner(durable)} running, with a slot free? Its log and /healthz say; restart or scale it",
        )
    if durable not in DELAYED and before.again and now.again and now.acknowledged == before.acknowledged:
        first = now.acknowledged + 1
        return wrong(
            f"consumer {durable}",
            f"message {first} of {stream}, or one soon behind it, is delivered again and again: its handler fails",
            f"the log of {_owner(durable)} says why; what it gives up is a dead letter: nexus dlq list",
        )
    return None


def _owner(durable: str) -> str:
    return next((name for name in SERVICES if durable.startswith(name)), durable)


async def _places(asking: ReplyInbox) -> dict[str, dict[str, _Place] | None]:
    """Returns each consumer's position, by stream and name; None if the stream does not answer."""

    async def of(stream: str) -> tuple[str, dict[str, _Place] | None]:
        try:
            answer = await _ask(asking, ConsumerPage, f"CONSUMER.LIST.{stream}", {"offset": 0})
        except (TimeoutError, NatsError):
            return stream, None
        if "error" in answer:
            return stream, None
        return stream, {one["name"]: _Place.of(one) for one in answer.get("consumers") or () if "delivered" in one}

    return dict(await asyncio.gather(*(of(one.name) for one in STREAMS)))


async def _dead_letters(client: Client) -> list[Diagnosis]:
    asking = ReplyInbox.of(client)
    try:
        state = (await _ask(asking, StreamInfo, "STREAM.INFO.DLQ"))["state"]
        letters = await DeadLetters(client).list(after=max(state["last_seq"] - SHOWN, 0), limit=SHOWN)
    except (TimeoutError, NatsError, KeyError, RuntimeLibraryError):
        return []
    now = datetime.now(UTC)
    new = [one for one in letters if (now - one.time).total_seconds() < NEW]
    if not new:
        return []
    last = new[-1]
    count = f"{len(new)} dead letters" if len(new) > 1 else "a dead letter"
    return [
        wrong(
            "dead letters",
            f"{count} within the hour; the newest, of {last.service}: {last.subject}: {last.reason[:200]}",
            f"nexus dlq show {last.seq}; when its cause is mended: nexus dlq replay {last.seq}",
        )
    ]


def silent(found: Sequence[Diagnosis]) -> bool:
    """Whether the bus has not answered at all."""
    return any(one.subject == "nats" and one.state == "wrong" for one in found)
