"""Outcomes of conversations, and figures over many.

A digest depends only on a conversation's facts in order, so a report equals a recount.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from statistics import fmean, median

from contracts.events.chat import (
    AssistantMessage,
    OperatorMessage,
    OwnerChanged,
    OwnerKind,
    SystemMessage,
    VisitorMessage,
)
from contracts.report_rpc import By, Figure, ReportFigures, ReportReply, ReportRow
from memory.domain.facts import LogFact
from memory.domain.farewell import is_farewell

RESOLVED_AFTER = timedelta(hours=24)
"""Without a question for this long, an AI answer counts as resolving."""
MAX_ROWS = 1_000
OTHER = "other"
UNKNOWN = "unknown"
_CHANNELS = {"chat": "chat"}
"""The channel of each door for people; all other doors are used by programs."""


@dataclass(frozen=True, slots=True)
class Digest:
    """The outcome of one conversation. Times in seconds; `asked_at`: when its newest visitor message was stored; `day`:
    its first day, in UTC or, in a report, in the company's time zone."""

    day: date
    door: str
    language: str
    answers: int
    handed_over: bool
    by_people: bool
    open: bool
    asked_at: datetime | None
    first_answer: float | None
    to_person: float | None
    gaps: int
    confirmed: bool = False
    """Whether the visitor's newest message comes after an answer and says that this was all."""

    @property
    def channel(self) -> str:
        """chat, api, unknown."""
        return UNKNOWN if self.door == UNKNOWN else _CHANNELS.get(self.door, "api")

    @property
    def answered_by_ai(self) -> bool:
        """Whether the AI has answered, and no person was asked for or wrote."""
        return self.answers > 0 and not self.handed_over and not self.by_people

    def resolved_by_ai(self, now: datetime) -> bool:
        """Whether the AI's answers were enough: nothing is open, and the visitor has said so or has asked nothing for a
        day. A visitor who comes back undoes it."""
        if not self.answered_by_ai or self.open or self.asked_at is None:
            return False
        return self.confirmed or now - self.asked_at >= RESOLVED_AFTER


@dataclass(frozen=True, slots=True)
class ReportExtras:
    """Data about a conversation besides its facts. `score`: its visitor's rating."""

    cost: float = 0.0
    unpriced: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    tools: int = 0
    score: int | None = None


@dataclass(frozen=True, slots=True)
class ReportedConversation:
    """One conversation of a report. `user` is its customer; None for an anonymous visitor."""

    conversation: str
    user: str | None
    digest: Digest
    extras: ReportExtras = field(default_factory=ReportExtras)

    def key(self, by: str) -> str:
        """The key of the row that counts it."""
        digest = self.digest
        keys = {"channel": digest.channel, "language": digest.language, "user": self.user or "-", "door": digest.door}
        return keys.get(by) or digest.day.isoformat()


def digest_of(facts: Sequence[LogFact]) -> Digest | None:
    """Returns the outcome of a conversation with these facts, in order; None if there are none."""
    if not facts:
        return None
    first: VisitorMessage | None = None
    began = asked_at = waits_since = None
    first_answer = to_person = None
    newest = settled = answers = gaps = 0
    handed_over = by_people = confirmed = False
    for fact in facts:
        match fact.data:
            case VisitorMessage() as data:
                first, began = first or data, began or fact.stored_at
                newest, asked_at = fact.seq, fact.stored_at
                confirmed = answers > 0 and is_farewell(data.text)
            case AssistantMessage() as data:
                answers += 1
                gaps += data.grounding is not None and not data.grounding.known
                settled = max(settled, data.basis)
                first_answer = _seconds_since(began, fact) if first_answer is None else first_answer
            case OperatorMessage():
                by_people = True
                settled = max(settled, fact.seq)
                first_answer = _seconds_since(began, fact) if first_answer is None else first_answer
                to_person = _seconds_since(waits_since, fact) if to_person is None else to_person
            case SystemMessage() as data:
                settled = max(settled, data.basis)
            case OwnerChanged() as data:
                is_requested = data.owner.kind is OwnerKind.WAITING or data.opens_at is not None
                handed_over = handed_over or is_requested or data.owner.kind is not OwnerKind.AI
                if is_requested:
                    waits_since = waits_since or fact.stored_at
                elif data.owner.kind is OwnerKind.HUMAN and to_person is None:
                    to_person = _seconds_since(waits_since, fact)
                if data.owner.kind is OwnerKind.AI and data.opens_at is None:
                    waits_since = None
            case _:
                pass
    return Digest(
        day=facts[0].stored_at.astimezone(UTC).date(),
        door=(first.door if first else None) or UNKNOWN,
        language=_language(first.locale if first else None),
        answers=answers,
        handed_over=handed_over,
        by_people=by_people,
        open=newest > settled,
        asked_at=asked_at,
        first_answer=first_answer,
        to_person=to_person,
        gaps=gaps,
        confirmed=confirmed,
    )


