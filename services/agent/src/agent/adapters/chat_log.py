"""The conversation's log in the stream CHAT: snapshots judged, answers appended behind a fence."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal, cast

import orjson

from agent.domain.offline.reading import language_of
from agent.domain.own.asked import Asked, asked_in
from agent.domain.turn.log import Fact, FactKind, Ownership, view_of
from agent.errors import UnreachableError
from agent.ports import Appending, Asker, Ending, Key, Seen
from contracts import channels
from contracts.channels import ChatKind
from contracts.ids import answer_id
from runtime.conversation_log import ConversationLog, fits
from runtime.direct import DirectReader, StoredFact
from runtime.errors import FenceRefused, InvalidToken, PublishTimeout, ReadFailed, Unavailable
from runtime.principals import Principal, Verify
from runtime.publishing import Fence, Publisher

SOURCE = "/nexus/agent"
KEPT_BASES = 10_000
"""Conversations whose last basis is remembered: a guess that saves a read, and is checked."""
_KINDS = {kind: FactKind(kind.short) for kind in ChatKind}
_ANONYMOUS = Asker(principal=None, role="visitor", plan="free", user=None, language="es")


class JetStreamChatLog:
    """Reads by direct get, appends with the fence on the conversation's tree."""

    def __init__(self, log: ConversationLog, chat: DirectReader, publisher: Publisher, verify: Verify) -> None:
        self._log = log
        self._chat = chat
        self._publisher = publisher
        self._verify = verify
        self._bases: OrderedDict[Key, int] = OrderedDict()

    async def look(self, key: Key, at_least: int) -> Seen:
        """The snapshot no older than `at_least`, with the time of the first unanswered message."""
        # The first unanswered message is asked for at the same time, by the basis that is known from the last turn.
        guess = self._bases.get(key, 0)
        visitors = channels.chat(*key, ChatKind.VISITOR)
        try:
            asking = asyncio.create_task(self._chat.next(visitors, guess + 1))
            try:
                snapshot = await self._log.snapshot(*key, at_least)
            except BaseException:
                asking.cancel()
                raise
            first = await asking
            facts = [fact_of(kind, stored) for kind, stored in snapshot.facts.items()]
            view = view_of(facts, n=snapshot.n)
            newest = snapshot.facts.get(ChatKind.VISITOR)
            if view.unanswered and newest is not None:
                if first is None or guess > view.basis or first.seq <= view.basis:
                    first = await self._chat.next(visitors, view.basis + 1)
                while first is not None and first.seq < newest.seq and not fits(first.subject, first.event):
                    first = await self._chat.next(visitors, first.seq + 1)
                if first is None or first.seq > newest.seq:
                    first = newest
                view = view_of(facts, seconds_of(first.stamp), first.seq, snapshot.n)
        except ReadFailed as error:
            raise UnreachableError(str(error)) from error
        self._remember(key, view.basis)
        if newest is None:
            return Seen(view, _ANONYMOUS, snapshot.filter)
        asker, text = self._asker(newest, key)
        asked = _asked(snapshot.facts) if asker.role == "user" and view.unanswered else ()
        return Seen(view, asker, snapshot.filter, text, asked)

    async def append(self, key: Key, ending: Ending, fence: int, fence_filter: str) -> Appending:
        """The answer or the system message, if nothing newer than `fence` is in the tree."""
        kind = ChatKind.SYSTEM if ending.code else ChatKind.ASSISTANT
        event_id = answer_id(ending.journal.turn_id)
        event = {
            "specversion": "1.0",
            "id": event_id,
            "source": SOURCE,
            "type": kind.event_type,
            "time": datetime.now(UTC),
            "subject": f"{key.company}/{key.conversation}",
            "datacontenttype": "application/json",
            "data": _system(ending, event_id) if ending.code else _answer(ending, event_id),
        }
        try:
            stored = await self._publisher.append(
                channels.chat(*key, kind),
                orjson.dumps(event, option=orjson.OPT_UTC_Z),
                stream="CHAT",
                msg_id=channels.chat_msg_id(*key, kind, ending.journal.turn_id),
                fence=Fence(fence, fence_filter),
            )
        except FenceRefused:
            return Appending("refused")
        except (PublishTimeout, Unavailable):
            return Appending("unknown")
        self._remember(key, ending.journal.basis)
        return Appending("stored", stored.seq)

    def _remember(self, key: Key, basis: int) -> None:
        self._bases[key] = basis
        self._bases.move_to_end(key)
        if len(self._bases) > KEPT_BASES:
            self._bases.popitem(last=False)

    def _asker(self, newest: StoredFact, key: Key) -> tuple[Asker, str]:
        """Who wrote the newest message, and what."""
        data = _data_of(newest)
        page = _object(data.get("page"))
        principal = data.get("principal")
        role, plan = "visitor", "free"
        user: str | None = None
        language = _text(data.get("locale"))
        proven = self._proven(principal, key) if isinstance(principal, str) else None
        if proven is None:
            principal = None
        else:
            role, plan, user = proven.role, proven.plan, proven.sub
            language = language or proven.language
        text = _text(data.get("text")) or ""
        asker = Asker(
            principal=principal,
            role=role,
            plan=plan,
            user=user,
            language=language_of(text, _language(language)),
            page_url=_text(page.get("url")),
            page_title=_text(page.get("title")),
            funnel_stage=_text(data.get("funnelStage")),
        )
        return asker, text

    def _proven(self, principal: str, key: Key) -> Principal | None:
        """Who signed, if it is good for this conversation; otherwise the writer is an anonymous visitor."""
        try:
            proven = self._verify(principal)
        except InvalidToken:
            return None
        if proven.company != key.company or proven.conversation not in (None, key.conversation):
            return None
        return proven


