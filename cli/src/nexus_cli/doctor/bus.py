"""Checks the bus from outside: does it answer, do its streams have a quorum, room and their consumers, and is waiting
work taken?"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.errors import NoRespondersError

from contracts.streams import CHAT, STREAMS, Stream
from nexus_cli.doctor.diagnosis import Diagnosis, fine, note, wrong
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

ANSWER_SECONDS = 2.0
PROGRESS_SECONDS = 3.0
"""Seconds within which at least one waiting message must be taken."""
DOUBTFUL_SILENCE_NS, CERTAIN_SILENCE_NS = 1_500_000_000, 4_000_000_000
"""Nanoseconds without a message from a replica, which sends one every second: after the first the stream is looked at
once more, PROGRESS_SECONDS later, and after the second the replica counts as away."""
DEAD_LETTERS = "dead letters"
RECENT_SECONDS = 3_600.0
"""Age in seconds up to which a dead letter is reported."""
MAX_LETTERS = 20
QUORUM_ADVICE = "start the missing nats-servers: with a quorum it goes on by itself"
OFFLINE_ERROR_CODE = 10194
"""The server's error code for a stream that it cannot serve because one of its files is damaged or from a newer
server."""
DAMAGED_ADVICE = (
    "the log of nats-server names the file (`metafile`): stop nats-server, move the file's directory away, start it "
    "again; memory makes anew what is missing"
)
CONSUMERS = {
    ("CHAT", "agent"): "agent",
    ("CHAT", "memory-projection"): "memory",
    ("TOOLS", "tool-executor"): "tool-executor",
}
"""The consumers without which no visitor gets an answer, and the service that owns each."""
WEBHOOK_CONSUMER = "memory-deliveries"
DELAYING_CONSUMERS = {"agent", "agent-analysis"}
"""Consumers that return messages until they are due, so that redeliveries are normal."""


@dataclass(frozen=True)
class _Position:
    """A consumer's position in its stream."""

    waiting: int
    delivered: int
    acknowledged: int
    open_requests: int
    redelivered: int
    paused: str | None
    """Time until which an operator has paused it; None if it is not paused."""

    @classmethod
    def of(cls, info: ConsumerInfo) -> _Position:
        return cls(
            paused=info["config"].get("pause_until") if info.get("paused") else None,
            waiting=info["num_pending"],
            delivered=info["delivered"]["consumer_seq"],
            acknowledged=info["ack_floor"]["stream_seq"],
            open_requests=info.get("num_waiting", 0),
            redelivered=info["num_redelivered"],
        )


async def look(client: Client) -> list[Diagnosis]:
    """The findings about streams, consumers and dead letters."""
    inbox = ReplyInbox.of(client)
    try:
        account = await _ask(inbox, AccountInfo, "INFO")
    except (TimeoutError, NatsError):
        text = "JetStream does not answer: it is off, or a cluster has no quorum"
        return [wrong("nats", text, "start the missing nats-servers; look at their logs for `JetStream` and `RAFT`")]
    streams, (consumers, letters) = await asyncio.gather(
        asyncio.gather(*(_stream(inbox, stream) for stream in STREAMS)),
        asyncio.gather(_consumers(inbox), _dead_letters(client)),
    )
    findings = with_one_cause([finding for group in streams for finding in group])
    findings += [*consumers, *letters, *_room(account)]
    return findings or [fine("nats", f"{len(STREAMS)} streams with room, nothing stands still")]


def with_one_cause(findings: list[Diagnosis]) -> list[Diagnosis]:
    """The findings about the streams, with a single one for all streams that lack their quorum. The bus does not notice
    it of all at the same moment."""
    without_quorum = [finding for finding in findings if finding.advice == QUORUM_ADVICE]
    if len(without_quorum) < 2:
        return findings
    names = ", ".join(finding.subject.removeprefix("stream ") for finding in without_quorum)
    others = [finding for finding in findings if finding.advice != QUORUM_ADVICE]
    text = f"no quorum: most of the nats-servers that hold {names} are away"
    return [wrong("nats", text, QUORUM_ADVICE), *others]


async def _ask(
    inbox: ReplyInbox, answer_type: type[AnswerT], method: str, body: Mapping[str, object] | None = None
) -> AnswerT:
    try:
        return await ask(inbox, answer_type, method, body, deadline=ANSWER_SECONDS)
    except NoRespondersError as error:
        raise TimeoutError from error


async def _stream(inbox: ReplyInbox, stream: Stream, max_silence_ns: int = DOUBTFUL_SILENCE_NS) -> list[Diagnosis]:
    name = stream.name
    try:
        info = await _ask(inbox, StreamInfo, f"STREAM.INFO.{name}")
    except (TimeoutError, NatsError):
        text = "nobody answers for it: it has no leader, most of its nats-servers are away"
        return [wrong(f"stream {name}", text, QUORUM_ADVICE)]
    if "error" in info:
        if error_code(info) == 10059:
            advice = "memory makes the streams when it starts: is NEXUS_NATS_MANAGE_STREAMS true there? Start it again"
            return [wrong(f"stream {name}", "it is missing", advice)]
        advice = (
            DAMAGED_ADVICE
            if error_code(info) == OFFLINE_ERROR_CODE
            else "start the missing nats-servers, or look at their logs"
        )
        return [wrong(f"stream {name}", error_text(info), advice)]
    if changes := conflicts_with(stream, info["config"]):
        advice = "restart memory: it makes the stream right, or says what cannot be changed"
        return [wrong(f"stream {name}", f"somebody has changed it: {'; '.join(changes)}", advice)]
    if lost_end := metadata_of(info).get(LOST_END):
        consequence = (
            "conversations are whole in MongoDB" if stream == CHAT else "MongoDB has what was taken from it before"
        )
        text = f"a file of it was damaged: it lost {lost_end}; {consequence}"
        advice = "look at that disk; who had asked in its last seconds may have to ask again; `nexus backup` now"
        return [note(f"stream {name}", text, advice)]
    if problem := quorum_problem(info, max_silence_ns):
        if max_silence_ns < CERTAIN_SILENCE_NS:
            await asyncio.sleep(PROGRESS_SECONDS)
            return await _stream(inbox, stream, CERTAIN_SILENCE_NS)
        return [wrong(f"stream {name}", problem, QUORUM_ADVICE)]
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


