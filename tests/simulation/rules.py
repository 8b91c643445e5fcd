"""The safety rules, each removed from the real code by a small patch: a simulation must then fail."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch
from uuid import uuid4

from nats.aio.msg import Msg
from pymongo import ReplaceOne, UpdateOne

import agent.turns.driver
import memory.adapters.mongo_conversations
import memory.application.projection
import runtime.conversation
from agent.adapters.chat_log import JetStreamChatLog
from agent.adapters.journal_store import JournalStore
from agent.adapters.tool_calls import ToolRequests
from agent.domain.turn import effects
from agent.domain.turn.effects import ReadConversation, Trigger
from agent.domain.turn.machine import DeliveryState
from agent.domain.turn.policy import AnswerPolicy
from agent.ports import AppendOutcome
from agent.turns.engine import TurnEngine
from contracts.channels import ChatKind
from contracts.conversation import snapshot_of
from gateway.adapters.log import NatsLog
from gateway.chat.commands import Commands
from gateway.chat.recovery import Recovery
from gateway.domain.feed import Feed
from gateway.live_feed import NatsLive
from memory.adapters import bus_consumers, mongo_facts, projection_floor
from memory.adapters.chat_log import StreamLog
from memory.adapters.mongo_positions import MongoPositions
from memory.domain.conversation import fold
from runtime.bus.publisher import Appended, Publisher
from runtime.stores.mongo import Document
from runtime.workers.batch_worker import BatchWorker
from runtime.workers.pull_worker import PullWorker
from tests.simulation.plan import plan_of
from tests.simulation.streams import SimulatedStream
from tests.simulation.world import Result, simulate

MOST_SEEDS = 1000
Change = tuple[object, str, Any]


def _without_fence(of: str) -> Change:
    append = Publisher.append

    async def unfenced(self: Publisher, subject: str, event: Any, **options: Any) -> Appended:
        if subject.startswith(of) and not subject.endswith((".owner.changed.v1", ".operator.v1", ".cancelled.v1")):
            options["fence"] = None
        return await append(self, subject, event, **options)

    return Publisher, "append", unfenced


def _taken_for_stored() -> Change:
    async def once(self: Publisher, subject: str, event: Any, **options: Any) -> Appended:
        head = {"Nats-Msg-Id": options["msg_id"]}
        body = event if isinstance(event, bytes) else event.to_json()
        await self._client.publish(subject, body, headers=head)  # pyright: ignore[reportPrivateUsage]
        return Appended(1, duplicate=False)

    return Publisher, "append", once


def _every_end_acknowledged() -> Change:
    handle = TurnEngine.handle

    async def done(self: TurnEngine, *given: Any) -> effects.Ack | effects.Retry:
        end = await handle(self, *given)
        return effects.Ack(end.reason) if isinstance(end, effects.Retry) else end

    return TurnEngine, "handle", done


def _acknowledged_first() -> Change:
    work = PullWorker._work  # pyright: ignore[reportPrivateUsage]

    async def eager(self: PullWorker, message: Msg, read: float) -> None:
        self._client.say(message.reply, b"+ACK")  # pyright: ignore
        await work(self, message, read)

    return PullWorker, "_work", eager


def _any_snapshot() -> Change:
    def blind(
        trigger: Trigger, company: str, conversation: str, *, time_limit: float
    ) -> tuple[DeliveryState, ReadConversation]:
        return DeliveryState(trigger, company, conversation, time_limit, newest_seq=0), ReadConversation(0)

    return agent.turns.driver, "begin", blind


def _refused_is_stored() -> Change:
    append = JetStreamChatLog.append

    async def content(self: JetStreamChatLog, *given: Any) -> AppendOutcome:
        appending = await append(self, *given)
        return AppendOutcome("stored", 1) if appending.outcome == "refused" else appending

    return JetStreamChatLog, "append", content


def _no_journal() -> Change:
    async def nothing(self: JournalStore, key: Any) -> tuple[None, int]:
        del self, key
        return None, 0

    return JournalStore, "read", nothing


def _journal_not_kept() -> Change:
    async def forget(self: JournalStore, key: Any, journal: Any, revision: int) -> int:
        del self, key, journal
        return revision + 1

    return JournalStore, "save", forget


def _another_call_id() -> Change:
    once = ToolRequests._attempt  # pyright: ignore[reportPrivateUsage]

    async def renamed(self: ToolRequests, request: Any, *given: Any) -> str | None:
        return await once(self, request.model_copy(update={"call_id": uuid4().hex}), *given)

    return ToolRequests, "_attempt", renamed


def _another_message_id() -> Change:
    append = NatsLog.append

    async def renamed(self: NatsLog, *given: Any, identity: str) -> Any:
        return await append(self, *given, identity=f"{identity}.{uuid4()}")

    return NatsLog, "append", renamed


def _people_settle_nothing() -> Change:
    def blind(facts: Any, *given: Any) -> Any:
        return snapshot_of([fact for fact in facts if fact.kind is not ChatKind.OPERATOR], *given)

    return runtime.conversation, "snapshot_of", blind


def _always(value: object) -> Callable[..., object]:
    return lambda *_, **__: value


def _ignored() -> Callable[..., Any]:
    async def nothing(*_: Any) -> None:
        return None

    return nothing


async def _certainly(*_: Any) -> bool:
    return True


def _gapless() -> Change:
    begin = Feed.__init__

    def following(self: Feed) -> None:
        begin(self)
        self._buffer = None  # pyright: ignore[reportPrivateUsage]

    return Feed, "__init__", following


def _any_replica() -> Change:
    snapshot = NatsLog.snapshot

    async def blind(self: NatsLog, *given: Any, reached: int = 0) -> Any:
        del reached
        return await snapshot(self, *given)

    return NatsLog, "snapshot", blind


def _stored_after_acknowledging() -> Change:
    project = BatchWorker._handle  # pyright: ignore[reportPrivateUsage]

    async def eager(self: BatchWorker, messages: list[Msg]) -> None:
        for message in messages:
            await message.ack()
        await project(self, messages)

    return BatchWorker, "_handle", eager


def _over_any_version() -> Change:
    def replaced(where: Document, row: Document) -> ReplaceOne[Document]:
        return ReplaceOne({"_id": where["_id"]}, row)

    return memory.adapters.mongo_conversations, "ReplaceOne", replaced


def _newest_place() -> Change:
    upsert = mongo_facts._upsert  # pyright: ignore[reportPrivateUsage]

    def moved(fact: Any) -> UpdateOne:
        made: Any = upsert(fact)
        changes = {"$set": made._doc["$min"], "$setOnInsert": made._doc["$setOnInsert"]}
        return UpdateOne(made._filter, changes, upsert=True)

    return mongo_facts, "_upsert", moved


def _nothing_taken() -> Change:
    def forgetful(state: Any, *given: Any) -> Any:
        return fold(replace(state, taken=frozenset()), *given)

    return memory.application.projection, "fold", forgetful


def _delivered_is_stored() -> list[Change]:
    def delivered(info: dict[str, Any]) -> int:
        return int(info["delivered"]["stream_seq"])

    return [(projection_floor, "floor_of", delivered), (bus_consumers, "floor_of", delivered)]


RULES: dict[str, Callable[[], Change | list[Change]]] = {
    "an answer is fenced": lambda: _without_fence("chat."),
    "what is stored is what was acknowledged": _taken_for_stored,
    "an id is stored once": lambda: (SimulatedStream, "duplicate", _always(None)),
    "what is not settled is given back": _every_end_acknowledged,
    "acknowledged when it is done": _acknowledged_first,
    "a turn goes on from its journal": _no_journal,
    "a call keeps its id": _another_call_id,
    "a person's message settles": _people_settle_nothing,
    "a person vetoes": lambda: (AnswerPolicy, "answers", _always(True)),
    "sockets read the gap after a reconnect": lambda: (Recovery, "resync_all", _ignored()),
    "a fact is told once": lambda: (Feed, "accept_fact", _always(True)),
    "a journal is replaced by compare-and-set": lambda: _without_fence("turn."),
    "a snapshot is no older than its trigger": _any_snapshot,
    "a refused answer is decided again": _refused_is_stored,
    "a step is journalled before the next": _journal_not_kept,
    "what comes while the gap is read waits": lambda: [
        _gapless(),
        (Feed, "pause", _always(None)),
        (Feed, "start_reading", _always(None)),
    ],
    "a socket begins with all that was passed on before": _any_replica,
    "skipped facts are noticed": lambda: (NatsLive, "_check_received", _always(None)),
    "a message that comes again is known": lambda: [_another_message_id(), (Commands, "find_sent", _ignored())],
    "a batch is acknowledged when it is stored": _stored_after_acknowledging,
    "a row is replaced over the version that was read": _over_any_version,
    "the earliest place of a copy counts": _newest_place,
    "a row knows which facts it has taken": _nothing_taken,
    "what is delivered is not stored yet": _delivered_is_stored,
    "a read of the log reaches the sequence that was named": lambda: (
        StreamLog,
        "_is_of_other_conversation",
        _certainly,
    ),
    "a store that was away is doubted": lambda: (MongoPositions, "incarnation", _certainly),
}


@contextmanager
def without(rule: str) -> Generator[None]:
    """Removes the rule while the block runs."""
    changes = RULES[rule]()
    with ExitStack() as stack:
        for target, name, new in changes if isinstance(changes, list) else [changes]:
            stack.enter_context(patch.object(target, name, new))
        yield


def seeds_needed(rule: str, most: int = MOST_SEEDS, first: int = 0) -> tuple[int, Result] | None:
    """Returns how many seeds from `first` on it takes until one fails without the rule, and that result; None: not
    within `most` seeds."""
    with without(rule):
        for seed in range(first, first + most):
            result = simulate(plan_of(seed))
            if result.violations:
                return seed - first + 1, result
    return None


__all__ = ["RULES", "seeds_needed", "without"]
