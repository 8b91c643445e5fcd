"""Reads snapshots from the conversation's log in the stream CHAT, and appends answers to it behind a fence."""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import replace

from agent.adapters.followed import FollowedConversations
from agent.domain.shortcuts.shown_actions import ShownAction, actions_in
from agent.domain.text_features import language_last_shown
from agent.errors import UnreachableError
from agent.ports import AppendOutcome, ConversationKey, Ending, Requester, TurnSnapshot
from contracts.channels import ChatKind
from contracts.conversation import Fact, Snapshot
from contracts.events.chat import VisitorMessage
from contracts.ids import answer_id
from contracts.languages import language_of_tags
from runtime.auth.principals import Principal, Verify
from runtime.bus.publisher import event_json
from runtime.conversation import ConversationLog, ConversationWriter
from runtime.errors import FenceRefusedError, InvalidTokenError, NotStoredError, PublishTimeoutError, ReadFailedError
from runtime.recent import Recent

SOURCE = "/nexus/agent"
KEPT_BASES = 10_000
"""Conversations whose last basis is remembered: a guess that saves a read, and is checked."""
_ANONYMOUS = Requester(principal=None, role="visitor", plan="free", user=None, language="es")


class JetStreamChatLog:
    """Reads by direct get, appends with the fence on the conversation's tree."""

    def __init__(
        self, log: ConversationLog, writer: ConversationWriter, verify: Verify, followed: FollowedConversations
    ) -> None:
        self._followed = followed
        self._log = log
        self._writer = writer
        self._verify = verify
        self._bases = Recent[ConversationKey, int](KEPT_BASES)

    async def look(self, key: ConversationKey, at_least: int) -> TurnSnapshot:
        """The snapshot no older than `at_least`, with the time of the first unanswered message."""
        view = await self._followed.snapshot(key, at_least)
        if view is None:
            view = await self._read(key, at_least)
            self._followed.read(key, view)
        self._bases.keep(key, view.basis)
        newest = view.last.get(ChatKind.VISITOR)
        if newest is None:
            return TurnSnapshot(view, _ANONYMOUS)
        requester, message = self._requester(newest, view.last.get(ChatKind.ASSISTANT), key)
        asked = _asked(view.last) if requester.role == "user" and view.unanswered else ()
        return TurnSnapshot(view, requester, message.text, asked, message.wishes, message.door)

    async def behind_copies(self, key: ConversationKey, view: Snapshot, answered: Collection[str]) -> Snapshot:
        """The view in which what waits first is no later copy of these messages, unless nothing else waits. As many
        messages are read as there are answered ones, at most; raises UnreachableError."""
        try:
            first = await self._log.first_visitor(*key, view.unanswered_from - 1)
            for _ in answered:
                if first is None or first.seq >= view.newest_visitor or first.data.get("messageId") not in answered:
                    break
                first = await self._log.first_visitor(*key, first.seq)
        except ReadFailedError as error:
            raise UnreachableError(str(error)) from error
        return view if first is None else replace(view, first_unanswered=first.seq, first_unanswered_at=first.at)

    async def _read(self, key: ConversationKey, at_least: int) -> Snapshot:
        # The first unanswered message is asked for at the same time, by the basis that is known from the last turn.
        guess = self._bases.get(key) or 0
        try:
            asking = asyncio.create_task(self._log.first_visitor(*key, guess))
            try:
                view = await self._log.snapshot(*key, at_least)
            except BaseException:
                asking.cancel()
                raise
            first = await asking
            newest = view.last.get(ChatKind.VISITOR)
            if view.unanswered and newest is not None:
                if first is None or guess > view.basis or first.seq <= view.basis:
                    first = await self._log.first_visitor(*key, view.basis)
                if first is None or first.seq > newest.seq:
                    first = newest
                view = replace(view, first_unanswered_at=first.at, first_unanswered=first.seq)
        except ReadFailedError as error:
            raise UnreachableError(str(error)) from error
        return view

    async def append(self, key: ConversationKey, ending: Ending, fence: int) -> AppendOutcome:
        """The answer or the system message, if nothing newer than `fence` is in the tree."""
        kind = ChatKind.SYSTEM if ending.code else ChatKind.ASSISTANT
        event_id = answer_id(ending.journal.turn_id)
        data = _system(ending, event_id) if ending.code else _answer(ending, event_id)
        about = f"{key.company}/{key.conversation}"
        event = event_json(kind.event_type, SOURCE, data, subject=about, identity=event_id)
        try:
            stored = await self._writer.append_event(*key, kind, event, ending.journal.turn_id, fence=fence)
        except FenceRefusedError as error:
            self._followed.drop(key)
            return AppendOutcome("refused", error.newest)
        except (PublishTimeoutError, NotStoredError):
            self._followed.drop(key)
            return AppendOutcome("unknown")
        self._bases.keep(key, ending.journal.basis)
        return AppendOutcome("stored", stored.seq)

    def _requester(self, newest: Fact, answered: Fact | None, key: ConversationKey) -> tuple[Requester, VisitorMessage]:
        """Returns the author of the newest message and its language. "no" or a number shows no language; then the
        answer before it decides."""
        message = newest.typed
        if not isinstance(message, VisitorMessage):
            raise TypeError("only a visitor's message has somebody who asks")
        proven = self._proven(message.principal, key) if message.principal is not None else None
        before = str(answered.data.get("text", "")) if answered else ""
        named = message.locale or (proven.language if proven else None)
        requester = Requester(
            principal=message.principal if proven else None,
            role=proven.role if proven else "visitor",
            plan=proven.plan if proven else "free",
            user=proven.sub if proven else None,
            language=language_last_shown((message.text, before), language_of_tags(named)),
            page_url=message.page.url if message.page else None,
            page_title=message.page.title if message.page else None,
            funnel_stage=message.funnel_stage,
        )
        return requester, message

    def _proven(self, principal: str, key: ConversationKey) -> Principal | None:
        """The principal's claims if it is valid for this conversation; otherwise the writer is an anonymous visitor."""
        try:
            proven = self._verify(principal)
        except InvalidTokenError:
            return None
        if proven.company != key.company or proven.conversation not in (None, key.conversation):
            return None
        return proven


def _asked(facts: Mapping[ChatKind, Fact]) -> tuple[ShownAction, ...]:
    """The actions that the newest answer asks to confirm; none if somebody else has written since."""
    answer = facts.get(ChatKind.ASSISTANT)
    others = (facts.get(kind) for kind in (ChatKind.OPERATOR, ChatKind.SYSTEM))
    if answer is None or any(other is not None and other.seq > answer.seq for other in others):
        return ()
    return actions_in(answer.data)


def _answer(ending: Ending, message_id: str) -> dict[str, object]:
    journal = ending.journal
    return {
        "messageId": message_id,
        "turnId": journal.turn_id,
        "basis": journal.basis,
        "text": ending.text,
        "citations": [one.to_wire() for one in ending.citations],
        "actions": [action.to_wire() for action in ending.actions],
        "charts": [chart.to_wire() for chart in ending.charts],
        "usage": {"promptTokens": journal.usage.prompt, "completionTokens": journal.usage.completion},
        "model": journal.model,
        "provider": journal.provider,
        "configVersion": ending.config_version,
        **({"grounding": journal.grounding.to_wire()} if journal.grounding else {}),
    }


def _system(ending: Ending, message_id: str) -> dict[str, object]:
    return {
        "messageId": message_id,
        "turnId": ending.journal.turn_id,
        "basis": ending.journal.basis,
        "text": ending.text,
        "code": ending.code,
    }
