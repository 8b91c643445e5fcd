"""Journals in the stream TURNS: one value per conversation, compare-and-set on its sequence.

What a newer release has written into a turn's journal stays there while this one drives that turn (decision 0041).
"""

from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, cast

import orjson
import structlog

from agent.domain.turn.journal import Journal, TokenCount, TurnCall, TurnStep
from agent.errors import UnreachableError
from agent.ports import Key
from contracts import channels
from contracts.events.chat import Citation
from contracts.ids import uuid7
from contracts.knowledge import Grounding
from runtime.direct import DirectReader
from runtime.errors import FenceRefused, PublishTimeout, ReadFailed, Unavailable
from runtime.publisher import Fence, Publisher
from runtime.unknown_fields import UnknownFields

log = structlog.get_logger(__name__)

SOURCE = "/nexus/agent"
KEPT = 4_096
"""Journals of one's own that are remembered."""


class JournalStore:
    """Reads by direct get, writes with the expected last sequence of the subject."""

    def __init__(
        self, turns: DirectReader, publisher: Publisher, instance: str, ended_by: Callable[[Key], str | None]
    ) -> None:
        """`ended_by`: the turn that ended last in a conversation, while nobody can have driven another one since."""
        self._ended_by = ended_by
        self._kept: OrderedDict[Key, tuple[Journal, int]] = OrderedDict()
        self._turns = turns
        self._publisher = publisher
        self._instance = instance
        self._count = 0
        self._unknown = UnknownFields()

    async def read(self, key: Key) -> tuple[Journal | None, int]:
        """The value and its revision; an unreadable value, or one that no agent wrote, counts as none, so that it is
        replaced.
        Raises UnreachableError.

        One's own last journal is not read again once its turn has ended, until somebody else may have written one.
        """
        kept = self._kept.get(key)
        if kept is not None and self._ended_by(key) == kept[0].turn_id:
            return kept
        try:
            stored = await self._turns.last(channels.journal(*key))
        except ReadFailed as error:
            raise UnreachableError(str(error)) from error
        if stored is None:
            return None, 0
        if not stored.genuine:
            log.warning("journal.not_ours", subject=stored.subject, seq=stored.seq)
            return None, stored.seq
        try:
            data = orjson.loads(stored.event)["data"]
            journal = journal_from_wire(data)
            self._unknown.found(journal.turn_id, stored.seq, data, _plain(journal))
            return journal, stored.seq
        except (KeyError, TypeError, ValueError):
            return None, stored.seq

    async def save(self, key: Key, journal: Journal, revision: int) -> int | None:
        """The new revision; None: refused, or not known to be stored."""
        subject = channels.journal(*key)
        self._count += 1
        written = _plain(journal) if self._unknown.knows(journal.turn_id, revision) else None
        data = journal_to_wire(journal)
        if written is not None:
            data = self._unknown.with_them(journal.turn_id, revision, written)
        event = orjson.dumps(
            {
                "specversion": "1.0",
                "id": uuid7(),
                "source": SOURCE,
                "type": "turn.journal.v1",
                "time": datetime.now(UTC),
                "subject": f"{key.company}/{key.conversation}",
                "datacontenttype": "application/json",
                "data": data,
            },
            option=orjson.OPT_UTC_Z,
        )
        try:
            stored = await self._publisher.append(
                subject,
                event,
                stream="TURNS",
                msg_id=f"journal.{self._instance}.{self._count}",
                fence=Fence(revision, subject),
                deadline=5.0,
            )
        except (FenceRefused, PublishTimeout, Unavailable):
            self._kept.pop(key, None)
            return None
        self._keep(key, journal, stored.seq)
        if written is not None:
            self._unknown.found(journal.turn_id, stored.seq, data, written)
        return stored.seq

    def _keep(self, key: Key, journal: Journal, revision: int) -> None:
        self._kept[key] = journal, revision
        self._kept.move_to_end(key)
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)


def _plain(journal: Journal) -> dict[str, Any]:
    """The data with nothing in it that is JSON already."""
    return orjson.loads(orjson.dumps(journal_to_wire(journal)))