def figures(conversations: Sequence[ReportedConversation], now: datetime) -> ReportFigures:
    digests, extras = [extra.digest for extra in conversations], [extra.extras for extra in conversations]
    resolved = sum(digest.resolved_by_ai(now) for digest in digests)
    cost = round(sum(extra.cost for extra in extras), 6)
    scores = [extra.score for extra in extras if extra.score is not None]
    return ReportFigures(
        conversations=len(conversations),
        answered_by_ai=sum(digest.answered_by_ai for digest in digests),
        resolved_by_ai=resolved,
        handed_over=sum(digest.handed_over for digest in digests),
        first_answer_seconds=_median(digest.first_answer for digest in digests),
        to_person_seconds=_median(digest.to_person for digest in digests),
        rated=len(scores),
        csat=round(fmean(scores), 3) if scores else None,
        cost=cost,
        cost_per_conversation=round(cost / len(conversations), 6) if conversations else None,
        cost_per_resolution=round(cost / resolved, 6) if resolved else None,
        unpriced=sum(extra.unpriced for extra in extras),
        prompt_tokens=sum(extra.prompt_tokens for extra in extras),
        completion_tokens=sum(extra.completion_tokens for extra in extras),
        tools=sum(extra.tools for extra in extras),
        gaps=sum(digest.gaps for digest in digests),
    )


def report(
    conversations: Sequence[ReportedConversation], by: By | str, now: datetime, *, complete: bool
) -> ReportReply:
    """Returns the rows and their total."""
    rows: dict[str, list[ReportedConversation]] = {}
    for conversation in conversations:
        rows.setdefault(conversation.key(by), []).append(conversation)
    row_keys = sorted(rows) if by == "day" else sorted(rows, key=lambda key: (-len(rows[key]), key))
    keys, others = row_keys[:MAX_ROWS], [conversation for key in row_keys[MAX_ROWS:] for conversation in rows[key]]
    groups: Mapping[str, Sequence[ReportedConversation]] = {key: rows[key] for key in keys} | (
        {OTHER: others} if others else {}
    )
    return ReportReply(
        rows=[ReportRow(key=key, **figures(group, now).model_dump()) for key, group in groups.items()],
        total=figures(conversations, now),
        complete=complete,
    )


_COUNTED: Mapping[str, Callable[[ReportedConversation, datetime], bool]] = {
    "answeredByAi": lambda conversation, _: conversation.digest.answered_by_ai,
    "resolvedByAi": lambda conversation, now: conversation.digest.resolved_by_ai(now),
    "handedOver": lambda conversation, _: conversation.digest.handed_over,
    "rated": lambda conversation, _: conversation.extras.score is not None,
    "firstAnswerSeconds": lambda conversation, _: conversation.digest.first_answer is not None,
    "toPersonSeconds": lambda conversation, _: conversation.digest.to_person is not None,
    "cost": lambda conversation, _: conversation.extras.cost > 0,
    "tools": lambda conversation, _: conversation.extras.tools > 0,
    "gaps": lambda conversation, _: conversation.digest.gaps > 0,
}
"""Which conversations a figure counts; the figures that are not listed count all."""


def counts_in(conversation: ReportedConversation, figure: Figure | str, now: datetime) -> bool:
    """Whether a figure counts this conversation."""
    counts = _COUNTED.get(figure)
    return counts is None or counts(conversation, now)


def _seconds_since(start: datetime | None, fact: LogFact) -> float | None:
    return max((fact.stored_at - start).total_seconds(), 0.0) if start else None


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(median(known), 3) if known else None


def _language(locale: str | None) -> str:
    return re.split("[-_]", locale, maxsplit=1)[0].lower() if locale else UNKNOWN