def _asked(facts: Mapping[ChatKind, StoredFact]) -> tuple[Asked, ...]:
    """What the newest answer asks a yes or no for; nothing once somebody else has spoken after it."""
    answer = facts.get(ChatKind.ASSISTANT)
    others = (facts.get(kind) for kind in (ChatKind.OPERATOR, ChatKind.SYSTEM))
    if answer is None or any(other is not None and other.seq > answer.seq for other in others):
        return ()
    return asked_in(_data_of(answer))


def fact_of(kind: ChatKind, stored: StoredFact) -> Fact:
    """What the decisions need of a stored fact; only kinds that settle or veto are opened."""
    return read_fact(kind, stored.seq, seconds_of(stored.stamp), stored.event)


def read_fact(kind: ChatKind, seq: int, at: float, event: bytes) -> Fact:
    """What the decisions need of an event that fits its contract."""
    mine = _KINDS[kind]
    if kind in (ChatKind.VISITOR, ChatKind.OPERATOR):
        return Fact(mine, seq, at)
    try:
        data = orjson.loads(event)["data"]
        if kind is ChatKind.OWNER:
            return Fact(mine, seq, at, owner=Ownership(data["owner"]["kind"]))
        return Fact(mine, seq, at, basis=int(data.get("basis") or 0))
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError):
        return Fact(mine, seq, at)


def seconds_of(stamp: str) -> float:
    """An RFC 3339 time as seconds since the epoch."""
    return datetime.fromisoformat(stamp).timestamp()


def _answer(ending: Ending, message_id: str) -> dict[str, Any]:
    journal = ending.journal
    return {
        "messageId": message_id,
        "turnId": journal.turn_id,
        "basis": journal.basis,
        "text": ending.text,
        "citations": [{"url": url, "title": title} for url, title in ending.citations],
        "actions": [action.to_wire() for action in ending.actions],
        "charts": [chart.to_wire() for chart in ending.charts],
        "usage": {"promptTokens": journal.usage.prompt, "completionTokens": journal.usage.completion},
        "model": journal.model,
        "provider": journal.provider,
        "configVersion": ending.config_version,
    }


def _system(ending: Ending, message_id: str) -> dict[str, Any]:
    return {
        "messageId": message_id,
        "turnId": ending.journal.turn_id,
        "basis": ending.journal.basis,
        "text": ending.text,
        "code": ending.code,
    }


def _data_of(stored: StoredFact) -> Mapping[str, Any]:
    """A message's data; other services write them too, so nothing is taken for granted."""
    try:
        return _object(orjson.loads(stored.event)["data"])
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return {}


def _object(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _language(text: str | None) -> Literal["es", "en"]:
    return "en" if text is not None and text.lower().startswith("en") else "es"