async def _consumers(inbox: ReplyInbox) -> list[Diagnosis]:
    earlier = await _consumer_positions(inbox)
    missing = [
        wrong(
            f"consumer {durable}",
            f"it is missing on {stream}: {owner} takes nothing",
            f"start {owner} (again): it makes its consumer, and what waits is delivered",
        )
        for (stream, durable), owner in CONSUMERS.items()
        if (places := earlier.get(stream)) is not None and durable not in places
    ]
    positions = [
        (stream, durable, position)
        for stream, by_durable in earlier.items()
        for durable, position in (by_durable or {}).items()
    ]
    paused = [
        wrong(
            f"consumer {durable}",
            f"somebody has paused it until {position.paused}: nothing of {stream} is delivered",
            f"let it go on, as the operator: nats consumer resume {stream} {durable}",
        )
        for stream, durable, position in positions
        if position.paused
    ]
    waiting_positions = [
        entry for entry in positions if not entry[2].paused and (entry[2].waiting or entry[2].redelivered)
    ]
    if not waiting_positions:
        return [*missing, *paused]
    await asyncio.sleep(PROGRESS_SECONDS)
    later = await _consumer_positions(inbox)
    findings = [
        finding
        for stream, durable, position in waiting_positions
        if (newest := (later.get(stream) or {}).get(durable)) is not None
        if (finding := _stands_still(stream, durable, position, newest)) is not None
    ]
    return [*missing, *paused, *findings]


def _stands_still(stream: str, durable: str, earlier: _Position, newest: _Position) -> Diagnosis | None:
    if newest.waiting and newest.delivered == earlier.delivered:
        cause = "nobody asks for them" if not newest.open_requests else "none is delivered"
        return wrong(
            f"consumer {durable}",
            f"{newest.waiting} messages of {stream} wait, and {cause}",
            f"is {_owner(durable)} running, with a slot free? Its log and /healthz say; restart or scale it",
        )
    if (
        durable not in DELAYING_CONSUMERS
        and earlier.redelivered
        and newest.redelivered
        and newest.acknowledged == earlier.acknowledged
    ):
        first_seq = newest.acknowledged + 1
        if durable == WEBHOOK_CONSUMER:
            # What a company's own server refuses is repeated for a day; nothing of ours is wrong.
            return note(
                "webhooks",
                f"a company's endpoint takes nothing: delivery {first_seq}, or one soon behind it, is repeated",
                "`webhook.failed` in memory's log names the company, the host and its answer; tell the company",
            )
        return wrong(
            f"consumer {durable}",
            f"message {first_seq} of {stream}, or one soon behind it, is delivered again and again: its handler fails",
            f"the log of {_owner(durable)} says why; what it gives up is a dead letter: nexus dlq list",
        )
    return None


def _owner(durable: str) -> str:
    return next((name for name in SERVICES if durable.startswith(name)), durable)


async def _consumer_positions(inbox: ReplyInbox) -> dict[str, dict[str, _Position] | None]:
    """Each consumer's position by stream and name; None for a stream that does not answer."""

    async def positions_of(stream: str) -> tuple[str, dict[str, _Position] | None]:
        try:
            answer = await _ask(inbox, ConsumerPage, f"CONSUMER.LIST.{stream}", {"offset": 0})
        except (TimeoutError, NatsError):
            return stream, None
        if "error" in answer:
            return stream, None
        return stream, {
            info["name"]: _Position.of(info) for info in answer.get("consumers") or () if "delivered" in info
        }

    return dict(await asyncio.gather(*(positions_of(stream.name) for stream in STREAMS)))


async def _dead_letters(client: Client) -> list[Diagnosis]:
    inbox = ReplyInbox.of(client)
    try:
        state = (await _ask(inbox, StreamInfo, "STREAM.INFO.DLQ"))["state"]
        letters = await DeadLetters(client).list(after=max(state["last_seq"] - MAX_LETTERS, 0), limit=MAX_LETTERS)
    except (TimeoutError, NatsError, KeyError, RuntimeLibraryError):
        return []
    now = datetime.now(UTC)
    recent = [letter for letter in letters if (now - letter.time).total_seconds() < RECENT_SECONDS]
    if not recent:
        return []
    newest = recent[-1]
    count = f"{len(recent)} dead letters" if len(recent) > 1 else "a dead letter"
    return [
        wrong(
            DEAD_LETTERS,
            f"{count} within the hour; the newest, of {newest.service}: {newest.subject}: {newest.reason[:200]}",
            f"nexus dlq show {newest.seq}; when its cause is mended: nexus dlq replay {newest.seq}",
        )
    ]
