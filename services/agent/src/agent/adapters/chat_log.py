"""Reads snapshots from the conversation's log in the stream CHAT, and appends answers to it behind a fence."""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import replace

from agent.adapters.followed import FollowedConversations
from agent.domain.shortcuts.shown_actions import ShownAction, actions_in
from agent.domain.text_features import language_last_shown
from agent.domain.turn.journal import usage_on_the_wire
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
MAX_BASES = 10_000
"""Conversations whose last basis is remembered, as a guess that is checked and usually saves a read."""
_ANONYMOUS = Requester(principal=None, role="visitor", plan="free", user=None, language="es")


class JetStreamChatLog:
    """Reads with direct gets; appends with a fence on all subjects of the conversation."""

    def __init__(
        self, log: ConversationLog, writer: ConversationWriter, verify: Verify, followed: FollowedConversations
    ) -> None:
        self._followed = followed
        self._log = log
        self._writer = writer
        self._verify = verify
        self._bases = Recent[ConversationKey, int](MAX_BASES)

    async def look(self, key: ConversationKey, at_least: int) -> TurnSnapshot:
        """Returns the snapshot, at least as new as the sequence `at_least`, with the time of the first unanswered
        message."""
        view = await self._followed.snapshot(key, at_least)
        if view is None:
            view = await self._read(key, at_least)
            self._followed.store_snapshot(key, view)
        self._bases.keep(key, view.basis)
        newest = view.last.get(ChatKind.VISITOR)
        if newest is None:
            return TurnSnapshot(view, _ANONYMOUS)
        requester, message = self._requester(newest, view.last.get(ChatKind.ASSISTANT), key)
        shown_actions = _actions_to_confirm(view.last) if requester.role == "user" and view.unanswered else ()
        return TurnSnapshot(view, requester, message.text, shown_actions, message.wishes, message.door)

    async def behind_copies(self, key: ConversationKey, view: Snapshot, answered: Collection[str]) -> Snapshot:
        """Returns the view without leading unanswered messages that are copies of the messages `answered`, unless all
        unanswered messages are copies. Reads at most as many messages as `answered` has; raises UnreachableError."""
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
        # The first unanswered message is read at the same time, by the basis known from the last turn.
        guessed_basis = self._bases.get(key) or 0
        try:
            first_task = asyncio.create_task(self._log.first_visitor(*key, guessed_basis))
            try:
                view = await self._log.snapshot(*key, at_least)
            except BaseException:
                first_task.cancel()
                raise
            first = await first_task
            newest = view.last.get(ChatKind.VISITOR)
            if view.unanswered and newest is not None:
                if first is None or guessed_basis > view.basis or first.seq <= view.basis:
                    first = await self._log.first_visitor(*key, view.basis)
                if first is None or first.seq > newest.seq:
                    first = newest
                view = replace(view, first_unanswered_at=first.at, first_unanswered=first.seq)
        except ReadFailedError as error:
            raise UnreachableError(str(error)) from error
        return view

    async def append(self, key: ConversationKey, ending: Ending, fence: int) -> AppendOutcome:
        """Appends the answer or the system message, if the conversation holds nothing newer than `fence`."""
        kind = ChatKind.SYSTEM if ending.code else ChatKind.ASSISTANT
        event_id = answer_id(ending.journal.turn_id)
        subject = f"{key.company}/{key.conversation}"
        event = event_json(kind.event_type, SOURCE, _data(ending, event_id), subject=subject, identity=event_id)
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

    def _requester(self, newest: Fact, answer: Fact | None, key: ConversationKey) -> tuple[Requester, VisitorMessage]:
        """Returns the author of the newest message, with the message. A text like "no" or a number shows no language;
        then the previous answer decides."""
        message = newest.typed
        if not isinstance(message, VisitorMessage):
            raise TypeError("only a visitor's message has a requester")
        principal = self._verified(message.principal, key) if message.principal is not None else None
        answer_text = str(answer.data.get("text", "")) if answer else ""
        locale = message.locale or (principal.language if principal else None)
        requester = Requester(
            principal=message.principal if principal else None,
            role=principal.role if principal else "visitor",
            plan=principal.plan if principal else "free",
            user=principal.sub if principal else None,
            language=language_last_shown((message.text, answer_text), language_of_tags(locale)),
            page_url=message.page.url if message.page else None,
            page_title=message.page.title if message.page else None,
            funnel_stage=message.funnel_stage,
        )
        return requester, message

    def _verified(self, principal: str, key: ConversationKey) -> Principal | None:
        """Returns the principal's claims; None (an anonymous visitor) if it is not valid for this conversation."""
        try:
            claims = self._verify(principal)
        except InvalidTokenError:
            return None
        if claims.company != key.company or claims.conversation not in (None, key.conversation):
            return None
        return claims


def _actions_to_confirm(facts: Mapping[ChatKind, Fact]) -> tuple[ShownAction, ...]:
    """Returns the actions that the newest answer asks to confirm; none if somebody else has written since."""
    answer = facts.get(ChatKind.ASSISTANT)
    others = (facts.get(kind) for kind in (ChatKind.OPERATOR, ChatKind.SYSTEM))
    if answer is None or any(other is not None and other.seq > answer.seq for other in others):
        return ()
    return actions_in(answer.data)


def _data(ending: Ending, message_id: str) -> dict[str, object]:
    """Returns the data of the answer or, if there is a code, of the system message."""
    journal = ending.journal
    data: dict[str, object] = {
        "messageId": message_id,
        "turnId": journal.turn_id,
        "basis": journal.basis,
        "text": ending.text,
    }
    if ending.code:
        return {**data, "code": ending.code}
    return {
        **data,
        "citations": [citation.to_wire() for citation in ending.citations],
        "actions": [action.to_wire() for action in ending.actions],
        "charts": [chart.to_wire() for chart in ending.charts],
        "usage": usage_on_the_wire(journal),
        "model": journal.model,
        "provider": journal.provider,
        "configVersion": ending.config_version,
        **({"grounding": journal.grounding.to_wire()} if journal.grounding else {}),
    }