def journal_to_wire(journal: Journal) -> dict[str, Any]:
    """The data of turn.journal.v1 (contracts.events.turn.TurnJournal); JSON texts go in as they are."""
    return {
        "turnId": journal.turn_id,
        "basis": journal.basis,
        "steps": [
            {
                "text": step.text,
                "callIds": [call.call_id for call in step.calls],
                "usage": _usage(step.usage),
                "model": step.model,
                "provider": step.provider,
                "basis": step.basis,
            }
            for step in journal.steps
        ],
        "calls": [_call_to_wire(call) for call in journal.calls],
        "deadline": _time(journal.deadline),
        "startedAt": _time(journal.started_at),
        "cancels": journal.cancels,
        "attempts": journal.attempts,
        "forced": journal.forced,
        "released": journal.released,
        "ownerSince": journal.owner_since,
        "failures": journal.failures,
        "failure": journal.failure,
        "detail": journal.detail,
        "usage": _usage(journal.usage),
        "model": journal.model,
        "provider": journal.provider,
        "answer": journal.answer,
        **({"citations": [one.to_wire() for one in journal.citations]} if journal.citations else {}),
        **({"grounding": journal.grounding.to_wire()} if journal.grounding else {}),
    }


def journal_from_wire(data: dict[str, Any]) -> Journal:
    """The journal of a value's data; raises KeyError, TypeError or ValueError when it is none."""
    calls = {call["callId"]: _call_from_wire(call) for call in cast("list[dict[str, Any]]", data["calls"])}
    basis = int(data["basis"])
    steps = tuple(
        TurnStep(
            basis=int(step.get("basis") or basis),
            text=str(step.get("text", "")),
            calls=tuple(calls[call_id] for call_id in step["callIds"]),
            usage=_tokens(step.get("usage")),
            model=str(step.get("model", "")),
            provider=str(step.get("provider", "")),
        )
        for step in cast("list[dict[str, Any]]", data["steps"])
    )
    return Journal(
        turn_id=str(data["turnId"]),
        basis=basis,
        started_at=datetime.fromisoformat(data["startedAt"]).timestamp(),
        deadline=datetime.fromisoformat(data["deadline"]).timestamp(),
        steps=steps,
        cancels=int(data.get("cancels", 0)),
        released=bool(data.get("released", False)),
        forced=bool(data.get("forced", False)),
        owner_since=int(data.get("ownerSince", 0)),
        attempts=int(data.get("attempts", 0)),
        failures=int(data.get("failures", 0)),
        answer=data.get("answer"),
        failure=data.get("failure"),
        detail=str(data.get("detail", "")),
        usage=_tokens(data.get("usage")),
        model=str(data.get("model", "")),
        provider=str(data.get("provider", "")),
        citations=tuple(Citation.model_validate(one) for one in data.get("citations") or ()),
        grounding=Grounding.model_validate(data["grounding"]) if data.get("grounding") else None,
    )


def _call_to_wire(call: TurnCall) -> dict[str, Any]:
    wire: dict[str, Any] = {"callId": call.call_id, "tool": call.tool, "arguments": orjson.Fragment(call.arguments)}
    if call.result is not None:
        wire["result"] = orjson.Fragment(call.result)
    if call.model_id:
        wire["modelCallId"] = call.model_id
    return wire


def _call_from_wire(wire: dict[str, Any]) -> TurnCall:
    result = wire.get("result")
    return TurnCall(
        call_id=str(wire["callId"]),
        tool=str(wire["tool"]),
        arguments=orjson.dumps(wire["arguments"]).decode(),
        model_id=str(wire.get("modelCallId") or ""),
        result=None if result is None else orjson.dumps(result).decode(),
    )


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def _usage(tokens: TokenCount) -> dict[str, int]:
    return {"promptTokens": tokens.prompt, "completionTokens": tokens.completion}


def _tokens(wire: Any) -> TokenCount:
    return TokenCount(int(wire["promptTokens"]), int(wire["completionTokens"])) if wire else TokenCount()
